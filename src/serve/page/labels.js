// Words and tokens as labels.

import { visible } from "../../render/page/alignment.js";

/** Text of a word or token; an open box if it is only white space, so that there is something to click. */
export function visibleWord(text) {
  return visible(text).trim() || "␣";
}

/** A token of the translation as a label: its text, or its name if it has none. */
export function tokenLabel({ token, text }) {
  return text === "" ? token : visibleWord(text);
}

/** A source token as a label, without the mark of a space. */
export function sourceLabel(token) {
  return visibleWord(token.replaceAll("\u2581", " "));
}
