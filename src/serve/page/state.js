// State of the page, and what follows from it.

/** Selections of the first visit. */
export const DEFAULTS = {
  text: "", modelIndex: 0, comparedIndex: null,
  beam: 5, temperature: 0, hard: false, length_penalty: 0.8, coverage_penalty: 0.2,
  view: "links", granularity: "words", prefix: [], intervention: null, step: null,
};

/** Selections that are made by sliders. */
export const SLIDERS = ["beam", "temperature", "length_penalty", "coverage_penalty"];

/**
 * Selections of the user, as in `DEFAULTS`, and answers of the server.
 *
 * `modelIndex` is the index of the model in `models`, `comparedIndex` that of the model it is compared with. `prefix` has the
 * ids of the tokens that the translation begins with, `intervention` the step and weights of attention moved by hand. `step`
 * is the step looked into.
 *
 * `models` has the models and directions that can be chosen: `label`, `about`, `model`, `tag`, and `isFixed` if attention does
 * not depend on words. `result` is the last complete answer, `comparison` that of the model compared with. `baseline` has the
 * words before changes by hand, `shownWords` those shown last. `isExample` is true while the sentence is one of ours.
 */
export const state = {
  ...structuredClone(DEFAULTS),
  models: [], result: null, comparison: null, baseline: null, shownWords: [], isExample: false,
};

/** True if the translation is changed by hand. */
export function isSteered() {
  return state.prefix.length > 0 || state.intervention !== null;
}

/** True if tokens are drawn, not words. */
export function showsTokens() {
  return state.granularity === "tokens";
}

/** The word of each token of the translation. */
export function targetWordOfToken() {
  return state.result.trace.target.word_of_token;
}

/** The word of the step looked into, or null. */
export function wordOfStep() {
  return state.step === null ? null : targetWordOfToken()[state.step] ?? null;
}

/** The temperature of attention at a position of its slider. */
export function attentionTemperature(position) {
  return Number((10 ** (position / 20)).toPrecision(2));
}
