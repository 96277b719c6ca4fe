// State and interaction of the page.

const at = (id) => document.getElementById(id);

/** Selections of the user. `place` is the index of the shown pair, or null. */
const state = {
  place: null, view: "links", pieces: "words", gold: true, threshold: DATA.threshold || 1,
  moment: STEPS.length - 1, query: "", sort: "file", descending: false, ranges: {}, theme: "auto",
};

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const hasGold = DATA.pairs.some((pair) => pair.gold);
const hasUnits = DATA.pairs.some((pair) => pair.units);
const measures = MEASURES.filter((measure) => hasGold || !measure.gold);
const list = new PairList(at("list"), rowNote, showPair);
/** Result of `drawLinks` or `drawMatrix` for the shown pair. */
let drawing = null;
/** Highlighted word, as `side index`, or empty. */
let lit = "";
/** The places of the listed pairs, in order. */
let chosen = [];

// ---- The shown pair

const shownPair = () => (state.place === null ? null : DATA.pairs[state.place]);
const showsUnits = () => state.pieces === "units" && Boolean(shownPair()?.units);
const showsGold = () => state.gold && Boolean(shownPair()?.gold) && !showsUnits();

function palette() {
  const dark = state.theme === "auto" ? darkSystem.matches : state.theme === "dark";
  return dark ? DARK : LIGHT;
}

/** Draws the shown pair in the selected view. */
function drawPair(available, colors) {
  const pair = shownPair();
  const matrix = showsUnits() ? pair.units : pair;
  const pieces = showsUnits() ? { source: matrix.source_words, target: matrix.target_words } : undefined;
  const links = linksOf(matrix, state.threshold);
  const compared = showsGold() ? linksAgainstGold(matrix, links, pair.gold) : links;
  return (state.view === "links" ? drawLinks : drawMatrix)(matrix, compared, pieces, available, colors);
}

/** Redraws; a focused word keeps the focus. */
function draw() {
  const box = at("drawing");
  const focused = box.contains(document.activeElement) ? document.activeElement.closest(".word")?.dataset : null;
  drawing = shownPair() && drawPair(box.clientWidth, palette());
  lit = "";
  box.replaceChildren(drawing ? drawing.element : emptyNote());
  showMeasures();
  showLegend();
  at("gold").disabled = showsUnits();
  at("gold-switch").title = showsUnits() ? "Gold alignments are between words" : "";
  restoreHighlight();
  if (focused && drawing) {
    const words = drawing.words[focused.side];
    focusWord(words[Math.min(Number(focused.index), words.length - 1)] ?? drawing.words.source[0]);
  }
}

/** Placeholder of a drawing. */
function emptyNote() {
  if (DATA.pairs.length === 0) return html("p", { class: "empty" }, "There are no sentence pairs in this file.");
  const clear = html("button", { type: "button" }, "Clear search and filters");
  clear.addEventListener("click", clearChoice);
  return html("div", { class: "empty" }, html("p", {}, "No pair matches the search and the filters."), clear);
}

/** Goes to a pair by its place in the file. */
function showPair(place) {
  state.place = place;
  const pair = shownPair();
  at("sentence").textContent = pair ? `Sentence ${numberOf(pair)}` : "";
  showTranslation();
  list.choose(place);
  draw();
}

/** Shows the translation; on a training page, the model's own beside the forced reference. */
function showTranslation() {
  const pair = shownPair();
  const said = pair?.said === undefined ? null : `The model says: ${pair.said || "nothing"}`;
  at("translation").textContent = visible(pair?.translation ?? said ?? "");
  at("translation").hidden = !pair?.translation && said === null;
}

/** Moves by `count` pairs in the list. */
function step(count) {
  if (chosen.length === 0) return;
  const position = chosen.indexOf(state.place) + count;
  showPair(chosen[Math.min(Math.max(position, 0), chosen.length - 1)]);
}

function measureText(measure, place) {
  const value = measured(measure, place, state.threshold);
  return value === null ? "–" : value.toFixed(measure.digits).replace("-", "\u2212");
}

function showMeasures() {
  const items = shownPair() ? measures.map((measure) => html("div", { title: `${measure.label}. ${measure.about}` },
    html("dt", {}, measure.short), html("dd", {}, measureText(measure, state.place)))) : [];
  at("measures").replaceChildren(...items);
}

function showLegend() {
  const colors = palette();
  const sample = (key) => {
    const { color, dashes } = STATES[key];
    const line = { d: "M2 9H34", stroke: colors[color], "stroke-width": 2.4, "stroke-dasharray": dashes };
    const parts = [svg("path", line), stateMark(key, 18, 9, colors)];
    const picture = svg("svg", { width: 36, height: 18, "aria-hidden": "true" }, ...parts);
    return html("span", {}, picture, STATES[key].label);
  };
  at("legend").replaceChildren(...(drawing && showsGold() ? Object.keys(STATES).map(sample) : []));
}

// ---- A word and its partners

/** Highlights a word, its partners and their links, and shows the weights. */
function highlight(side, index) {
  if (!drawing || lit === `${side} ${index}`) return;
  clearHighlight();
  lit = `${side} ${index}`;
  const matrix = showsUnits() ? shownPair().units : shownPair();
  const other = side === "source" ? "target" : "source";
  drawing.element.classList.add("lit-up");
  // Numbers replace marks.
  drawing.element.classList.toggle("numbered", Boolean(drawing.numbered));
  drawing.words[side][index]?.classList.add("lit", "chosen");
  for (const { index: partner, weight } of partnersOf(matrix, side, index)) {
    const word = partner === null ? null : drawing.words[other][partner];
    if (!word) continue;
    word.classList.add("lit");
    const share = word.querySelector(".share");
    if (share) share.textContent = percent(weight);
  }
  for (const link of drawing.links) {
    const own = (side === "source" ? link.s : link.t) === index;
    for (const element of link.elements) element.classList.toggle("lit", own);
  }
  drawing.preview(side, index);
  showPartners(matrix, side, index);
}

function clearHighlight() {
  lit = "";
  if (!drawing) return;
  drawing.element.classList.remove("lit-up");
  for (const element of drawing.element.querySelectorAll(".lit")) element.classList.remove("lit", "chosen");
  for (const share of drawing.element.querySelectorAll(".share")) share.textContent = "";
  drawing.forget();
}

/** Keeps the focused word highlighted when the pointer leaves. */
function restoreHighlight() {
  const focused = document.activeElement?.closest?.(".word");
  if (focused && at("drawing").contains(focused)) {
    highlight(focused.dataset.side, Number(focused.dataset.index));
    return;
  }
  clearHighlight();
  const hint = "Point at a word, or focus it with Tab, to see its attention weights.";
  const words = drawing ? drawing.words.source.length + drawing.words.target.length : 0;
  at("readout").replaceChildren(...(words > 0 ? [html("p", { class: "hint" }, hint)] : []));
}

/** Lists a word's partners below the drawing. */
function showPartners(matrix, side, index) {
  const other = side === "source" ? "target" : "source";
  const rows = partnersOf(matrix, side, index).slice(0, 8).map(({ index: partner, weight }) => {
    const word = partner === null ? html("i", {}, "end of sentence") : html("bdi", {}, visible(matrix[other][partner]));
    const bar = html("span", { class: "bar" }, html("span"));
    bar.firstChild.style.width = `${weight / 10}%`;
    const [s, t] = side === "source" ? [index, partner] : [partner, index];
    const state = drawing.links.find((link) => link.s === s && link.t === t)?.state;
    return html("li", {}, word, bar, html("span", { class: "weight" }, percent(weight)),
      html("span", { class: "state" }, state ? STATES[state].label : ""));
  });
  const verb = side === "source" ? "is attended to by" : "attends to";
  at("readout").replaceChildren(
    html("p", {}, html("bdi", {}, visible(matrix[side][index])), ` ${verb}`, rows.length ? "" : " nothing"),
    html("ul", {}, ...rows));
}

/** Focuses a word; Tab returns to it. */
function focusWord(word) {
  if (!word) return;
  for (const sibling of drawing.words[word.dataset.side]) sibling.setAttribute("tabindex", sibling === word ? 0 : -1);
  word.focus();
}

/** The word of an event in the drawing, or the target word of a cell. */
function wordAt(event) {
  const word = event.target.closest?.(".word");
  if (word) return { side: word.dataset.side, index: Number(word.dataset.index) };
  if (!drawing?.cellAt) return null;
  const { left, top } = drawing.element.getBoundingClientRect();
  const cell = drawing.cellAt(event.clientX - left, event.clientY - top);
  return cell && { side: "target", index: cell.t };
}

// ---- The list

/** Sort measure at the end of a row. */
function rowNote(place) {
  const measure = measures.find(({ name }) => name === state.sort);
  return measure ? measureText(measure, place) : "";
}

/** Updates the list by search, filters and order. */
function choosePairs() {
  chosen = chosenPairs(state);
  const all = DATA.pairs.length;
  const count = chosen.length === all ? `${all.toLocaleString("en")} pairs` :
    `${chosen.length.toLocaleString("en")} of ${all.toLocaleString("en")} pairs`;
  at("count").textContent = all === 1 ? "1 pair" : count;
  list.show(chosen);
  showPair(chosen.includes(state.place) ? state.place : chosen[0] ?? null);
}

/** Updates the list after a change of order, and shows its first pair. */
function orderPairs() {
  choosePairs();
  showPair(chosen[0] ?? null);
}

function clearChoice() {
  state.query = "";
  state.ranges = {};
  at("search").value = "";
  for (const field of at("ranges").querySelectorAll("input")) field.value = "";
  choosePairs();
}

/** Two fields for each measure: from and to. */
function addRangeFields() {
  const field = (measure, bound) => {
    const input = html("input", {
      type: "number", step: "any", placeholder: bound, "aria-label": `${measure.label} ${bound}`,
      "data-measure": measure.name, "data-bound": bound,
    });
    input.addEventListener("input", () => {
      const value = input.value === "" ? null : Number(input.value);
      state.ranges[measure.name] = { ...state.ranges[measure.name], [bound]: value };
      choosePairs();
    });
    return input;
  };
  at("ranges").append(...measures.map((measure) =>
    html("div", {}, html("span", {}, measure.label), field(measure, "from"), field(measure, "to"))));
}

function showDirection() {
  at("direction").textContent = state.descending ? "↓" : "↑";
  at("direction").setAttribute("aria-label", state.descending ? "Order: descending" : "Order: ascending");
}

// ---- Controls above the drawing

/** Sets an option and its control, and redraws. */
function choose(name, value) {
  state[name] = value;
  const button = document.querySelector(`input[name="${name}"][value="${value}"]`);
  if (button) button.checked = true;
  if (name === "gold") at("gold").checked = value;
  draw();
}

let pending = 0;

/** Redraws at a new threshold; what depends on all pairs is updated once the slider rests. */
function setThreshold(value) {
  state.threshold = Math.round(Math.min(Math.max(value, 1), 1000));
  at("threshold").value = state.threshold;
  at("threshold-value").textContent = `${state.threshold / 10} %`;
  draw();
  clearTimeout(pending);
  pending = setTimeout(() => {
    showSummary();
    const depends = measures.some(({ name, byLinks }) => byLinks && (name === state.sort || state.ranges[name]));
    if (depends) choosePairs();
  }, 150);
}

/** Shows attention after another training step. */
function setMoment(moment) {
  if (STEPS.length === 0) return;
  state.moment = Math.min(Math.max(moment, 0), STEPS.length - 1);
  selectMoment(state.moment);
  at("moment").value = state.moment;
  at("moment-value").textContent = STEPS[state.moment].toLocaleString("en");
  showTranslation();
  // Sort and filter measures may have changed with attention.
  if (state.sort === "file" && Object.keys(state.ranges).length === 0) draw();
  else choosePairs();
}

let playing = 0;

/** Plays from the shown step to the last, or from the first if the last is shown, five steps per second. */
function play() {
  if (STEPS.length === 0) return;
  const stop = () => {
    clearInterval(playing);
    playing = 0;
    at("play").textContent = "▶";
    at("play").setAttribute("aria-label", "Play");
  };
  if (playing) {
    stop();
    return;
  }
  at("play").textContent = "❚❚";
  at("play").setAttribute("aria-label", "Pause");
  if (state.moment === STEPS.length - 1) setMoment(0);
  playing = setInterval(() => {
    setMoment(state.moment + 1);
    if (state.moment === STEPS.length - 1) stop();
  }, 200);
}

function showSummary() {
  const rate = hasGold ? corpusErrorRate(DATA.pairs, state.threshold) : null;
  const pairs = DATA.pairs.length === 1 ? "1 sentence pair" : `${DATA.pairs.length.toLocaleString("en")} sentence pairs`;
  at("summary").textContent = rate === null ? pairs : `${pairs} · alignment error rate ${rate.toFixed(3)}`;
}

const THEMES = { auto: "dark", dark: "light", light: "auto" };

function setTheme(theme) {
  state.theme = theme;
  document.documentElement.dataset.theme = theme;
  at("theme").textContent = { auto: "◐ Auto", dark: "● Dark", light: "○ Light" }[theme];
  at("theme").setAttribute("aria-label", `Colors: ${theme === "auto" ? "system default" : theme}`);
  draw();
}

/** Saves the shown drawing on light paper, without highlights. */
function save() {
  if (!shownPair()) return;
  const { element } = drawPair(at("drawing").clientWidth, LIGHT);
  for (const word of element.querySelectorAll(".word")) word.removeAttribute("tabindex");
  const text = new XMLSerializer().serializeToString(element);
  const link = html("a", {
    href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })),
    download: `softalign-${numberOf(shownPair())}-${state.view}.svg`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// ---- Keys and events

const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  Home: () => step(-Infinity), End: () => step(Infinity),
  "/": () => at("search").focus(),
  v: () => choose("view", state.view === "links" ? "matrix" : "links"),
  w: () => hasUnits && choose("pieces", state.pieces === "words" ? "units" : "words"),
  g: () => hasGold && choose("gold", !state.gold),
  "[": () => setThreshold(state.threshold - 50), "]": () => setThreshold(state.threshold + 50),
  ",": () => setMoment(state.moment - 1), ".": () => setMoment(state.moment + 1), p: play,
  s: save, t: () => setTheme(THEMES[state.theme]), "?": () => at("help").showModal(),
};

/** True if a key belongs to the focused field: all keys in text fields, arrows in sliders. */
function isForField({ target, key }) {
  if (target.matches("input[type=range]")) return key.length > 1;
  return target.matches("select, input:not([type=radio], [type=checkbox])");
}

function onKey(event) {
  // Many keyboards need a modifier for brackets.
  const isBracket = event.key === "[" || event.key === "]";
  if ((!isBracket && (event.ctrlKey || event.metaKey || event.altKey)) || at("help").open) return;
  if (event.key === "Escape") {
    document.activeElement.blur();
    restoreHighlight();
    return;
  }
  const word = event.target.closest?.(".word");
  if (word && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    const forwards = (event.key === "ArrowRight") !== drawing.rightToLeft[word.dataset.side];
    focusWord(drawing.words[word.dataset.side][Number(word.dataset.index) + (forwards ? 1 : -1)]);
    event.preventDefault();
    return;
  }
  if (isForField(event) || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function listenToDrawing() {
  const box = at("drawing");
  box.addEventListener("pointermove", (event) => {
    const word = wordAt(event);
    if (word) highlight(word.side, word.index);
    else restoreHighlight();
  });
  box.addEventListener("pointerleave", restoreHighlight);
  box.addEventListener("focusin", restoreHighlight);
  box.addEventListener("focusout", () => requestAnimationFrame(restoreHighlight));
  let width = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth !== width) draw();
    width = box.clientWidth;
  }).observe(box);
}

function listenToControls() {
  at("search").addEventListener("input", (event) => {
    state.query = event.target.value;
    choosePairs();
  });
  at("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") at("list").focus();
  });
  at("sort").addEventListener("change", (event) => {
    state.sort = event.target.value;
    orderPairs();
  });
  at("direction").addEventListener("click", () => {
    state.descending = !state.descending;
    showDirection();
    orderPairs();
  });
  at("clear").addEventListener("click", clearChoice);
  at("previous").addEventListener("click", () => step(-1));
  at("next").addEventListener("click", () => step(1));
  for (const button of document.querySelectorAll(".choice input")) {
    button.addEventListener("change", () => choose(button.name, button.value));
  }
  at("gold").addEventListener("change", (event) => choose("gold", event.target.checked));
  at("threshold").addEventListener("input", (event) => setThreshold(Number(event.target.value)));
  at("moment").addEventListener("input", (event) => setMoment(Number(event.target.value)));
  at("play").addEventListener("click", play);
  at("download").addEventListener("click", save);
  at("theme").addEventListener("click", () => setTheme(THEMES[state.theme]));
  at("help-open").addEventListener("click", () => at("help").showModal());
  darkSystem.addEventListener("change", draw);
  document.addEventListener("keydown", onKey);
}

function begin() {
  document.title = `${visible(DATA.title)} – softalign`;
  at("title").textContent = visible(DATA.title);
  const option = (value, label) => html("option", { value }, label);
  at("sort").append(option("file", "Order of the file"), ...measures.map(({ name, label }) => option(name, label)));
  at("pieces").hidden = !hasUnits;
  at("gold-switch").hidden = !hasGold;
  at("moments").hidden = at("moment-keys").hidden = STEPS.length === 0;
  at("moment").max = STEPS.length - 1;
  selectMoment(state.moment);
  addRangeFields();
  showDirection();
  listenToControls();
  document.body.classList.toggle("bare", DATA.pairs.length === 0);
  choosePairs();
  listenToDrawing();
  setTheme("auto");
  setThreshold(state.threshold);
  setMoment(state.moment);
  showSummary();
}

begin();
