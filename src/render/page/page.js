// State and interaction of the page.

/** Selections of the user. `place` is the index of the shown pair, or null. */
const state = {
  place: null, view: "links", pieces: "words", gold: true, threshold: DATA.threshold || 1,
  moment: STEPS.length - 1, query: "", sort: "file", descending: false, ranges: {},
};

const hasGold = DATA.pairs.some((pair) => pair.gold);
const hasTokens = DATA.pairs.some((pair) => pair.tokens);
const measures = MEASURES.filter((measure) => hasGold || !measure.gold);
const list = new PairList(at("list"), rowNote, showPair);
const view = new AlignmentView(at("drawing"), at("readout"));
/** The places of the listed pairs, in order. */
let chosen = [];

// ---- The shown pair

const shownPair = () => (state.place === null ? null : DATA.pairs[state.place]);
const showsTokens = () => state.pieces === "tokens" && Boolean(shownPair()?.tokens);
const showsGold = () => state.gold && Boolean(shownPair()?.gold) && !showsTokens();

/** Matrix of the shown pair, by words or by subwords. */
const shownMatrix = () => (showsTokens() ? shownPair().tokens : shownPair());

/** Draws the shown pair in the selected view. */
function drawPair(available, colors) {
  const [pair, matrix] = [shownPair(), shownMatrix()];
  const pieces = showsTokens() ? { source: matrix.source_words, target: matrix.target_words } : undefined;
  const links = linksOf(matrix, state.threshold);
  const compared = showsGold() ? linksAgainstGold(matrix, links, pair.gold) : links;
  return (state.view === "links" ? drawLinks : drawMatrix)(matrix, compared, pieces, available, colors);
}

/** Redraws. */
function draw() {
  if (shownPair()) view.show(shownMatrix(), drawPair(view.box.clientWidth, palette()));
  else view.showNote(emptyNote());
  showMeasures();
  showLegend();
  at("gold").disabled = showsTokens();
  at("gold-switch").title = showsTokens() ? "Gold alignments are between words" : "";
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
  at("legend").replaceChildren(...(view.drawing && showsGold() ? Object.keys(STATES).map(sample) : []));
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

function changeTheme() {
  applyTheme(THEMES[document.documentElement.dataset.theme], at("theme"));
  draw();
}

/** Saves the shown drawing on light paper, without highlights. */
function save() {
  if (!shownPair()) return;
  const { element } = drawPair(view.box.clientWidth, LIGHT);
  download(savedDrawing(element), "image/svg+xml", `softalign-${numberOf(shownPair())}-${state.view}.svg`);
}

// ---- Keys and events

const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  Home: () => step(-Infinity), End: () => step(Infinity),
  "/": () => at("search").focus(),
  v: () => choose("view", state.view === "links" ? "matrix" : "links"),
  w: () => hasTokens && choose("pieces", state.pieces === "words" ? "tokens" : "words"),
  g: () => hasGold && choose("gold", !state.gold),
  "[": () => setThreshold(state.threshold - 50), "]": () => setThreshold(state.threshold + 50),
  ",": () => setMoment(state.moment - 1), ".": () => setMoment(state.moment + 1), p: play,
  s: save, t: changeTheme, "?": () => at("help").showModal(),
};

function onKey(event) {
  // Many keyboards need a modifier for brackets.
  const isBracket = event.key === "[" || event.key === "]";
  if ((!isBracket && (event.ctrlKey || event.metaKey || event.altKey)) || at("help").open) return;
  if (event.key === "Escape") {
    document.activeElement.blur();
    view.restore();
    return;
  }
  if (view.onArrow(event)) return;
  if (isForField(event) || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
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
  at("theme").addEventListener("click", changeTheme);
  at("help-open").addEventListener("click", () => at("help").showModal());
  darkSystem.addEventListener("change", draw);
  document.addEventListener("keydown", onKey);
}

function begin() {
  document.title = `${visible(DATA.title)} – softalign`;
  at("title").textContent = visible(DATA.title);
  const option = (value, label) => html("option", { value }, label);
  at("sort").append(option("file", "Order of the file"), ...measures.map(({ name, label }) => option(name, label)));
  at("pieces").hidden = !hasTokens;
  at("gold-switch").hidden = !hasGold;
  at("moments").hidden = at("moment-keys").hidden = STEPS.length === 0;
  at("moment").max = STEPS.length - 1;
  selectMoment(state.moment);
  addRangeFields();
  showDirection();
  listenToControls();
  document.body.classList.toggle("bare", DATA.pairs.length === 0);
  choosePairs();
  view.onResize(draw);
  applyTheme("auto", at("theme"));
  setThreshold(state.threshold);
  setMoment(state.moment);
  showSummary();
}

begin();
