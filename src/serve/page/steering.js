// Changes by hand: tokens that the translation begins with, and attention that is moved.

import { weightOf } from "../../render/page/alignment.js";
import { svg } from "../../render/page/dom.js";
import { currentPalette } from "../../render/page/theme.js";
import { matrixOf } from "./drawings.js";
import { chooseDrawn } from "./inspector.js";
import { showsTokens, sourceOfStep, state, stepOfToken, stepOfWord } from "./state.js";
import { translate } from "./translate.js";

/** Forces the beginning of the translation, and keeps attention moved within it. */
export function steer(prefix) {
  state.prefix = prefix;
  if (state.intervention && state.intervention.step >= prefix.length) state.intervention = null;
  translate({ arriving: 45 });
}

/** Ids of the tokens before a step. */
function idsBefore(step) {
  return state.result.trace.steps.slice(0, step).map(({ id }) => id);
}

/** Continues with another token at the step looked into. */
export function chooseCandidate(id) {
  steer([...idsBefore(state.step), id]);
}

/** Replaces the attention of a step; the tokens before it stay. */
function intervene(step, weights) {
  state.prefix = idsBefore(step);
  state.intervention = { step, weights: weights.map((weight) => Number(weight.toFixed(4))) };
  state.step = step;
  translate({ arriving: 45 });
}

/** Sets the attention on a source token, at the step looked into. */
export function setAttention(token, weight) {
  intervene(state.step, withWeight(state.result.trace.steps[state.step].attention, token, weight));
}

/** Weights with another one at `index`; the others keep their proportions. */
function withWeight(weights, index, weight) {
  const rest = weights.reduce((sum, one, position) => sum + (position === index ? 0 : one), 0);
  const others = weights.length - 1;
  return weights.map((one, position) => {
    if (position === index) return others > 0 ? weight : 1;
    return rest > 0 ? (one / rest) * (1 - weight) : (1 - weight) / others;
  });
}

/** Weights after all of `from` were moved to `to`, both lists of indices. */
function moved(weights, from, to) {
  const result = [...weights];
  const mass = from.reduce((sum, index) => sum + result[index], 0);
  for (const index of from) result[index] = 0;
  for (const index of to) result[index] += mass / to.length;
  return result;
}

/** Source tokens of a column of the drawn matrix; the last column is the source's end. */
function tokensOfColumn(column) {
  const { tokens, word_of_token: words } = state.result.trace.source;
  if (column === matrixOf(state.result).source.length) return [tokens.length];
  return showsTokens() ? [column] : words.flatMap((word, token) => (word === column ? [token] : []));
}

/** Moves the attention of a target word or token from one source word or token to another. */
function moveAttention(target, from, to) {
  const step = showsTokens() ? stepOfToken(target) : stepOfWord(target);
  if (step < 0 || from === to || to < 0 || to > matrixOf(state.result).source.length) return;
  const tokens = tokensOfColumn(to);
  // Attention stays within a sentence.
  if (!tokens.every((token) => sourceOfStep(step).includes(token))) return;
  intervene(step, moved(state.result.trace.steps[step].attention, tokensOfColumn(from), tokens));
}

/** Moves the largest weight of a target word one source word on. */
export function nudgeAttention(target, by) {
  const matrix = matrixOf(state.result);
  const row = Array.from({ length: matrix.source.length + 1 }, (_, s) => weightOf(matrix, s, target));
  const from = row.indexOf(Math.max(...row));
  moveAttention(target, from, from + by);
}

/** Lets the model attend as it would. */
export function undoIntervention() {
  state.intervention = null;
  translate({ arriving: 30 });
}

/** Undoes a change of the list of changes: `prefix`, `intervention`, or `all`. */
export function undo(change) {
  if (change === "prefix") {
    steer([]);
    return;
  }
  const keepsPrefix = change === "intervention" && state.prefix.length > state.intervention.step;
  if (!keepsPrefix) state.prefix = [];
  undoIntervention();
}

/** Lets a cell of a matrix be dragged to another source word. */
export function listenToDrags(view) {
  const { box } = view;
  let drag = null;
  const end = () => {
    drag?.ghost.remove();
    drag = null;
    box.classList.remove("dragging");
  };
  box.addEventListener("pointerdown", (event) => {
    const cell = view.cellAt(event);
    if (!cell || event.button !== 0) return;
    const ghost = svg("rect", {
      ...view.drawing.cellBox(cell), rx: 3, fill: currentPalette().accent, "fill-opacity": 0.55, "pointer-events": "none",
    });
    view.drawing.element.append(ghost);
    drag = { ...cell, ghost, to: cell.s };
    box.setPointerCapture(event.pointerId);
    box.classList.add("dragging");
    event.preventDefault();
  });
  box.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { left } = view.drawing.element.getBoundingClientRect();
    const cell = view.drawing.cellAt(event.clientX - left, view.drawing.cellBox({ s: 0, t: drag.t }).y);
    if (cell) drag.to = cell.s;
    drag.ghost.setAttribute("x", view.drawing.cellBox({ s: drag.to, t: drag.t }).x);
  });
  box.addEventListener("pointerup", () => {
    if (!drag) return;
    const { s, t, to } = drag;
    end();
    if (s === to) chooseDrawn(t);
    else moveAttention(t, s, to);
  });
  box.addEventListener("pointercancel", end);
}
