// The translation beside that of another model.

import { visible } from "../../render/page/alignment.js";
import { byId, html } from "../../render/page/dom.js";
import { comparedLabel } from "./controls.js";
import { showComparisonDrawing } from "./drawings.js";
import { visibleWord } from "./labels.js";
import { changedRange, wordParts } from "./output.js";
import { state } from "./state.js";

/** Marks the first difference between the translations that are compared. */
export function showComparison() {
  const { result, comparison, comparedIndex } = state;
  const isShown = comparedIndex !== null && result !== null && comparison !== null;
  for (const id of ["difference", "drawing-name", "own-output"]) byId(id).hidden = !isShown;
  if (!isShown) return;
  const [ours, theirs] = [result.drawing.target, comparison.drawing.target];
  const range = changedRange(ours, theirs) ?? changedRange(theirs, ours);
  const first = range?.first ?? -1;
  byId("drawing-name").textContent = state.models[state.modelIndex].label;
  byId("comparison-name").textContent = comparedLabel(comparedIndex);
  showCompared("own-output", result, first);
  showCompared("comparison-output", comparison, first);
  byId("difference").textContent = first < 0 ? "Both translations are the same."
    : `The first difference is word ${first + 1}: ${wordName(ours, first)} and ${wordName(theirs, first)}.`;
  showComparisonDrawing();
}

/** Shows a translation with one word marked. */
function showCompared(id, answer, marked) {
  const { alignment, drawing } = answer;
  byId(id).replaceChildren(...wordParts(alignment.translation, drawing.target, (word, index) =>
    html("span", { class: index === marked ? "differs" : "same" }, visibleWord(word))));
}

/** A word in quotes, or the end if there is none. */
function wordName(words, index) {
  return index < words.length ? visible(`“${words[index]}”`) : "the end";
}
