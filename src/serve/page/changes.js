// The list of changes by hand.

import { byId, html } from "../../render/page/dom.js";
import { tokenLabel } from "./labels.js";
import { isSteered, state } from "./state.js";

/** Shows the changes by hand, each with a button whose `data-undo` says what it undoes. */
export function showChanges() {
  byId("steering").hidden = !isSteered();
  if (!isSteered() || !state.result) return;
  const { prefix, intervention, result } = state;
  const changes = [];
  if (prefix.length > 0 && !(intervention && intervention.step === prefix.length)) {
    const last = result.trace.steps[prefix.length - 1];
    changes.push(changeButton("prefix", `“${last ? tokenLabel(last) : ""}” at step ${prefix.length}`));
  }
  if (intervention) changes.push(changeButton("intervention", `attention moved at step ${intervention.step + 1}`));
  const all = html("button", { type: "button", "data-undo": "all" }, "Undo all");
  byId("steering").replaceChildren(html("span", {}, "By hand:"), ...changes, ...(changes.length > 1 ? [all] : []));
}

function changeButton(undo, text) {
  return html("button", { type: "button", class: "change", "data-undo": undo, "aria-label": `Undo: ${text}` },
    text, html("span", {}, "✕"));
}
