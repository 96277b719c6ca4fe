// Copies, files and corrected pairs.

import { byId, html, saveDrawing } from "../../render/page/dom.js";
import { LIGHT } from "../../render/page/theme.js";
import { fitFields } from "./controls.js";
import { drawAnswer, drawingKind, views } from "./drawings.js";
import { engine, problemOf } from "./engine.js";
import { showKept, showProblem } from "./messages.js";
import { state } from "./state.js";

/** Writes a text to the clipboard, also where the page has no right to the modern way. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = html("textarea", { class: "unseen" }, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** Copies what `textOf` makes of the result, and says so. */
export async function copyResult(textOf, name) {
  if (!state.result) return;
  await copy(textOf(state.result));
  showKept(`${name} copied`);
}

/** Saves the drawing of the result on light paper, without highlights. */
export function saveResult() {
  if (!state.result) return;
  const kind = drawingKind();
  saveDrawing(drawAnswer(state.result, kind, views.links, LIGHT).element, `softalign-${kind}.svg`);
}

/** Opens or closes the form for a corrected translation. */
export function openCorrection(isOpen) {
  byId("correction").hidden = !isOpen;
  byId("output").hidden = byId("keeping").hidden = isOpen;
  if (!isOpen) return;
  byId("corrected").value = state.result?.alignment.translation ?? "";
  fitFields();
  byId("corrected").focus();
}

/** Keeps the corrected pair. */
export async function addPair(event) {
  event.preventDefault();
  const pair = { source: state.text.trim(), target: byId("corrected").value.trim() };
  try {
    await engine().addPair(pair, byId("key").value);
    openCorrection(false);
    showProblem("");
    showKept("Pair added");
  } catch (error) {
    showProblem(`${problemOf(error)} The pair is not saved.`);
  }
}
