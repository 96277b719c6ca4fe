// The shown pair: its drawing, measures and legend.

import { linksOf, visible } from "./alignment.js";
import { byId, html, saveDrawing, svg } from "./dom.js";
import { doubtText } from "./doubts.js";
import { stateMark, STATES } from "./drawing.js";
import { drawLinks } from "./links.js";
import { drawMatrix } from "./matrix.js";
import { DATA, linksAgainstGold, measured, MEASURES, numberOf } from "./model.js";
import { showsGold, shownMatrix, shownPair, showsTokens, state } from "./state.js";
import { currentPalette, LIGHT } from "./theme.js";
import { AlignmentView } from "./view.js";

/** The drawing of the shown pair on the page. */
export const view = new AlignmentView(byId("drawing"), byId("readout"));

/** Draws the shown pair in the selected view. */
function drawPair(palette) {
  const [pair, matrix] = [shownPair(), shownMatrix()];
  const wordOfToken = showsTokens() ? { source: matrix.source_words, target: matrix.target_words } : undefined;
  const links = linksOf(matrix, state.threshold);
  const compared = showsGold() ? linksAgainstGold(matrix, links, pair.gold) : links;
  return (state.view === "links" ? drawLinks : drawMatrix)(matrix, compared, wordOfToken, view.box.clientWidth, palette);
}

/** Redraws. */
export function draw() {
  if (shownPair()) view.show(shownMatrix(), drawPair(currentPalette()));
  else view.showNote(emptyNote());
  showMeasures();
  showLegend();
  byId("gold").disabled = showsTokens();
  byId("gold-switch").title = showsTokens() ? "Gold alignments are between words" : "";
}

/** Placeholder of a drawing. */
function emptyNote() {
  if (DATA.pairs.length === 0) return html("p", { class: "empty" }, "There are no sentence pairs in this file.");
  return html("div", { class: "empty" }, html("p", {}, "No pair matches the search and the filters."),
    html("button", { type: "button", class: "clear" }, "Clear search and filters"));
}

/** Shows the translation; on a training page, the model's own beside the forced reference. */
export function showTranslation() {
  const pair = shownPair();
  const said = pair?.said === undefined ? null : `The model says: ${pair.said || "nothing"}`;
  byId("translation").textContent = visible(pair?.translation ?? said ?? "");
  byId("translation").hidden = !pair?.translation && said === null;
  byId("doubt").textContent = doubtText(pair ?? {});
  byId("doubt").hidden = byId("doubt").textContent === "";
}

/** A measure of a pair as text. */
export function measureText(measure, pairIndex) {
  const value = measured(measure, pairIndex, state.threshold);
  return value === null ? "–" : value.toFixed(measure.digits).replace("-", "\u2212");
}

function showMeasures() {
  const items = shownPair() ? MEASURES.map((measure) => html("div", { title: `${measure.label}. ${measure.about}` },
    html("dt", {}, measure.short), html("dd", {}, measureText(measure, state.pairIndex)))) : [];
  byId("measures").replaceChildren(...items);
}

/** Sample of a link state with its name. */
function legendItem(key, palette) {
  const { color, dashes, label } = STATES[key];
  const line = { d: "M2 9H34", stroke: palette[color], "stroke-width": 2.4, "stroke-dasharray": dashes };
  const parts = [svg("path", line), stateMark(key, 18, 9, palette)];
  return html("span", {}, svg("svg", { width: 36, height: 18, "aria-hidden": "true" }, ...parts), label);
}

function showLegend() {
  const palette = currentPalette();
  const keys = view.drawing && showsGold() ? Object.keys(STATES) : [];
  byId("legend").replaceChildren(...keys.map((key) => legendItem(key, palette)));
}

/** Saves the shown drawing on light paper, without highlights. */
export function savePair() {
  if (!shownPair()) return;
  saveDrawing(drawPair(LIGHT).element, `softalign-${numberOf(shownPair())}-${state.view}.svg`);
}
