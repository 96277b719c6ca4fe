// The state in the page's address.

import { byId } from "../../render/page/dom.js";
import { DEFAULTS, state } from "./state.js";

/** Timer of the next change of the address. */
let saving = 0;

/** All selections that differ from the defaults, as the part of the address behind `#`. */
export function stateText() {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) {
    const current = state[name];
    if (JSON.stringify(current) === JSON.stringify(value)) continue;
    if (name === "modelIndex") fields.set("model", state.models[current]?.label ?? "");
    else if (name === "comparedIndex") fields.set("compare", String(current));
    else if (name === "prefix") fields.set(name, current.join(","));
    else if (name === "intervention") fields.set("attention", `${current.step}:${current.weights.join(",")}`);
    else fields.set(name, String(current));
  }
  return fields.toString();
}

/** Writes the state into the address once changes rest. */
export function saveState() {
  clearTimeout(saving);
  saving = setTimeout(() => {
    history.replaceState(null, "", state.isExample ? location.pathname : `#${stateText()}`);
  }, 250);
}

/** Reads the state from the address; values that make no sense are left out. */
export function loadState() {
  const fields = new URLSearchParams(location.hash.slice(1));
  Object.assign(state, structuredClone(DEFAULTS));
  for (const [name, text] of fields) {
    const number = Number(text);
    if (name === "text") state.text = text;
    else if (name === "model") state.modelIndex = Math.max(state.models.findIndex(({ label }) => label === text), 0);
    else if (name === "compare" && state.models[number] && text !== "") state.comparedIndex = number;
    else if (name === "view" && ["links", "matrix", "both"].includes(text)) state.view = text;
    else if (name === "granularity" && ["words", "tokens"].includes(text)) state.granularity = text;
    else if (name === "hard") state.hard = text === "true";
    else if (name === "prefix") state.prefix = text.split(",").map(Number).filter((id) => Number.isInteger(id) && id >= 0);
    else if (name === "attention") state.intervention = interventionOf(text);
    else if (name === "step" && Number.isInteger(number) && number >= 0) state.step = number;
    else if (byId(name)?.type === "range" && Number.isFinite(number)) state[name] = clamped(byId(name), number);
  }
}

/** A value within the limits of a slider. */
function clamped(slider, value) {
  return Math.min(Math.max(value, Number(slider.min)), Number(slider.max));
}

function interventionOf(text) {
  const [step, weights = ""] = text.split(":");
  const numbers = weights.split(",").map(Number);
  const isValid = /^\d+$/.test(step) && numbers.every((weight) => weight >= 0 && Number.isFinite(weight));
  return isValid ? { step: Number(step), weights: numbers } : null;
}
