// State of the page, and what follows from it.

import { DATA, STEPS } from "./model.js";

/**
 * Selections of the user. `pairIndex` is the index of the shown pair in the file, or null; `step` that of the training step
 * whose attention is shown; `listed` has the indices of the listed pairs, in order.
 */
export const state = {
  pairIndex: null, view: "links", granularity: "words", gold: true, threshold: DATA.threshold || 1,
  step: STEPS.length - 1, query: "", sort: "file", descending: false, ranges: {}, listed: [],
};

/** The shown pair, or null. */
export function shownPair() {
  return state.pairIndex === null ? null : DATA.pairs[state.pairIndex];
}

/** True if the shown pair is drawn by tokens. */
export function showsTokens() {
  return state.granularity === "tokens" && Boolean(shownPair()?.tokens);
}

/** True if the shown pair is drawn beside its gold alignment, which is between words. */
export function showsGold() {
  return state.gold && Boolean(shownPair()?.gold) && !showsTokens();
}

/** Matrix of the shown pair, by words or by tokens. */
export function shownMatrix() {
  return showsTokens() ? shownPair().tokens : shownPair();
}
