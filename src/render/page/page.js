// Controls and keys of the page, and its start.

import { visible } from "./alignment.js";
import { byId, html, isForField } from "./dom.js";
import { corpusErrorRate, DATA, HAS_GOLD, HAS_TOKENS, MEASURES, selectStep, STEPS } from "./model.js";
import { draw, savePair, view } from "./pair.js";
import { play, setStep } from "./playback.js";
import { addRangeFields, choosePairs, clearSelection, moveBy, orderPairs, showDirection } from "./selection.js";
import { state } from "./state.js";
import { applyNextTheme, applyTheme, onSystemColors } from "./theme.js";

/** Sets an option and its control, and redraws. */
function choose(name, value) {
  state[name] = value;
  const button = document.querySelector(`input[name="${name}"][value="${value}"]`);
  if (button) button.checked = true;
  if (name === "gold") byId("gold").checked = value;
  draw();
}

/** Timer of the update after the threshold rests. */
let pending = 0;

/** Redraws at a new threshold; what depends on all pairs is updated once the slider rests. */
function setThreshold(value) {
  state.threshold = Math.round(Math.min(Math.max(value, 1), 1000));
  byId("threshold").value = state.threshold;
  byId("threshold-value").textContent = `${state.threshold / 10} %`;
  draw();
  clearTimeout(pending);
  pending = setTimeout(() => {
    showSummary();
    const depends = MEASURES.some(({ name, byLinks }) => byLinks && (name === state.sort || state.ranges[name]));
    if (depends) choosePairs();
  }, 150);
}

function showSummary() {
  const rate = HAS_GOLD ? corpusErrorRate(DATA.pairs, state.threshold) : null;
  const pairs = DATA.pairs.length === 1 ? "1 sentence pair" : `${DATA.pairs.length.toLocaleString("en")} sentence pairs`;
  byId("summary").textContent = rate === null ? pairs : `${pairs} · alignment error rate ${rate.toFixed(3)}`;
}

function changeTheme() {
  applyNextTheme(byId("theme"));
  draw();
}

const KEYS = {
  j: () => moveBy(1), ArrowDown: () => moveBy(1), k: () => moveBy(-1), ArrowUp: () => moveBy(-1),
  Home: () => moveBy(-Infinity), End: () => moveBy(Infinity),
  "/": () => byId("search").focus(),
  v: () => choose("view", state.view === "links" ? "matrix" : "links"),
  w: () => HAS_TOKENS && choose("granularity", state.granularity === "words" ? "tokens" : "words"),
  g: () => HAS_GOLD && choose("gold", !state.gold),
  "[": () => setThreshold(state.threshold - 50), "]": () => setThreshold(state.threshold + 50),
  ",": () => setStep(state.step - 1), ".": () => setStep(state.step + 1), p: play,
  s: savePair, t: changeTheme, "?": () => byId("help").showModal(),
};

function onKey(event) {
  // Many keyboards need a modifier for brackets.
  const isBracket = event.key === "[" || event.key === "]";
  if ((!isBracket && (event.ctrlKey || event.metaKey || event.altKey)) || byId("help").open) return;
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

function listenToSelection() {
  byId("search").addEventListener("input", (event) => {
    state.query = event.target.value;
    choosePairs();
  });
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") byId("list").focus();
  });
  byId("sort").addEventListener("change", (event) => {
    state.sort = event.target.value;
    orderPairs();
  });
  byId("direction").addEventListener("click", () => {
    state.descending = !state.descending;
    showDirection();
    orderPairs();
  });
  byId("clear").addEventListener("click", clearSelection);
  view.box.addEventListener("click", (event) => {
    if (event.target.closest("button.clear")) clearSelection();
  });
}

function listenToControls() {
  byId("previous").addEventListener("click", () => moveBy(-1));
  byId("next").addEventListener("click", () => moveBy(1));
  for (const button of document.querySelectorAll(".choice input")) {
    button.addEventListener("change", () => choose(button.name, button.value));
  }
  byId("gold").addEventListener("change", (event) => choose("gold", event.target.checked));
  byId("threshold").addEventListener("input", (event) => setThreshold(Number(event.target.value)));
  byId("step").addEventListener("input", (event) => setStep(Number(event.target.value)));
  byId("play").addEventListener("click", play);
  byId("download").addEventListener("click", savePair);
  byId("theme").addEventListener("click", changeTheme);
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  onSystemColors(draw);
  document.addEventListener("keydown", onKey);
}

/** Fits the controls to the data. */
function showControls() {
  document.title = `${visible(DATA.title)} – softalign`;
  byId("title").textContent = visible(DATA.title);
  const measures = MEASURES.map(({ name, label }) => html("option", { value: name }, label));
  byId("sort").append(html("option", { value: "file" }, "Order of the file"), ...measures);
  byId("granularity").hidden = !HAS_TOKENS;
  byId("gold-switch").hidden = !HAS_GOLD;
  byId("playback").hidden = byId("playback-keys").hidden = STEPS.length === 0;
  byId("step").max = STEPS.length - 1;
  addRangeFields();
  showDirection();
  document.body.classList.toggle("bare", DATA.pairs.length === 0);
}

function begin() {
  showControls();
  selectStep(state.step);
  listenToSelection();
  listenToControls();
  choosePairs();
  view.onResize(draw);
  applyTheme("auto", byId("theme"));
  setThreshold(state.threshold);
  setStep(state.step);
  showSummary();
}

begin();
