// State and interaction of the page of `softalign serve`.

/** Sentences of the first visit. */
const EXAMPLES = [
  "Is her father buying the new bottles this week?",
  "When the boys arrive, my father will go to Canada.",
  "We are going to go to the bakery to buy our apple.",
  "The policeman was born on the fifth of March.",
  "John is selling some lambs, and you have seven of them.",
  "The story that I am talking about is useful.",
  "This photo? The lawyer will give it to him.",
];

const DEFAULTS = {
  text: "", choice: 0, compare: "", beam: 5, temperature: 0, hard: false, length_penalty: 1, coverage_penalty: 0.2,
  view: "links", pieces: "words", prefix: [], intervention: null, step: null,
};

/**
 * Selections of the user. `choice` is the index of a model and direction, `prefix` the ids of the units that the
 * translation begins with, `intervention` the step and weights of attention moved by hand, `step` the step looked into.
 */
const state = structuredClone(DEFAULTS);

/** Models and directions that can be chosen: `label`, `model`, `tag`, and `isFixed` if attention does not depend on words. */
let choices = [];
/** Last complete answer, its request, and the words before changes by hand. */
let result = null;
let baseline = null;
let other = null;
/** Words shown last, to see which are new. */
let shownWords = [];
let exampleIndex = 0;
let isExample = false;

const client = new StepsClient();
const otherClient = new StepsClient();
const views = {
  links: new AlignmentView(at("drawing"), at("readout")),
  matrix: new AlignmentView(at("matrix-drawing"), html("div")),
  other: new AlignmentView(at("other-drawing"), at("other-readout")),
};

views.links.twin = views.matrix;
views.matrix.twin = views.links;

// ---- Requests

/** Body of a request; `plain` leaves out all changes by hand. */
function requestBody(choice, plain) {
  const { model, tag, isFixed } = choices[choice];
  const body = {
    text: state.text, model, beam: state.beam, length_penalty: state.length_penalty, coverage_penalty: state.coverage_penalty,
    ...(tag ? { tag_source: tag } : {}),
    ...(state.hard && !isFixed ? { hard_attention: true } : {}),
    ...(state.temperature === 0 || isFixed ? {} : { attention_temperature: temperatureOf(state.temperature) }),
  };
  if (plain) return body;
  return {
    ...body, prefix_units: state.prefix,
    ...(state.intervention ? { intervention: { step: state.intervention.step, weights: [state.intervention.weights] } } : {}),
  };
}

const temperatureOf = (position) => Number((10 ** (position / 20)).toPrecision(2));
const isSteered = () => state.prefix.length > 0 || state.intervention !== null;

let drawFrame = 0;

/** Translates the sentence as it stands, shows each step, and then the result. */
async function translate({ arriving = 0 } = {}) {
  if (choices.length === 0) return;
  cancelAnimationFrame(drawFrame);
  saveState();
  if (!state.text.trim()) {
    client.stop();
    otherClient.stop();
    showNothing();
    return;
  }
  compareWithOther();
  const partial = new PartialTranslation();
  const showPartial = () => {
    const matrix = partial.matrix();
    showWords(partial.text, matrix.target, 0);
    views.links.show(matrix, drawOne(matrix, undefined, linksOf(matrix, 0), "links", views.links.box));
  };
  try {
    const found = await client.translate(requestBody(state.choice), at("key").value, (step) => {
      partial.add(step);
      cancelAnimationFrame(drawFrame);
      if (state.pieces === "words" && state.view !== "matrix") drawFrame = requestAnimationFrame(showPartial);
    });
    if (found === null) return;
    cancelAnimationFrame(drawFrame);
    showProblem("");
    showResult(found, arriving);
  } catch (error) {
    showProblem(problemOf(error));
  }
}

/** The message of an error from the server; all others are defects of this page. */
function problemOf(error) {
  if (!(error instanceof ServerError)) throw error;
  return error.message;
}

/** Translates with the other model too. */
async function compareWithOther() {
  if (state.compare === "") {
    otherClient.stop();
    other = null;
    return;
  }
  const choice = Number(state.compare);
  const body = choice === state.choice
    ? { text: state.text, model: choices[choice].model, ...(choices[choice].tag ? { tag_source: choices[choice].tag } : {}) }
    : requestBody(choice, true);
  try {
    const found = await otherClient.translate(body, at("key").value, () => {});
    if (found === null) return;
    other = found;
    if (result) showComparison();
  } catch (error) {
    other = null;
    showProblem(problemOf(error));
  }
}

// ---- The result

function showNothing() {
  [result, other, baseline, shownWords] = [null, null, null, []];
  showProblem("");
  at("output").replaceChildren();
  const note = () => html("p", { class: "empty" }, "Type a sentence above, and its words will be linked here.");
  for (const view of Object.values(views)) view.showNote(note());
  showSteering();
  showInspector();
  showComparison();
}

function showProblem(message) {
  at("problem").textContent = message.charAt(0).toUpperCase() + message.slice(1);
  at("problem").hidden = message === "";
}

/** Shows a complete answer. New words appear one after the other, `arriving` milliseconds apart. */
function showResult(found, arriving) {
  if (isExample && found.alignment.unknown > 0.5) {
    // A model of another language: no example of ours.
    isExample = false;
    at("source").value = state.text = "";
    translate();
    return;
  }
  result = found;
  if (!isSteered()) baseline = { text: state.text, words: found.drawing.target };
  const last = found.trace.steps.length - 1;
  if (state.step !== null) state.step = Math.min(state.step, last);
  showWords(found.alignment.translation, found.drawing.target, arriving);
  drawAll();
  arrive(arriving);
  showSteering();
  showInspector();
  showComparison();
  announce(found.alignment.translation);
  performance.mark("translated");
}

let announcement = 0;

/** Tells screen readers the translation once typing rests. */
function announce(text) {
  clearTimeout(announcement);
  announcement = setTimeout(() => {
    at("announcer").textContent = text;
  }, 800);
}

/** Index of the first word that was not there before. */
let firstNew = 0;

/** Shows the words of the translation as buttons, with the text between them. */
function showWords(text, words, arriving) {
  const focused = document.activeElement?.closest?.("#output button")?.dataset.index;
  const changed = isSteered() && baseline ? changedRange(baseline.words, words) : null;
  const parts = wordParts(text, words, (word, index) => {
    const button = html("button", { type: "button", class: "target", "data-index": index }, visible(word));
    button.classList.toggle("changed", changed !== null && index >= changed.first && index <= changed.last);
    button.classList.toggle("chosen", result !== null && index === wordOfStep());
    return button;
  });
  firstNew = changedRange(shownWords, words)?.first ?? words.length;
  shownWords = words;
  if (arriving > 0) {
    for (const button of parts) {
      const late = Number(button.dataset?.index) - firstNew;
      if (late >= 0) startArriving(button, late * arriving);
    }
  }
  at("output").replaceChildren(...parts);
  if (focused !== undefined) at("output").querySelector(`[data-index="${focused}"]`)?.focus();
}

/** A text cut into its words, each made an element by `element`, and what stands between them. */
function wordParts(text, words, element) {
  const parts = [];
  let end = 0;
  words.forEach((word, index) => {
    const start = text.indexOf(word, end);
    if (start < 0) return;
    if (start > end) parts.push(text.slice(end, start));
    parts.push(element(word, index));
    end = start + word.length;
  });
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

function startArriving(element, delay) {
  element.classList.add("arriving");
  element.style.animationDelay = `${delay}ms`;
}

/** Lets new target words and their links appear in the drawing of links, one after the other. */
function arrive(arriving) {
  const { drawing } = views.links;
  if (arriving === 0 || !drawing || state.view === "matrix" || showsUnits()) return;
  drawing.words.target.forEach((word, index) => {
    if (index >= firstNew) startArriving(word, (index - firstNew) * arriving);
  });
  for (const { t, elements } of drawing.links) {
    if (t < firstNew) continue;
    for (const path of elements[0].querySelectorAll("path")) {
      path.setAttribute("pathLength", 1);
      startArriving(path, (t - firstNew) * arriving + 60);
    }
  }
}

// ---- Drawings

const showsUnits = () => state.pieces === "units";
const matrixOf = ({ drawing }) => (showsUnits() ? drawing.units : drawing);
const unitsOf = ({ drawing }) => (showsUnits()
  ? { source: drawing.units.source_words, target: drawing.units.target_words } : undefined);

function drawOne(matrix, pieces, links, kind, box, colors = palette()) {
  return (kind === "matrix" ? drawMatrix : drawLinks)(matrix, links, pieces, box.clientWidth, colors);
}

/** Minimum attention of a link between subwords, in thousandths. */
const MIN_UNIT_ATTENTION = 400;

/** Links of an answer: those of the program for words, those of attention for subwords. */
function linksOfResult(found) {
  if (showsUnits()) return linksOf(found.drawing.units, MIN_UNIT_ATTENTION);
  const { links, link_scores: scores } = found.alignment;
  return links.map(([s, t], index) => ({ s, t, weight: Math.round(scores[index] * 1000) }));
}

function show(view, found, kind) {
  const matrix = matrixOf(found);
  view.show(matrix, drawOne(matrix, unitsOf(found), linksOfResult(found), kind, view.box));
}

/** Draws the answers in the chosen views. */
function drawAll() {
  at("drag-hint").hidden = state.view === "links";
  at("matrix-figure").hidden = state.view !== "both";
  at("other-figure").hidden = state.compare === "";
  at("drawings").dataset.columns = 1 + (state.view === "both") + (state.compare !== "");
  if (!result) return;
  show(views.links, result, state.view === "matrix" ? "matrix" : "links");
  if (state.view === "both") show(views.matrix, result, "matrix");
  if (state.compare !== "" && other) show(views.other, other, state.view === "matrix" ? "matrix" : "links");
}

function redraw() {
  drawAll();
  showInspector();
  showComparison();
}

/** Marks the first difference between the translations that are compared. */
function showComparison() {
  const isShown = state.compare !== "" && result !== null && other !== null;
  for (const name of ["difference", "drawing-name", "own-output"]) at(name).hidden = !isShown;
  if (!isShown) return;
  const [ours, theirs] = [result.drawing.target, other.drawing.target];
  const range = changedRange(ours, theirs) ?? changedRange(theirs, ours);
  const first = range?.first ?? -1;
  at("drawing-name").textContent = choices[state.choice].label;
  at("other-name").textContent = otherLabel(Number(state.compare));
  for (const [name, found] of [["own-output", result], ["other-output", other]]) {
    at(name).replaceChildren(...wordParts(found.alignment.translation, found.drawing.target, (word, index) =>
      html("span", { class: index === first ? "differs" : "same" }, visible(word))));
  }
  const name = (words) => (first < words.length ? `“${words[first]}”` : "the end");
  at("difference").textContent = first < 0 ? "Both translations are the same."
    : `The first difference is word ${first + 1}: ${visible(name(ours))} and ${visible(name(theirs))}.`;
  show(views.other, other, state.view === "matrix" ? "matrix" : "links");
}

const otherLabel = (choice) => (choice === state.choice ? `${choices[choice].label}, default search` : choices[choice].label);

// ---- Steps

const wordOfUnit = () => result.trace.target.word_of_unit;
const wordOfStep = () => (state.step === null ? null : wordOfUnit()[state.step] ?? null);

/** Looks into a step, or into none. */
function chooseStep(step) {
  if (!result || result.trace.steps.length === 0) return;
  state.step = step === null ? null : Math.min(Math.max(step, 0), result.trace.steps.length - 1);
  for (const button of at("output").querySelectorAll(".target")) {
    button.classList.toggle("chosen", Number(button.dataset.index) === wordOfStep());
  }
  showInspector();
  saveState();
}

/** Looks into the first step of a word or unit in a drawing. */
function chooseWord(side, index) {
  if (side !== "target" || !result) return;
  chooseStep(showsUnits() ? index : wordOfUnit().indexOf(index));
  at("inspector").scrollIntoView({ block: "nearest", behavior: "smooth" });
}

/** Probability in percent, with two digits. */
function probabilityText(probability) {
  const share = 100 * probability;
  if (share < 0.01) return "<0.01 %";
  return `${share >= 10 ? Math.round(share) : share.toFixed(share >= 1 ? 1 : 2)} %`;
}

const nats = (value) => value.toFixed(2).replace("-", "\u2212");

function showInspector() {
  const trace = result?.trace;
  const steps = trace?.steps ?? [];
  at("inspector").hidden = steps.length === 0;
  if (steps.length === 0) return;
  const step = state.step === null ? null : steps[state.step];
  at("step-hint").hidden = step !== null;
  at("step").hidden = step === null;
  at("previous").disabled = step !== null && state.step === 0;
  at("next").disabled = state.step === steps.length - 1;
  at("step-name").textContent = step ? `Step ${state.step + 1}: ${tokenLabel(step)}` : "Steps";
  const measure = (name, value) => html("div", {}, html("dt", {}, name), html("dd", {}, value));
  at("measures").replaceChildren(...(step ? [
    measure("probability", probabilityText(Math.exp(step.log_probability))),
    measure("entropy", `${nats(step.entropy)} nats`), measure("of attention", `${nats(step.attention_entropy)} nats`),
  ] : []));
  showStrip(steps);
  if (step) {
    showCandidates(step);
    showWeights(step);
    showHeads(step);
  }
  showTree();
}

/** All tokens in a row. Forced ones are marked. */
function showStrip(steps) {
  const focused = at("strip").contains(document.activeElement);
  const words = wordOfUnit();
  at("strip").replaceChildren(...steps.map((step, index) => {
    const chosen = index === state.step;
    const token = html("button", {
      type: "button", role: "option", class: "token", "aria-selected": chosen, "data-step": index,
      tabindex: index === (state.step ?? 0) ? 0 : -1,
    }, tokenLabel(step));
    token.classList.toggle("joined", index > 0 && words[index] !== undefined && words[index] === words[index - 1]);
    token.classList.toggle("forced", index < state.prefix.length);
    return token;
  }));
  if (focused) at("strip").querySelector("[tabindex='0']")?.focus();
}

function showCandidates(step) {
  const rows = step.candidates.map((candidate) => {
    const probability = Math.exp(candidate.log_probability);
    const isChosen = candidate.id === step.id;
    const name = html("button", {
      type: "button", class: "candidate", "data-id": candidate.id, ...(isChosen ? { "aria-current": "true" } : {}),
    }, html("bdi", {}, tokenLabel(candidate)));
    return weightRow(name, 1000 * probability, isChosen ? "chosen" : "", probabilityText(probability));
  });
  at("candidates").replaceChildren(...rows);
}

/** A slider for the weight of each source unit. */
function showWeights(step) {
  const focused = document.activeElement?.closest?.("#weights input")?.dataset.index;
  const names = [...result.trace.source.units, END];
  const isMoved = state.intervention?.step === state.step;
  at("free").hidden = !isMoved;
  // While a slider is dragged, it must not be replaced.
  const shown = at("weights").children;
  if (focused !== undefined && shown.length === names.length) {
    step.attention.forEach((weight, index) => setWeightRow(shown[index], weight, String(index) === focused));
    return;
  }
  at("weights").replaceChildren(...names.map((name, index) => {
    const label = index < names.length - 1 ? sourceLabel(name) : "end of sentence";
    const slider = html("input", {
      type: "range", min: 0, max: 1000, step: 1, "data-index": index, "aria-label": `Attention on ${label}`,
    });
    const row = html("li", {}, html("bdi", {}, label), slider, html("span", { class: "weight" }));
    setWeightRow(row, step.attention[index], false);
    return row;
  }));
}

function setWeightRow(row, weight, keepsSlider) {
  const slider = row.querySelector("input");
  if (!keepsSlider) slider.value = Math.round(1000 * weight);
  slider.style.setProperty("--share", `${100 * weight}%`);
  row.querySelector(".weight").textContent = percent(1000 * weight);
}

/** The weights of each head as a row of cells, if there are several. */
function showHeads(step) {
  const { heads } = step;
  if (heads.length < 2) {
    at("heads").replaceChildren();
    return;
  }
  const colors = palette();
  const cell = 18;
  const columns = heads[0].length;
  const names = [...result.trace.source.units, END];
  const rows = heads.flatMap((weights, head) => [
    svg("text", { x: 46, y: head * cell + 13, "text-anchor": "end", "font-size": 11, fill: colors.soft }, `head ${head + 1}`),
    ...weights.map((weight, column) => svg("rect", {
      x: 52 + column * cell, y: head * cell, width: cell - 2, height: cell - 2, rx: 2, fill: colors.accent,
      "fill-opacity": Math.max(weight, 0.04).toFixed(3),
    }, svg("title", {}, `head ${head + 1}, ${sourceLabel(names[column])}: ${percent(1000 * weight)}`))),
  ]);
  const label = heads.map((weights, head) => {
    const largest = weights.indexOf(Math.max(...weights));
    return `head ${head + 1}: ${sourceLabel(names[largest])} ${percent(1000 * weights[largest])}`;
  }).join("; ");
  const size = { width: 52 + columns * cell, height: heads.length * cell };
  at("heads").replaceChildren(svg("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": label, "font-family": NUMBER_FONT,
  }, ...rows));
}

let treeTask = 0;

/** Draws the beam once there is time. */
function showTree() {
  clearTimeout(treeTask);
  treeTask = setTimeout(() => {
    if (result) at("tree").replaceChildren(drawBeam(result.trace.beam, palette()));
  });
}

// ---- Changes by hand

/** Forces the beginning of the translation, and keeps attention moved within it. */
function steer(prefix) {
  state.prefix = prefix;
  if (state.intervention && state.intervention.step >= prefix.length) state.intervention = null;
  translate({ arriving: 45 });
}

/** Continues with another token at the step looked into. */
function chooseCandidate(id) {
  const before = result.trace.steps.slice(0, state.step).map((step) => step.id);
  steer([...before, id]);
}

/** Replaces the attention of a step; the tokens before it stay. */
function intervene(step, weights) {
  state.prefix = result.trace.steps.slice(0, step).map((one) => one.id);
  state.intervention = { step, weights: weights.map((weight) => Number(weight.toFixed(4))) };
  state.step = step;
  translate({ arriving: 45 });
}

/** Moves the attention of a target word or unit from one source word or unit to another. */
function moveAttention(target, from, to) {
  const step = showsUnits() ? target : wordOfUnit().indexOf(target);
  const columns = matrixOf(result).source.length;
  if (step < 0 || from === to || to < 0 || to > columns) return;
  const { units, word_of_unit: words } = result.trace.source;
  const unitsOfColumn = (column) => {
    if (column === columns) return [units.length];
    return showsUnits() ? [column] : words.flatMap((word, unit) => (word === column ? [unit] : []));
  };
  intervene(step, moved(result.trace.steps[step].attention, unitsOfColumn(from), unitsOfColumn(to)));
}

/** Moves the largest weight of a target word one source word on. */
function nudgeAttention(target, by) {
  const matrix = matrixOf(result);
  const row = Array.from({ length: matrix.source.length + 1 }, (_, s) => weightOf(matrix, s, target));
  const from = row.indexOf(Math.max(...row));
  moveAttention(target, from, from + by);
}

function undoAll() {
  [state.prefix, state.intervention] = [[], null];
  translate({ arriving: 30 });
}

/** Lists the changes by hand, each with a button that undoes it. */
function showSteering() {
  at("steering").hidden = !isSteered();
  if (!isSteered() || !result) return;
  const change = (text, undo) => {
    const button = html("button", { type: "button", class: "change", "aria-label": `Undo: ${text}` }, text, html("span", {}, "✕"));
    button.addEventListener("click", undo);
    return button;
  };
  const changes = [];
  const { steps } = result.trace;
  if (state.prefix.length > 0 && !(state.intervention && state.intervention.step === state.prefix.length)) {
    const last = steps[state.prefix.length - 1];
    changes.push(change(`“${last ? tokenLabel(last) : ""}” at step ${state.prefix.length}`, () => steer([])));
  }
  if (state.intervention) {
    const { step } = state.intervention;
    changes.push(change(`attention moved at step ${step + 1}`, () => {
      [state.intervention, state.prefix] = [null, state.prefix.length > step ? state.prefix : []];
      translate({ arriving: 30 });
    }));
  }
  const all = html("button", { type: "button" }, "Undo all");
  all.addEventListener("click", undoAll);
  at("steering").replaceChildren(html("span", {}, "By hand:"), ...changes, ...(changes.length > 1 ? [all] : []));
}

/** Lets a cell of a matrix be dragged to another source word. */
function listenToDrags(view) {
  let drag = null;
  const end = () => {
    drag?.ghost.remove();
    drag = null;
    view.box.classList.remove("dragging");
  };
  view.box.addEventListener("pointerdown", (event) => {
    const cell = view === views.other ? null : view.cellAt(event);
    if (!cell || event.button !== 0) return;
    const size = view.drawing.cellBox(cell);
    const ghost = svg("rect", { ...size, rx: 3, fill: palette().accent, "fill-opacity": 0.55, "pointer-events": "none" });
    view.drawing.element.append(ghost);
    drag = { ...cell, ghost, to: cell.s };
    view.box.setPointerCapture(event.pointerId);
    view.box.classList.add("dragging");
    event.preventDefault();
  });
  view.box.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { left } = view.drawing.element.getBoundingClientRect();
    const cell = view.drawing.cellAt(event.clientX - left, view.drawing.cellBox({ s: 0, t: drag.t }).y);
    if (cell) drag.to = cell.s;
    drag.ghost.setAttribute("x", view.drawing.cellBox({ s: drag.to, t: drag.t }).x);
  });
  view.box.addEventListener("pointerup", () => {
    if (!drag) return;
    const { s, t, to } = drag;
    end();
    if (s === to) chooseWord("target", t);
    else moveAttention(t, s, to);
  });
  view.box.addEventListener("pointercancel", end);
}

// ---- The state in the address

let saving = 0;

/** Keys of the address for all that differs from the defaults. */
function stateText() {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) {
    const current = state[name];
    if (JSON.stringify(current) === JSON.stringify(value)) continue;
    if (name === "choice") fields.set("model", choices[current]?.label ?? "");
    else if (name === "prefix") fields.set(name, current.join(","));
    else if (name === "intervention") fields.set("attention", `${current.step}:${current.weights.join(",")}`);
    else fields.set(name, String(current));
  }
  return fields.toString();
}

function saveState() {
  clearTimeout(saving);
  saving = setTimeout(() => {
    history.replaceState(null, "", isExample ? location.pathname : `#${stateText()}`);
  }, 250);
}

/** Reads the state from the address; values that make no sense are left out. */
function loadState() {
  const fields = new URLSearchParams(location.hash.slice(1));
  Object.assign(state, structuredClone(DEFAULTS));
  for (const [name, text] of fields) {
    const number = Number(text);
    if (name === "text") state.text = text;
    else if (name === "model") state.choice = Math.max(choices.findIndex(({ label }) => label === text), 0);
    else if (name === "compare" && choices[number] && text !== "") state.compare = text;
    else if (name === "view" && ["links", "matrix", "both"].includes(text)) state.view = text;
    else if (name === "pieces" && ["words", "units"].includes(text)) state.pieces = text;
    else if (name === "hard") state.hard = text === "true";
    else if (name === "prefix") state.prefix = text.split(",").map(Number).filter((id) => Number.isInteger(id) && id >= 0);
    else if (name === "attention") state.intervention = interventionOf(text);
    else if (name === "step" && Number.isInteger(number) && number >= 0) state.step = number;
    else if (at(name)?.type === "range" && Number.isFinite(number)) state[name] = clamped(at(name), number);
  }
  showControls();
}

const clamped = (slider, value) => Math.min(Math.max(value, Number(slider.min)), Number(slider.max));

function interventionOf(text) {
  const [step, weights = ""] = text.split(":");
  const numbers = weights.split(",").map(Number);
  const isValid = /^\d+$/.test(step) && numbers.every((weight) => weight >= 0 && Number.isFinite(weight));
  return isValid ? { step: Number(step), weights: numbers } : null;
}

/** Sets all controls to the state. */
function showControls() {
  if (at("source").value !== state.text) at("source").value = state.text;
  fitSource();
  at("model").value = state.choice;
  showCompareOptions();
  at("hard").checked = state.hard;
  for (const name of ["view", "pieces"]) document.querySelector(`input[name=${name}][value=${state[name]}]`).checked = true;
  for (const name of SLIDERS) {
    at(name).value = state[name];
    const value = name === "temperature" ? (state.temperature === 0 ? "as trained" : temperatureOf(state.temperature)) : state[name];
    at(`${name}-value`).textContent = value;
  }
  const isDefault = SLIDERS.every((name) => state[name] === DEFAULTS[name]) && !state.hard;
  at("reset").disabled = isDefault;
  at("temperature").disabled = at("hard").disabled = choices[state.choice]?.isFixed ?? false;
  at("summary").textContent = choices[state.choice]?.about ?? "";
}

const SLIDERS = ["beam", "temperature", "length_penalty", "coverage_penalty"];

function showCompareOptions() {
  const options = choices.map((_, index) => html("option", { value: index }, otherLabel(index)));
  at("compare").replaceChildren(html("option", { value: "" }, "nothing"), ...options);
  at("compare").value = state.compare;
}

/** Grows the field with its text. */
function fitSource() {
  for (const field of [at("source"), at("corrected")]) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  }
}

// ---- Keeping

/** Writes a text to the clipboard, also where the page has no right to the modern way. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = html("textarea", { class: "unseen" }, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

let keptTask = 0;

function showKept(text) {
  at("kept").textContent = text;
  clearTimeout(keptTask);
  keptTask = setTimeout(() => {
    at("kept").textContent = "";
  }, 4000);
}

async function keep(text, name) {
  if (!result) return;
  await copy(text());
  showKept(`${name} copied`);
}

function saveDrawing() {
  if (!result) return;
  const kind = state.view === "matrix" ? "matrix" : "links";
  const { element } = drawOne(matrixOf(result), unitsOf(result), linksOfResult(result), kind, views.links.box, LIGHT);
  download(savedDrawing(element), "image/svg+xml", `softalign-${kind}.svg`);
}

function openCorrection(isOpen) {
  at("correction").hidden = !isOpen;
  at("output").hidden = at("keeping").hidden = isOpen;
  if (!isOpen) return;
  at("corrected").value = result?.alignment.translation ?? "";
  fitSource();
  at("corrected").focus();
}

async function addPair(event) {
  event.preventDefault();
  try {
    await post("/v1/pairs", { source: state.text.trim(), target: at("corrected").value.trim() }, { key: at("key").value });
    openCorrection(false);
    showProblem("");
    showKept("Pair added");
  } catch (error) {
    showProblem(`${problemOf(error)} The pair is not saved.`);
  }
}

// ---- Events

/** Changes the sentence; what was chosen for the former one no longer fits. */
function setText(text, arriving) {
  Object.assign(state, { text, prefix: [], intervention: null, step: null });
  translate({ arriving });
}

function nextExample() {
  const text = EXAMPLES[exampleIndex % EXAMPLES.length];
  exampleIndex += 1;
  at("source").value = text;
  fitSource();
  shownWords = [];
  isExample = true;
  setText(text, 90);
}

/** Changes an option of the drawings. */
function choose(name, value) {
  state[name] = value;
  document.querySelector(`input[name=${name}][value=${value}]`).checked = true;
  redraw();
  saveState();
}

const nextOf = (list, value) => list[(list.indexOf(value) + 1) % list.length];

const KEYS = {
  "/": () => at("source").focus(),
  v: () => choose("view", nextOf(["links", "matrix", "both"], state.view)),
  w: () => choose("pieces", nextOf(["words", "units"], state.pieces)),
  "[": () => chooseStep((state.step ?? 1) - 1), "]": () => chooseStep((state.step ?? -1) + 1),
  u: () => isSteered() && undoAll(),
  s: saveDrawing, t: changeTheme, "?": () => at("help").showModal(),
};

function changeTheme() {
  applyTheme(THEMES[document.documentElement.dataset.theme], at("theme"));
  redraw();
}

function onKey(event) {
  const isBracket = event.key === "[" || event.key === "]";
  if ((!isBracket && (event.ctrlKey || event.metaKey || event.altKey)) || at("help").open) return;
  if (event.key === "Escape") {
    if (!at("correction").hidden) openCorrection(false);
    document.activeElement.blur();
    for (const view of Object.values(views)) view.restore();
    return;
  }
  const word = event.target.closest?.(".word");
  const isArrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
  if (word && word.dataset.side === "target" && !views.other.box.contains(word)) {
    if (event.key === "Enter") chooseWord("target", Number(word.dataset.index));
    if (event.shiftKey && isArrow) {
      event.preventDefault();
      nudgeAttention(Number(word.dataset.index), event.key === "ArrowRight" ? 1 : -1);
      return;
    }
  }
  if (Object.values(views).some((view) => view.onArrow(event))) return;
  if (isArrow && moveAlong(event)) return;
  if (isForField(event) || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

/** Moves along the tokens and the nodes of the beam by arrow keys. */
function moveAlong(event) {
  const forwards = event.key === "ArrowRight" ? 1 : -1;
  if (event.target.closest("#strip")) {
    chooseStep((state.step ?? -1) + forwards);
    at("strip").querySelector("[tabindex='0']")?.focus();
    return true;
  }
  const node = event.target.closest("#tree .node");
  if (!node) return false;
  const nodes = [...at("tree").querySelectorAll(".node")];
  const next = nodes[nodes.indexOf(node) + forwards];
  next?.focus();
  event.preventDefault();
  return true;
}

function listenToResult() {
  const output = at("output");
  const indexAt = (event) => event.target.closest?.("[data-index]")?.dataset.index;
  const highlight = (event) => {
    const index = indexAt(event);
    const view = views.links;
    if (index === undefined || showsUnits()) return;
    view.highlight("target", Number(index));
  };
  output.addEventListener("pointerover", highlight);
  output.addEventListener("focusin", highlight);
  output.addEventListener("pointerleave", () => views.links.restore());
  output.addEventListener("focusout", () => views.links.restore());
  output.addEventListener("click", (event) => {
    const index = indexAt(event);
    if (index !== undefined) {
      chooseStep(wordOfUnit().indexOf(Number(index)));
      at("inspector").scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
  });
  for (const view of [views.links, views.matrix]) {
    view.box.addEventListener("click", (event) => {
      const word = event.target.closest?.(".word");
      if (word) chooseWord(word.dataset.side, Number(word.dataset.index));
    });
    listenToDrags(view);
  }
  views.links.onResize(redraw);
}

function listenToSteps() {
  at("strip").addEventListener("click", (event) => {
    const step = event.target.closest("[data-step]")?.dataset.step;
    if (step !== undefined) chooseStep(Number(step));
  });
  at("previous").addEventListener("click", () => chooseStep((state.step ?? 1) - 1));
  at("next").addEventListener("click", () => chooseStep((state.step ?? -1) + 1));
  at("candidates").addEventListener("click", (event) => {
    const id = event.target.closest("[data-id]")?.dataset.id;
    if (id !== undefined) chooseCandidate(Number(id));
  });
  at("weights").addEventListener("input", (event) => {
    const { attention } = result.trace.steps[state.step];
    intervene(state.step, withShare(attention, Number(event.target.dataset.index), Number(event.target.value) / 1000));
  });
  at("free").addEventListener("click", () => {
    state.intervention = null;
    translate({ arriving: 30 });
  });
  const continueFrom = (event) => {
    const node = event.target.closest(".node")?.dataset.node;
    if (node !== undefined && result) steer(pathOf(result.trace.beam, Number(node)));
  };
  at("tree").addEventListener("click", continueFrom);
  at("tree").addEventListener("keydown", (event) => {
    if (event.key === "Enter") continueFrom(event);
  });
}

/** Translates what is typed: at once, or after a short rest while keys follow each other fast. */
function listenToTyping() {
  const REST = 30;
  let [task, last] = [0, 0];
  at("source").addEventListener("input", () => {
    performance.mark("typed");
    isExample = false;
    fitSource();
    clearTimeout(task);
    const now = performance.now();
    task = setTimeout(() => setText(at("source").value, 12), now - last < 2 * REST ? REST : 0);
    last = now;
  });
}

function listenToControls() {
  at("example").addEventListener("click", nextExample);
  at("model").addEventListener("change", () => {
    Object.assign(state, { choice: Number(at("model").value), prefix: [], intervention: null, step: null });
    showControls();
    translate({ arriving: 30 });
  });
  at("compare").addEventListener("change", () => {
    state.compare = at("compare").value;
    other = null;
    drawAll();
    showComparison();
    translate();
  });
  at("key").addEventListener("change", () => translate());
  for (const name of SLIDERS) {
    at(name).addEventListener("input", () => {
      state[name] = Number(at(name).value);
      showControls();
      translate({ arriving: 12 });
    });
  }
  at("hard").addEventListener("change", () => {
    state.hard = at("hard").checked;
    showControls();
    translate({ arriving: 12 });
  });
  at("reset").addEventListener("click", () => {
    for (const name of [...SLIDERS, "hard"]) state[name] = DEFAULTS[name];
    showControls();
    translate({ arriving: 12 });
  });
  for (const button of document.querySelectorAll(".choice input")) {
    button.addEventListener("change", () => choose(button.name, button.value));
  }
}

function listenToKeeping() {
  at("copy-text").addEventListener("click", () => keep(() => result.alignment.translation, "Text"));
  at("copy-json").addEventListener("click", () => keep(() => JSON.stringify(result.alignment, null, 2), "JSON"));
  at("copy-link").addEventListener("click", () => keep(() => `${location.origin}${location.pathname}#${stateText()}`, "Link"));
  at("save-svg").addEventListener("click", saveDrawing);
  at("correct").addEventListener("click", () => openCorrection(true));
  at("cancel").addEventListener("click", () => openCorrection(false));
  at("correction").addEventListener("submit", addPair);
  at("theme").addEventListener("click", changeTheme);
  at("help-open").addEventListener("click", () => at("help").showModal());
  darkSystem.addEventListener("change", redraw);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    isExample = false;
    loadState();
    translate({ arriving: 30 });
  });
}

/** Models and directions of the server, as choices. */
function choicesOf({ models }) {
  return models.flatMap(({ name, attention, fixed, heads, pairs }) => {
    const directions = pairs.length > 1 ? pairs : [{}];
    return directions.map(({ source, target, tag_source: tag }) => ({
      model: name, tag, isFixed: fixed,
      about: `${name} · ${attention}${heads > 1 && !attention.includes("heads") ? `, ${heads} heads` : ""}`,
      label: source && directions.length > 1 ? `${name}: ${source} → ${target}` : name,
    }));
  });
}

async function begin() {
  applyTheme("auto", at("theme"));
  listenToTyping();
  listenToControls();
  listenToResult();
  listenToSteps();
  listenToKeeping();
  showNothing();
  try {
    const answer = await fetch("/v1/models");
    const server = await answer.json();
    choices = choicesOf(server);
    at("correct").hidden = !server.collects;
    at("key-field").hidden = !server.needs_key;
    at("source").maxLength = server.char_limit;
  } catch {
    showProblem(NO_ANSWER);
    return;
  }
  at("model").replaceChildren(...choices.map(({ label }, index) => html("option", { value: index }, label)));
  at("model-field").hidden = choices.length < 2;
  loadState();
  if (location.hash.length > 1) translate({ arriving: 45 });
  else nextExample();
  at("source").focus({ preventScroll: true });
}

begin();
