// Controls of the page, set to its state.

import { byId, html } from "../../render/page/dom.js";
import { attentionTemperature, DEFAULTS, SLIDERS, state } from "./state.js";

/** Sets all controls to the state. */
export function showControls() {
  const { models, modelIndex } = state;
  if (byId("source").value !== state.text) byId("source").value = state.text;
  fitFields();
  byId("model").value = modelIndex;
  showCompareOptions();
  byId("hard").checked = state.hard;
  for (const name of ["view", "granularity"]) {
    document.querySelector(`input[name=${name}][value=${state[name]}]`).checked = true;
  }
  for (const name of SLIDERS) {
    byId(name).value = state[name];
    byId(`${name}-value`).textContent = name === "temperature" ? temperatureText() : state[name];
  }
  byId("reset").disabled = SLIDERS.every((name) => state[name] === DEFAULTS[name]) && !state.hard;
  byId("temperature").disabled = byId("hard").disabled = models[modelIndex]?.isFixed ?? false;
  byId("summary").textContent = models[modelIndex]?.about ?? "";
}

function temperatureText() {
  return state.temperature === 0 ? "as trained" : attentionTemperature(state.temperature);
}

function showCompareOptions() {
  const options = state.models.map((_, index) => html("option", { value: index }, comparedLabel(index)));
  byId("compare").replaceChildren(html("option", { value: "" }, "nothing"), ...options);
  byId("compare").value = state.comparedIndex ?? "";
}

/** Name of a model that the chosen one is compared with. */
export function comparedLabel(index) {
  const { label } = state.models[index];
  return index === state.modelIndex ? `${label}, default search` : label;
}

/** Grows the fields of the sentence and of its correction with their texts. */
export function fitFields() {
  for (const field of [byId("source"), byId("corrected")]) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  }
}
