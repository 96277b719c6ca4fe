// The words of the translation.

import { byId, html } from "../../render/page/dom.js";
import { doubtText } from "../../render/page/doubts.js";
import { views } from "./drawings.js";
import { visibleWord } from "./labels.js";
import { isSteered, showsTokens, state, wordOfStep } from "./state.js";

/** First and last index of the words of `after` that are not in `before`, or null if there are none. */
export function changedRange(before, after) {
  let first = 0;
  while (first < Math.min(before.length, after.length) && before[first] === after[first]) first += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - first;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return first < after.length - tail ? { first, last: after.length - tail - 1 } : null;
}

/** A text cut into its words, each made an element by `element`, and what stands between them. */
export function wordParts(text, words, element) {
  const parts = [];
  let end = 0;
  words.forEach((word, index) => {
    const start = text.indexOf(word, end);
    if (start < 0) return;
    if (start > end) parts.push(text.slice(end, start));
    parts.push(element(word, index));
    end = start + word.length;
  });
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** Shows the words of the translation as buttons, with the text between them. Returns the index of the first new word. */
export function showWords(text, words, arriving) {
  const focused = document.activeElement?.closest?.("#output button")?.dataset.index;
  const changed = isSteered() && state.baseline ? changedRange(state.baseline, words) : null;
  const parts = wordParts(text, words, (word, index) => {
    const button = html("button", { type: "button", class: "target", "data-index": index }, visibleWord(word));
    button.classList.toggle("changed", changed !== null && index >= changed.first && index <= changed.last);
    button.classList.toggle("chosen", state.result !== null && index === wordOfStep(state.step));
    if (state.result !== null && words === state.result.drawing.target) shade(button, state.result.alignment, index);
    return button;
  });
  const firstNew = changedRange(state.shownWords, words)?.first ?? words.length;
  state.shownWords = words;
  if (arriving > 0) {
    for (const button of parts) {
      const late = Number(button.dataset?.index) - firstNew;
      if (late >= 0) startArriving(button, late * arriving);
    }
  }
  byId("output").replaceChildren(...parts);
  if (focused !== undefined) byId("output").querySelector(`[data-index="${focused}"]`)?.focus();
  return firstNew;
}

/** Shades a word by the doubt that it is right, and marks one that may be made up. */
function shade(button, { word_confidence: confidences = [], nonwords = [] }, index) {
  const confidence = confidences[index];
  if (confidence === undefined) return;
  button.style.setProperty("--doubt", `${Math.round(100 * (1 - confidence))}%`);
  button.classList.add("estimated");
  button.classList.toggle("nonword", nonwords.includes(index));
  const share = `${Math.round(100 * confidence)} % likely to be right`;
  button.title = nonwords.includes(index) ? `${share}; not a word of the training data` : share;
}

/** Shows the reasons to doubt the translation of an answer, or none without one. */
export function showDoubt(answer) {
  byId("doubt").textContent = doubtText(answer?.alignment ?? {});
  byId("doubt").hidden = byId("doubt").textContent === "";
}

function startArriving(element, delay) {
  element.classList.add("arriving");
  element.style.animationDelay = `${delay}ms`;
}

/** Lets target words from `firstNew` on and their links appear in the drawing of links, `arriving` milliseconds apart. */
export function arrive(firstNew, arriving) {
  const { drawing } = views.links;
  if (arriving === 0 || !drawing || state.view === "matrix" || showsTokens()) return;
  drawing.words.target.forEach((word, index) => {
    if (index >= firstNew) startArriving(word, (index - firstNew) * arriving);
  });
  for (const { t, elements } of drawing.links) {
    if (t < firstNew) continue;
    for (const path of elements[0].querySelectorAll("path")) {
      path.setAttribute("pathLength", 1);
      startArriving(path, (t - firstNew) * arriving + 60);
    }
  }
}
