// All that is shown of an answer.

import { byId, html } from "../../render/page/dom.js";
import { showChanges } from "./changes.js";
import { showComparison } from "./comparison.js";
import { drawAll, views } from "./drawings.js";
import { showInspector } from "./inspector.js";
import { announce, showProblem } from "./messages.js";
import { arrive, showDoubt, showWords } from "./output.js";
import { isSteered, state } from "./state.js";

/** Shows the page without a sentence. */
export function showNothing() {
  Object.assign(state, { result: null, comparison: null, baseline: null, shownWords: [] });
  showProblem("");
  byId("output").replaceChildren();
  showDoubt(null);
  for (const view of Object.values(views)) {
    view.showNote(html("p", { class: "empty" }, "Type a sentence above, and its words will be linked here."));
  }
  showChanges();
  showInspector();
  showComparison();
}

/** Shows a complete answer. New words appear one after the other, `arriving` milliseconds apart. */
export function showResult(answer, arriving) {
  const { alignment, drawing, trace } = answer;
  state.result = answer;
  if (!isSteered()) state.baseline = drawing.target;
  if (state.step !== null) state.step = Math.min(state.step, trace.steps.length - 1);
  const firstNew = showWords(alignment.translation, drawing.target, arriving);
  drawAll();
  arrive(firstNew, arriving);
  showDoubt(answer);
  showChanges();
  showInspector();
  showComparison();
  announce(alignment.translation);
  performance.mark("translated");
}

/** Draws again what depends on the width, the theme and the options of the drawings. */
export function redraw() {
  drawAll();
  showInspector();
  showComparison();
}
