// The steps of a translation: tokens, candidates, attention and beam.

import { END, percent } from "../../render/page/alignment.js";
import { byId, html, svg } from "../../render/page/dom.js";
import { NUMBER_FONT } from "../../render/page/drawing.js";
import { currentPalette } from "../../render/page/theme.js";
import { weightRow } from "../../render/page/view.js";
import { saveState } from "./address.js";
import { drawBeam } from "./beam.js";
import { sourceLabel, tokenLabel } from "./labels.js";
import { showsTokens, sourceOfStep, state, stepOfToken, stepOfWord, wordOfStep } from "./state.js";

/** Looks into a step, or into none. */
export function chooseStep(step) {
  const { result } = state;
  if (!result || result.trace.steps.length === 0) return;
  state.step = step === null ? null : Math.min(Math.max(step, 0), result.trace.steps.length - 1);
  for (const button of byId("output").querySelectorAll(".target")) {
    button.classList.toggle("chosen", Number(button.dataset.index) === wordOfStep(state.step));
  }
  showInspector();
  saveState();
}

/** Looks into the step before (`by` is −1) or after (1) the present one. */
export function moveStep(by) {
  chooseStep((state.step ?? (by < 0 ? 1 : -1)) + by);
}

/** Looks into a step, if it is one, and scrolls there. */
function goToStep(step) {
  if (step < 0) return;
  chooseStep(step);
  byId("inspector").scrollIntoView({ block: "nearest" });
}

/** Looks into the first step of a word of the translation. */
export function chooseWord(index) {
  if (state.result) goToStep(stepOfWord(index));
}

/** Looks into the first step of a target word or token in a drawing. */
export function chooseDrawn(index) {
  if (showsTokens()) goToStep(stepOfToken(index));
  else chooseWord(index);
}

/** Probability in percent, with two digits. */
function probabilityText(probability) {
  const share = 100 * probability;
  if (share < 0.01) return "<0.01 %";
  return `${share >= 10 ? Math.round(share) : share.toFixed(share >= 1 ? 1 : 2)} %`;
}

function natsText(value) {
  return `${value.toFixed(2).replace("-", "\u2212")} nats`;
}

/** Shows the step looked into. */
export function showInspector() {
  const steps = state.result?.trace.steps ?? [];
  byId("inspector").hidden = steps.length === 0;
  if (steps.length === 0) return;
  const step = state.step === null ? null : steps[state.step];
  byId("step-hint").hidden = step !== null;
  byId("step").hidden = step === null;
  byId("previous").disabled = step !== null && state.step === 0;
  byId("next").disabled = state.step === steps.length - 1;
  byId("step-name").textContent = step ? `Step ${state.step + 1}: ${tokenLabel(step)}` : "Steps";
  byId("measures").replaceChildren(...(step ? stepMeasures(step) : []));
  showStrip(steps);
  if (step) {
    showCandidates(step);
    showWeights(step);
    showHeads(step);
  }
  showTree();
}

function stepMeasures(step) {
  return [
    ["probability", probabilityText(Math.exp(step.log_probability))],
    ["entropy", natsText(step.entropy)],
    ["of attention", natsText(step.attention_entropy)],
  ].map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
}

/** All tokens in a row. Forced ones are marked. */
function showStrip(steps) {
  const focused = byId("strip").contains(document.activeElement);
  const words = steps.map((_, index) => wordOfStep(index));
  byId("strip").replaceChildren(...steps.map((step, index) => {
    const chosen = index === state.step;
    const token = html("button", {
      type: "button", role: "option", class: "token", "aria-selected": chosen, "data-step": index,
      tabindex: index === (state.step ?? 0) ? 0 : -1,
    }, tokenLabel(step));
    token.classList.toggle("joined", index > 0 && words[index] !== null && words[index] === words[index - 1]);
    token.classList.toggle("forced", index < state.prefix.length);
    return token;
  }));
  if (focused) byId("strip").querySelector("[tabindex='0']")?.focus();
}

function showCandidates(step) {
  const rows = step.candidates.map((candidate) => {
    const probability = Math.exp(candidate.log_probability);
    const isChosen = candidate.id === step.id;
    const name = html("button", {
      type: "button", class: "candidate", "data-id": candidate.id, ...(isChosen ? { "aria-current": "true" } : {}),
    }, html("bdi", {}, tokenLabel(candidate)));
    return weightRow(name, 1000 * probability, isChosen ? "chosen" : "", probabilityText(probability));
  });
  byId("candidates").replaceChildren(...rows);
}

/** A slider for the weight of each source token of the sentence. */
function showWeights(step) {
  const focused = document.activeElement?.closest?.("#weights input")?.dataset.index;
  const names = [...state.result.trace.source.tokens, END];
  const sources = sourceOfStep(state.step);
  const isMoved = state.intervention?.step === state.step;
  byId("free").hidden = !isMoved;
  // While a slider is dragged, it must not be replaced.
  const shown = byId("weights").children;
  if (focused !== undefined && shown.length === sources.length) {
    sources.forEach((index, row) => setWeightRow(shown[row], step.attention[index], String(index) === focused));
    return;
  }
  byId("weights").replaceChildren(...sources.map((index) => {
    const label = index < names.length - 1 ? sourceLabel(names[index]) : "end of sentence";
    const slider = html("input", {
      type: "range", min: 0, max: 1000, step: 1, "data-index": index, "aria-label": `Attention on ${label}`,
    });
    const row = html("li", {}, html("bdi", {}, label), slider, html("span", { class: "weight" }));
    setWeightRow(row, step.attention[index], false);
    return row;
  }));
}

function setWeightRow(row, weight, keepsSlider) {
  const slider = row.querySelector("input");
  if (!keepsSlider) slider.value = Math.round(1000 * weight);
  slider.style.setProperty("--share", `${100 * weight}%`);
  row.querySelector(".weight").textContent = percent(1000 * weight);
}

/** The weights of each head as a row of cells, if there are several. */
function showHeads({ heads }) {
  if (heads.length < 2) {
    byId("heads").replaceChildren();
    return;
  }
  const palette = currentPalette();
  const cell = 18;
  const sources = sourceOfStep(state.step);
  const allNames = [...state.result.trace.source.tokens, END].map(sourceLabel);
  const names = sources.map((index) => allNames[index]);
  const ofSentence = heads.map((weights) => sources.map((index) => weights[index]));
  const rows = ofSentence.flatMap((weights, head) => [
    svg("text", {
      x: 46, y: head * cell + 13, "text-anchor": "end", "font-size": 11, fill: palette.soft,
    }, `head ${head + 1}`),
    ...weights.map((weight, column) => svg("rect", {
      x: 52 + column * cell, y: head * cell, width: cell - 2, height: cell - 2, rx: 2, fill: palette.accent,
      "fill-opacity": Math.max(weight, 0.04).toFixed(3),
    }, svg("title", {}, `head ${head + 1}, ${names[column]}: ${percent(1000 * weight)}`))),
  ]);
  const label = ofSentence.map((weights, head) => {
    const largest = weights.indexOf(Math.max(...weights));
    return `head ${head + 1}: ${names[largest]} ${percent(1000 * weights[largest])}`;
  }).join("; ");
  const size = { width: 52 + sources.length * cell, height: heads.length * cell };
  byId("heads").replaceChildren(svg("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": label, "font-family": NUMBER_FONT,
  }, ...rows));
}

/** Timer of the next drawing of the beam. */
let treeTask = 0;

/** Draws the beam once there is time. */
function showTree() {
  clearTimeout(treeTask);
  treeTask = setTimeout(() => {
    if (state.result) byId("tree").replaceChildren(drawBeam(state.result.trace.beam, currentPalette()));
  });
}
