// Attention after each training step, on a training page.

import { byId } from "./dom.js";
import { selectStep, STEPS } from "./model.js";
import { draw, showTranslation } from "./pair.js";
import { choosePairs } from "./selection.js";
import { state } from "./state.js";

/** Timer of playing; 0 while nothing plays. */
let playing = 0;

/** Shows attention after another training step, given by its index. */
export function setStep(step) {
  if (STEPS.length === 0) return;
  state.step = Math.min(Math.max(step, 0), STEPS.length - 1);
  selectStep(state.step);
  byId("step").value = state.step;
  byId("step-value").textContent = STEPS[state.step].toLocaleString("en");
  showTranslation();
  // Sort and filter measures may have changed with attention.
  if (state.sort === "file" && Object.keys(state.ranges).length === 0) draw();
  else choosePairs();
}

function stop() {
  clearInterval(playing);
  playing = 0;
  byId("play").textContent = "▶";
  byId("play").setAttribute("aria-label", "Play");
}

/** Plays from the shown step to the last, or from the first if the last is shown, five steps per second. */
export function play() {
  if (STEPS.length === 0) return;
  if (playing) {
    stop();
    return;
  }
  byId("play").textContent = "❚❚";
  byId("play").setAttribute("aria-label", "Pause");
  if (state.step === STEPS.length - 1) setStep(0);
  playing = setInterval(() => {
    setStep(state.step + 1);
    if (state.step === STEPS.length - 1) stop();
  }, 200);
}
