// Drawings of the answers.

import { linksOf } from "../../render/page/alignment.js";
import { byId, html } from "../../render/page/dom.js";
import { drawLinks } from "../../render/page/links.js";
import { drawMatrix } from "../../render/page/matrix.js";
import { currentPalette } from "../../render/page/theme.js";
import { AlignmentView } from "../../render/page/view.js";
import { showsTokens, state } from "./state.js";

/** Drawings on the page: the chosen one, the matrix beside the links, and that of the other model. */
export const views = {
  links: new AlignmentView(byId("drawing"), byId("readout")),
  matrix: new AlignmentView(byId("matrix-drawing"), html("div")),
  comparison: new AlignmentView(byId("comparison-drawing"), byId("comparison-readout")),
};

views.links.siblingView = views.matrix;
views.matrix.siblingView = views.links;

/** Minimum attention of a link between tokens, in thousandths. */
const MIN_TOKEN_ATTENTION = 400;

/** Matrix of an answer, by words or by tokens. */
export function matrixOf({ drawing }) {
  return showsTokens() ? drawing.tokens : drawing;
}

/** Links of an answer: those of the program for words, those of attention for tokens. */
function linksOfAnswer({ alignment, drawing }) {
  if (showsTokens()) return linksOf(drawing.tokens, MIN_TOKEN_ATTENTION);
  const { links, link_scores: scores } = alignment;
  return links.map(([s, t], index) => ({ s, t, weight: Math.round(scores[index] * 1000) }));
}

/** Draws an answer as `links` or as a `matrix`, to fit into a view. */
export function drawAnswer(answer, kind, view, palette = currentPalette()) {
  const { tokens } = answer.drawing;
  const wordOfToken = showsTokens() ? { source: tokens.source_words, target: tokens.target_words } : undefined;
  const draw = kind === "matrix" ? drawMatrix : drawLinks;
  return draw(matrixOf(answer), linksOfAnswer(answer), wordOfToken, view.box.clientWidth, palette);
}

/** The kind of drawing in the views of links and of the comparison. */
export function drawingKind() {
  return state.view === "matrix" ? "matrix" : "links";
}

/** Draws the links of a matrix between words, all that it has. */
export function showPartialLinks(matrix) {
  const links = linksOf(matrix, 0);
  views.links.show(matrix, drawLinks(matrix, links, undefined, views.links.box.clientWidth, currentPalette()));
}

/** Draws the answer of the other model. */
export function showComparisonDrawing() {
  show(views.comparison, state.comparison, drawingKind());
}

function show(view, answer, kind) {
  view.show(matrixOf(answer), drawAnswer(answer, kind, view));
}

/** Draws the answers in the chosen views. */
export function drawAll() {
  const { result, comparison } = state;
  const [showsBoth, compares] = [state.view === "both", state.comparedIndex !== null];
  byId("drag-hint").hidden = state.view === "links";
  byId("matrix-figure").hidden = !showsBoth;
  byId("comparison-figure").hidden = !compares;
  byId("drawings").dataset.columns = 1 + showsBoth + compares;
  if (!result) return;
  show(views.links, result, drawingKind());
  if (showsBoth) show(views.matrix, result, "matrix");
  if (compares && comparison) showComparisonDrawing();
}
