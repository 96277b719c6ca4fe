// Translation of the sentence as it stands, also by the model it is compared with.

import { byId } from "../../render/page/dom.js";
import { saveState } from "./address.js";
import { showComparison } from "./comparison.js";
import { showPartialLinks } from "./drawings.js";
import { problemOf, StepsClient } from "./engine.js";
import { showProblem } from "./messages.js";
import { showDoubt, showWords } from "./output.js";
import { PartialTranslation } from "./partial.js";
import { showNothing, showResult } from "./result.js";
import { attentionTemperature, state } from "./state.js";

const client = new StepsClient();
const comparisonClient = new StepsClient();

/** Body of a request to a model with its default search. */
function defaultRequest(modelIndex) {
  const { model, tag } = state.models[modelIndex];
  return { text: state.text, model, ...(tag ? { tag_source: tag } : {}) };
}

/** Body of a request to a model with the chosen search. */
function searchRequest(modelIndex) {
  const { isFixed } = state.models[modelIndex];
  const { beam, length_penalty, coverage_penalty, brevity_penalty, temperature } = state;
  return {
    ...defaultRequest(modelIndex), beam, length_penalty, coverage_penalty, brevity_penalty,
    ...(state.hard && !isFixed ? { hard_attention: true } : {}),
    ...(temperature === 0 || isFixed ? {} : { attention_temperature: attentionTemperature(temperature) }),
  };
}

/** Body of a request to the chosen model with the chosen search and all changes by hand. */
function steeredRequest() {
  const { intervention, prefix } = state;
  return {
    ...searchRequest(state.modelIndex), prefix_tokens: prefix,
    ...(intervention ? { intervention: { step: intervention.step, weights: [intervention.weights] } } : {}),
  };
}

/** Request of the next drawing of a translation in progress. */
let drawFrame = 0;

/** Translates the sentence as it stands, shows each step, and then the result. */
export async function translate({ arriving = 0 } = {}) {
  if (state.models.length === 0) return;
  cancelAnimationFrame(drawFrame);
  saveState();
  if (!state.text.trim()) {
    client.stop();
    comparisonClient.stop();
    showNothing();
    return;
  }
  translateForComparison();
  const partial = new PartialTranslation();
  try {
    const answer = await client.translate(steeredRequest(), byId("key").value, (step) => {
      partial.add(step);
      cancelAnimationFrame(drawFrame);
      if (state.granularity === "words" && state.view !== "matrix") {
        drawFrame = requestAnimationFrame(() => showPartial(partial));
      }
    });
    if (answer === null) return;
    cancelAnimationFrame(drawFrame);
    showProblem("");
    if (state.isExample && answer.alignment.unknown > 0.5) leaveExample();
    else showResult(answer, arriving);
  } catch (error) {
    showProblem(problemOf(error));
  }
}

function showPartial(partial) {
  const matrix = partial.matrix();
  showWords(partial.text, matrix.target, 0);
  showDoubt(null);
  showPartialLinks(matrix);
}

/** Empties the sentence: the model is of another language than our examples. */
function leaveExample() {
  Object.assign(state, { isExample: false, text: "" });
  byId("source").value = "";
  translate();
}

/** Translates by the model that the chosen one is compared with: by the chosen one too, with its default search. */
async function translateForComparison() {
  const { comparedIndex } = state;
  if (comparedIndex === null) {
    comparisonClient.stop();
    state.comparison = null;
    return;
  }
  const body = comparedIndex === state.modelIndex ? defaultRequest(comparedIndex) : searchRequest(comparedIndex);
  try {
    const answer = await comparisonClient.translate(body, byId("key").value, () => {});
    if (answer === null) return;
    state.comparison = answer;
    if (state.result) showComparison();
  } catch (error) {
    state.comparison = null;
    showProblem(problemOf(error));
  }
}
