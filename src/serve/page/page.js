// Events of the page, and its start.

import { byId, html, isForField } from "../../render/page/dom.js";
import { applyNextTheme, applyTheme, onSystemColors } from "../../render/page/theme.js";
import { loadState, saveState, stateText } from "./address.js";
import { pathOf } from "./beam.js";
import { showComparison } from "./comparison.js";
import { fitFields, showControls } from "./controls.js";
import { drawAll, views } from "./drawings.js";
import { engine, problemOf, useEngine } from "./engine.js";
import { nextExample } from "./examples.js";
import { addPair, copyResult, openCorrection, saveResult } from "./export.js";
import { chooseDrawn, chooseStep, chooseWord, moveStep } from "./inspector.js";
import { showProblem } from "./messages.js";
import { redraw, showNothing } from "./result.js";
import { DEFAULTS, isSteered, showsTokens, SLIDERS, state } from "./state.js";
import {
  chooseCandidate, listenToDrags, nudgeAttention, setAttention, steer, undo, undoIntervention,
} from "./steering.js";
import { translate } from "./translate.js";

/** Changes the sentence; what was chosen for the former one no longer fits. */
function setText(text, arriving) {
  Object.assign(state, { text, prefix: [], intervention: null, step: null });
  translate({ arriving });
}

function showExample() {
  const text = nextExample();
  byId("source").value = text;
  fitFields();
  Object.assign(state, { shownWords: [], isExample: true });
  setText(text, 90);
}

/** Changes an option of the drawings. */
function choose(name, value) {
  state[name] = value;
  document.querySelector(`input[name=${name}][value=${value}]`).checked = true;
  redraw();
  saveState();
}

/** Changes an option of the drawings to the value after the present one. */
function chooseNext(name, values) {
  choose(name, values[(values.indexOf(state[name]) + 1) % values.length]);
}

function changeTheme() {
  applyNextTheme(byId("theme"));
  redraw();
}

// ---- Keys

const KEYS = {
  "/": () => byId("source").focus(),
  v: () => chooseNext("view", ["links", "matrix", "both"]),
  w: () => chooseNext("granularity", ["words", "tokens"]),
  "[": () => moveStep(-1), "]": () => moveStep(1),
  u: () => isSteered() && undo("all"),
  s: saveResult, t: changeTheme, "?": () => byId("help").showModal(),
};

/** 1 or −1 for an arrow to the right or left, else 0. */
function arrowOf({ key }) {
  return Number(key === "ArrowRight") - Number(key === "ArrowLeft");
}

function onKey(event) {
  const isBracket = event.key === "[" || event.key === "]";
  if ((!isBracket && (event.ctrlKey || event.metaKey || event.altKey)) || byId("help").open) return;
  if (event.key === "Escape") {
    onEscape();
    return;
  }
  if (onTargetWord(event)) return;
  if (Object.values(views).some((view) => view.onArrow(event))) return;
  if (arrowOf(event) !== 0 && moveAlong(event)) return;
  if (isForField(event) || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function onEscape() {
  if (!byId("correction").hidden) openCorrection(false);
  document.activeElement.blur();
  for (const view of Object.values(views)) view.restore();
}

/** Looks into the focused target word on Enter; true if its attention was moved by Shift and an arrow. */
function onTargetWord(event) {
  const word = event.target.closest?.(".word");
  if (word?.dataset.side !== "target" || views.comparison.box.contains(word)) return false;
  const index = Number(word.dataset.index);
  if (event.key === "Enter") chooseDrawn(index);
  if (!event.shiftKey || arrowOf(event) === 0) return false;
  event.preventDefault();
  nudgeAttention(index, arrowOf(event));
  return true;
}

/** Moves along the tokens and the nodes of the beam by arrow keys. */
function moveAlong(event) {
  if (event.target.closest("#strip")) {
    chooseStep((state.step ?? -1) + arrowOf(event));
    byId("strip").querySelector("[tabindex='0']")?.focus();
    return true;
  }
  const node = event.target.closest("#tree .node");
  if (!node) return false;
  const nodes = [...byId("tree").querySelectorAll(".node")];
  nodes[nodes.indexOf(node) + arrowOf(event)]?.focus();
  event.preventDefault();
  return true;
}

// ---- The result

/** The number in a data attribute of the element of an event or of one around it, or null. */
function numberAt(event, name) {
  const value = event.target.closest?.(`[data-${name}]`)?.dataset[name];
  return value === undefined ? null : Number(value);
}

function highlightOutput(event) {
  const index = numberAt(event, "index");
  if (index !== null && !showsTokens()) views.links.highlight("target", index);
}

function listenToOutput() {
  const output = byId("output");
  output.addEventListener("pointerover", highlightOutput);
  output.addEventListener("focusin", highlightOutput);
  output.addEventListener("pointerleave", () => views.links.restore());
  output.addEventListener("focusout", () => views.links.restore());
  output.addEventListener("click", (event) => {
    const index = numberAt(event, "index");
    if (index !== null) chooseWord(index);
  });
}

function listenToDrawings() {
  for (const view of [views.links, views.matrix]) {
    view.box.addEventListener("click", (event) => {
      const word = event.target.closest?.(".word");
      if (word?.dataset.side === "target") chooseDrawn(Number(word.dataset.index));
    });
    listenToDrags(view);
  }
  views.links.onResize(redraw);
}

/** Continues from the node of the beam where an event is. */
function continueFrom(event) {
  const node = numberAt(event, "node");
  if (node !== null && state.result) steer(pathOf(state.result.trace.beam, node));
}

function listenToSteps() {
  byId("strip").addEventListener("click", (event) => {
    const step = numberAt(event, "step");
    if (step !== null) chooseStep(step);
  });
  byId("previous").addEventListener("click", () => moveStep(-1));
  byId("next").addEventListener("click", () => moveStep(1));
  byId("candidates").addEventListener("click", (event) => {
    const id = numberAt(event, "id");
    if (id !== null) chooseCandidate(id);
  });
  byId("weights").addEventListener("input", ({ target }) => {
    setAttention(Number(target.dataset.index), Number(target.value) / 1000);
  });
  byId("free").addEventListener("click", undoIntervention);
  byId("steering").addEventListener("click", (event) => {
    const button = event.target.closest("[data-undo]");
    if (button) undo(button.dataset.undo);
  });
  byId("tree").addEventListener("click", continueFrom);
  byId("tree").addEventListener("keydown", (event) => {
    if (event.key === "Enter") continueFrom(event);
  });
}

// ---- The sentence and the controls

/** Translates what is typed: at once, or after a short rest while keys follow each other fast. */
function listenToTyping() {
  const REST = 30;
  let [task, last] = [0, 0];
  byId("source").addEventListener("input", () => {
    performance.mark("typed");
    state.isExample = false;
    fitFields();
    clearTimeout(task);
    const now = performance.now();
    task = setTimeout(() => setText(byId("source").value, 12), now - last < 2 * REST ? REST : 0);
    last = now;
  });
}

function listenToModels() {
  byId("example").addEventListener("click", showExample);
  byId("model").addEventListener("change", () => {
    Object.assign(state, { modelIndex: Number(byId("model").value), prefix: [], intervention: null, step: null });
    showControls();
    translate({ arriving: 30 });
  });
  byId("compare").addEventListener("change", () => {
    const { value } = byId("compare");
    Object.assign(state, { comparedIndex: value === "" ? null : Number(value), comparison: null });
    drawAll();
    showComparison();
    translate();
  });
  byId("key").addEventListener("change", () => translate());
}

/** Changes the search, and translates by it. */
function changeSearch(options) {
  Object.assign(state, options);
  showControls();
  translate({ arriving: 12 });
}

function listenToSearch() {
  for (const name of SLIDERS) {
    byId(name).addEventListener("input", () => changeSearch({ [name]: Number(byId(name).value) }));
  }
  byId("hard").addEventListener("change", () => changeSearch({ hard: byId("hard").checked }));
  byId("reset").addEventListener("click", () => {
    changeSearch(Object.fromEntries([...SLIDERS, "hard"].map((name) => [name, DEFAULTS[name]])));
  });
}

function listenToKeeping() {
  byId("copy-text").addEventListener("click", () => copyResult(({ alignment }) => alignment.translation, "Text"));
  byId("copy-json").addEventListener("click", () =>
    copyResult(({ alignment }) => JSON.stringify(alignment, null, 2), "JSON"));
  byId("copy-link").addEventListener("click", () =>
    copyResult(() => `${location.origin}${location.pathname}#${stateText()}`, "Link"));
  byId("save-svg").addEventListener("click", saveResult);
  byId("correct").addEventListener("click", () => openCorrection(true));
  byId("cancel").addEventListener("click", () => openCorrection(false));
  byId("correction").addEventListener("submit", addPair);
}

function listenToPage() {
  for (const button of document.querySelectorAll(".choice input")) {
    button.addEventListener("change", () => choose(button.name, button.value));
  }
  byId("theme").addEventListener("click", changeTheme);
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  onSystemColors(redraw);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    state.isExample = false;
    loadState();
    showControls();
    translate({ arriving: 30 });
  });
}

// ---- Start

/** Models and directions of a description by the engine, as in `state.models`. */
function modelsOf({ models }) {
  return models.flatMap(({ name, attention, fixed, heads, pairs }) => {
    const directions = pairs.length > 1 ? pairs : [{}];
    return directions.map(({ source, target, tag_source: tag }) => ({
      model: name, tag, isFixed: fixed,
      about: `${name} · ${attention}${heads > 1 && !attention.includes("heads") ? `, ${heads} heads` : ""}`,
      label: source && directions.length > 1 ? `${name}: ${source} → ${target}` : name,
    }));
  });
}

/** Begins the page with what translates, and with further keys. Returns the engine's description, or null if it fails. */
export async function beginPage(engineOfPage, keys = {}) {
  useEngine(engineOfPage);
  Object.assign(KEYS, keys);
  applyTheme("auto", byId("theme"));
  listenToTyping();
  listenToModels();
  listenToSearch();
  listenToOutput();
  listenToDrawings();
  listenToSteps();
  listenToKeeping();
  listenToPage();
  showNothing();
  let description = null;
  try {
    description = await engine().models();
    state.models = modelsOf(description);
    byId("correct").hidden = !description.collects;
    byId("key-field").hidden = !description.needs_key;
    byId("source").maxLength = description.char_limit;
  } catch (error) {
    showProblem(problemOf(error));
    return null;
  }
  byId("model").replaceChildren(...state.models.map(({ label }, index) => html("option", { value: index }, label)));
  byId("model-field").hidden = state.models.length < 2;
  loadState();
  showControls();
  if (location.hash.length > 1) translate({ arriving: 45 });
  else showExample();
  byId("source").focus({ preventScroll: true });
  return description;
}
