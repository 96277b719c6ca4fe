// State of the page, and what follows from it.

/** Selections of the first visit. */
export const DEFAULTS = {
  text: "", modelIndex: 0, comparedIndex: null,
  beam: 5, temperature: 0, hard: false, length_penalty: 0.8, coverage_penalty: 0.2, brevity_penalty: 2,
  view: "links", granularity: "words", prefix: [], intervention: null, step: null,
};

/** Selections that are made by sliders. */
export const SLIDERS = ["beam", "temperature", "length_penalty", "coverage_penalty", "brevity_penalty"];

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
function targetWordOfToken() {
  return state.result.trace.target.word_of_token;
}

/** The sentence whose range on a side, among its source tokens, target tokens or steps, has an index. */
function sentenceAt(side, index) {
  return state.result.trace.sentences.find(({ [side]: [first, end] }) => first <= index && index < end);
}

/** The word of a step, or null for the end of a sentence. */
export function wordOfStep(step) {
  if (step === null) return null;
  const { steps, target } = sentenceAt("steps", step);
  const token = step - steps[0] + target[0];
  return token < target[1] ? targetWordOfToken()[token] : null;
}

/** The step of a token of the translation, or −1, as in a sentence that is copied. */
export function stepOfToken(token) {
  const { target, steps } = sentenceAt("target", token) ?? { target: [0, 0], steps: [0, 0] };
  const step = token - target[0] + steps[0];
  return step < steps[1] ? step : -1;
}

/** The first step of a word of the translation, or −1. */
export function stepOfWord(word) {
  return stepOfToken(targetWordOfToken().indexOf(word));
}

/** The source tokens that a step can attend to: those of its sentence and, last, the end. */
export function sourceOfStep(step) {
  const [first, end] = sentenceAt("steps", step).source;
  const tokens = Array.from({ length: end - first }, (_, index) => first + index);
  return [...tokens, state.result.trace.source.tokens.length];
}

/** The temperature of attention at a position of its slider. */
export function attentionTemperature(position) {
  return Number((10 ** (position / 20)).toPrecision(2));
}
