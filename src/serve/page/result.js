// The result: words and drawings.

function showNothing() {
  [result, other, baseline, shownWords] = [null, null, null, []];
  showProblem("");
  at("output").replaceChildren();
  const note = () => html("p", { class: "empty" }, "Type a sentence above, and its words will be linked here.");
  for (const view of Object.values(views)) view.showNote(note());
  showSteering();
  showInspector();
  showComparison();
}

function showProblem(message) {
  at("problem").textContent = message.charAt(0).toUpperCase() + message.slice(1);
  at("problem").hidden = message === "";
}

/** Text of a word or token; an open box if it is only white space, so that there is something to click. */
function visibleWord(text) {
  return visible(text).trim() || "␣";
}

/** Shows a complete answer. New words appear one after the other, `arriving` milliseconds apart. */
function showResult(found, arriving) {
  if (isExample && found.alignment.unknown > 0.5) {
    // A model of another language: no example of ours.
    isExample = false;
    at("source").value = state.text = "";
    translate();
    return;
  }
  result = found;
  if (!isSteered()) baseline = { text: state.text, words: found.drawing.target };
  const last = found.trace.steps.length - 1;
  if (state.step !== null) state.step = Math.min(state.step, last);
  showWords(found.alignment.translation, found.drawing.target, arriving);
  drawAll();
  arrive(arriving);
  showSteering();
  showInspector();
  showComparison();
  announce(found.alignment.translation);
  performance.mark("translated");
}

let announcement = 0;

/** Tells screen readers the translation once typing rests. */
function announce(text) {
  clearTimeout(announcement);
  announcement = setTimeout(() => {
    at("announcer").textContent = text;
  }, 800);
}

/** Index of the first word that was not there before. */
let firstNew = 0;

/** Shows the words of the translation as buttons, with the text between them. */
function showWords(text, words, arriving) {
  const focused = document.activeElement?.closest?.("#output button")?.dataset.index;
  const changed = isSteered() && baseline ? changedRange(baseline.words, words) : null;
  const parts = wordParts(text, words, (word, index) => {
    const button = html("button", { type: "button", class: "target", "data-index": index }, visibleWord(word));
    button.classList.toggle("changed", changed !== null && index >= changed.first && index <= changed.last);
    button.classList.toggle("chosen", result !== null && index === wordOfStep());
    if (result !== null && words === result.drawing.target) shade(button, result.alignment, index);
    return button;
  });
  firstNew = changedRange(shownWords, words)?.first ?? words.length;
  shownWords = words;
  if (arriving > 0) {
    for (const button of parts) {
      const late = Number(button.dataset?.index) - firstNew;
      if (late >= 0) startArriving(button, late * arriving);
    }
  }
  at("output").replaceChildren(...parts);
  if (focused !== undefined) at("output").querySelector(`[data-index="${focused}"]`)?.focus();
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

/** A text cut into its words, each made an element by `element`, and what stands between them. */
function wordParts(text, words, element) {
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

function startArriving(element, delay) {
  element.classList.add("arriving");
  element.style.animationDelay = `${delay}ms`;
}

/** Lets new target words and their links appear in the drawing of links, one after the other. */
function arrive(arriving) {
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

// ---- Drawings

const showsTokens = () => state.pieces === "tokens";
const matrixOf = ({ drawing }) => (showsTokens() ? drawing.tokens : drawing);
const tokensOf = ({ drawing }) => (showsTokens()
  ? { source: drawing.tokens.source_words, target: drawing.tokens.target_words } : undefined);

function drawOne(matrix, pieces, links, kind, box, colors = palette()) {
  return (kind === "matrix" ? drawMatrix : drawLinks)(matrix, links, pieces, box.clientWidth, colors);
}

/** Minimum attention of a link between subwords, in thousandths. */
const MIN_TOKEN_ATTENTION = 400;

/** Links of an answer: those of the program for words, those of attention for subwords. */
function linksOfResult(found) {
  if (showsTokens()) return linksOf(found.drawing.tokens, MIN_TOKEN_ATTENTION);
  const { links, link_scores: scores } = found.alignment;
  return links.map(([s, t], index) => ({ s, t, weight: Math.round(scores[index] * 1000) }));
}

function show(view, found, kind) {
  const matrix = matrixOf(found);
  view.show(matrix, drawOne(matrix, tokensOf(found), linksOfResult(found), kind, view.box));
}

/** Draws the answers in the chosen views. */
function drawAll() {
  at("drag-hint").hidden = state.view === "links";
  at("matrix-figure").hidden = state.view !== "both";
  at("other-figure").hidden = state.compare === "";
  at("drawings").dataset.columns = 1 + (state.view === "both") + (state.compare !== "");
  if (!result) return;
  show(views.links, result, state.view === "matrix" ? "matrix" : "links");
  if (state.view === "both") show(views.matrix, result, "matrix");
  if (state.compare !== "" && other) show(views.other, other, state.view === "matrix" ? "matrix" : "links");
}

function redraw() {
  drawAll();
  showInspector();
  showComparison();
}

/** Marks the first difference between the translations that are compared. */
function showComparison() {
  const isShown = state.compare !== "" && result !== null && other !== null;
  for (const name of ["difference", "drawing-name", "own-output"]) at(name).hidden = !isShown;
  if (!isShown) return;
  const [ours, theirs] = [result.drawing.target, other.drawing.target];
  const range = changedRange(ours, theirs) ?? changedRange(theirs, ours);
  const first = range?.first ?? -1;
  at("drawing-name").textContent = choices[state.choice].label;
  at("other-name").textContent = otherLabel(Number(state.compare));
  for (const [name, found] of [["own-output", result], ["other-output", other]]) {
    at(name).replaceChildren(...wordParts(found.alignment.translation, found.drawing.target, (word, index) =>
      html("span", { class: index === first ? "differs" : "same" }, visibleWord(word))));
  }
  const name = (words) => (first < words.length ? `“${words[first]}”` : "the end");
  at("difference").textContent = first < 0 ? "Both translations are the same."
    : `The first difference is word ${first + 1}: ${visible(name(ours))} and ${visible(name(theirs))}.`;
  show(views.other, other, state.view === "matrix" ? "matrix" : "links");
}

const otherLabel = (choice) => (choice === state.choice ? `${choices[choice].label}, default search` : choices[choice].label);
