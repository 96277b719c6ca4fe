// The listed pairs: search, filters, order, and which of them is shown.

import { byId, html } from "./dom.js";
import { PairList } from "./list.js";
import { chosenPairs, DATA, MEASURES, numberOf } from "./model.js";
import { draw, measureText, showTranslation } from "./pair.js";
import { shownPair, state } from "./state.js";

const list = new PairList(byId("list"), rowNote, showPair);

/** Sort measure at the end of a row. */
function rowNote(pairIndex) {
  const measure = MEASURES.find(({ name }) => name === state.sort);
  return measure ? measureText(measure, pairIndex) : "";
}

/** Goes to a pair by its index in the file. */
function showPair(pairIndex) {
  state.pairIndex = pairIndex;
  const pair = shownPair();
  byId("sentence").textContent = pair ? `Sentence ${numberOf(pair)}` : "";
  showTranslation();
  list.choose(pairIndex);
  draw();
}

/** Moves by `count` pairs in the list. */
export function moveBy(count) {
  if (state.listed.length === 0) return;
  const position = state.listed.indexOf(state.pairIndex) + count;
  showPair(state.listed[Math.min(Math.max(position, 0), state.listed.length - 1)]);
}

/** Updates the list by search, filters and order. */
export function choosePairs() {
  state.listed = chosenPairs(state);
  const all = DATA.pairs.length;
  const count = state.listed.length === all ? `${all.toLocaleString("en")} pairs` :
    `${state.listed.length.toLocaleString("en")} of ${all.toLocaleString("en")} pairs`;
  byId("count").textContent = all === 1 ? "1 pair" : count;
  list.show(state.listed);
  showPair(state.listed.includes(state.pairIndex) ? state.pairIndex : state.listed[0] ?? null);
}

/** Updates the list after a change of order, and shows its first pair. */
export function orderPairs() {
  choosePairs();
  showPair(state.listed[0] ?? null);
}

/** Lists all pairs again. */
export function clearSelection() {
  state.query = "";
  state.ranges = {};
  byId("search").value = "";
  for (const field of byId("ranges").querySelectorAll("input")) field.value = "";
  choosePairs();
}

/** A field for the least (`from`) or largest (`to`) value of a measure. */
function rangeField(measure, bound) {
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
}

/** Two fields for each measure: from and to. */
export function addRangeFields() {
  byId("ranges").append(...MEASURES.map((measure) => html("div", {}, html("span", {}, measure.label),
    rangeField(measure, "from"), rangeField(measure, "to"))));
}

/** Labels the button of the direction of sorting. */
export function showDirection() {
  byId("direction").textContent = state.descending ? "↓" : "↑";
  byId("direction").setAttribute("aria-label", state.descending ? "Order: descending" : "Order: ascending");
}
