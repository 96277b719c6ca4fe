// The links view: two rows of words with curves between them, or two columns where the rows would not fit.

import { partnersOf } from "./alignment.js";
import { svg } from "./dom.js";
import { isUncovered } from "./doubts.js";
import { canvas, EDGE, linkGroup, sideOf, stateMark, STATES, wordElement, wordLabel, wordList } from "./drawing.js";

/** Gaps between words: the wider if it fits. */
const WORD_GAPS = [34, 20];
/** Gap between tokens of one word. */
const TOKEN_GAP = 5;
/** Minimum distance between centers of marks. */
const MARK_GAP = 15;
const ROW_HEIGHT = 34;
/** Maximum words of a column with regular spacing. */
const LONG_COLUMN = 20;
const DENSE_ROW_HEIGHT = 27;
/** Width of the weight beside a word. */
const SHARE_ROOM = 40;

/** Left edges of a side's words in a row, in the direction of the script. */
function rowLayout(side, gap) {
  let end = 0;
  const begins = side.texts.map((_, index) => {
    if (index > 0) end += side.continues(index) ? TOKEN_GAP : gap;
    const begin = end;
    end += side.widths[index];
    return begin;
  });
  const lefts = side.rightToLeft ? begins.map((begin, index) => end - begin - side.widths[index]) : begins;
  return { lefts, width: end };
}

/** Layout in two rows: positions of each side's words and ends of the curves. */
function inRows(sides, gap) {
  const rows = sides.map((side) => rowLayout(side, gap));
  const width = Math.max(...rows.map((row) => row.width), 120);
  const height = Math.min(190, Math.max(96, width * 0.2));
  const tops = [EDGE + 18, EDGE + 18 + ROW_HEIGHT + height];
  const words = sides.map((side, which) => side.texts.map((_, index) => {
    const left = EDGE + (width - rows[which].width) / 2 + rows[which].lefts[index];
    const middle = left + side.widths[index] / 2;
    const top = tops[which];
    return {
      x: middle, y: top + 23, edge: "middle",
      box: { x: left - 6, y: top, width: side.widths[index] + 12, height: ROW_HEIGHT },
      share: { x: middle, y: which === 0 ? top - 5 : top + ROW_HEIGHT + 13, "text-anchor": "middle" },
      end: { x: middle, y: which === 0 ? top + ROW_HEIGHT + 1 : top - 1 },
    };
  }));
  return { words, width: width + 2 * EDGE, height: tops[1] + ROW_HEIGHT + EDGE + 8, upright: true };
}

/** Layout in two columns, within `available` if the words' widths allow. */
function inColumns(sides, available) {
  const [left, right] = sides.map((side) => Math.max(...side.widths, 30));
  const fixed = left + right + 2 * (EDGE + SHARE_ROOM);
  const between = Math.min(260, Math.max(70, available - fixed));
  const rows = Math.max(...sides.map((side) => side.texts.length), 1);
  const rowHeight = rows > LONG_COLUMN ? DENSE_ROW_HEIGHT : ROW_HEIGHT;
  const edges = [EDGE + SHARE_ROOM + left, EDGE + SHARE_ROOM + left + between];
  const words = sides.map((side, which) => side.texts.map((_, index) => {
    // The shorter side is spread out, so that curves stay flat.
    const step = (rows * rowHeight) / side.texts.length;
    const middle = EDGE + (index + 0.5) * step;
    const [x, width] = [edges[which], side.widths[index]];
    const start = which === 0 ? x - width : x;
    return {
      x, y: middle + 6, edge: which === 0 ? "right" : "left",
      box: { x: start - 6, y: middle - rowHeight / 2 + 1, width: width + 12, height: rowHeight - 2 },
      share: {
        x: which === 0 ? start - 10 : start + width + 10, y: middle + 5,
        "text-anchor": which === 0 ? "end" : "start",
      },
      end: { x: which === 0 ? x + 8 : x - 8, y: middle },
    };
  }));
  return { words, width: fixed + between, height: rows * rowHeight + 2 * EDGE, upright: false };
}

/** Rows if they fit, else columns. */
function layoutOf(sides, available) {
  const rows = WORD_GAPS.map((gap) => inRows(sides, gap));
  return rows.find(({ width }) => width <= available) ?? inColumns(sides, available);
}

/** The curve between two ends. */
function curveBetween(from, to, upright) {
  const [middleX, middleY] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const controls = upright ? [from.x, middleY, to.x, middleY] : [middleX, from.y, middleX, to.y];
  return [from.x, from.y, ...controls, to.x, to.y].map((number) => Math.round(number * 10) / 10);
}

/** Point of a cubic Bézier curve at parameter `part`. */
function pointAt([x0, y0, x1, y1, x2, y2, x3, y3], part) {
  const rest = 1 - part;
  const mix = (a, b, c, d) => rest ** 3 * a + 3 * rest ** 2 * part * b + 3 * rest * part ** 2 * c + part ** 3 * d;
  return [mix(x0, x1, x2, x3), mix(y0, y1, y2, y3)];
}

/** First free point of a curve for a mark, from the target word on; appends it to `occupied`. */
function freePoint(curve, occupied) {
  const points = [0.86, 0.7, 0.56, 0.42, 0.28, 0.14].map((part) => pointAt(curve, part));
  const isFree = ([x, y]) => occupied.every((mark) => Math.hypot(x - mark[0], y - mark[1]) > MARK_GAP);
  const point = points.find(isFree) ?? points[0];
  occupied.push(point);
  return point;
}

/** A curve whose width and opacity show the link's weight. */
function linkElement(curve, { weight, state }, palette) {
  const { color = "accent", dashes } = STATES[state] ?? {};
  const [x0, y0, ...rest] = curve;
  // Missed links may have hardly any weight but must be visible.
  const share = state === "missed" ? Math.max(weight, 500) / 1000 : weight / 1000;
  return svg("path", {
    d: `M${x0} ${y0}C${rest.join(" ")}`, fill: "none", stroke: palette[color], "stroke-linecap": "round",
    "stroke-width": (1 + 3.5 * share).toFixed(2), "stroke-opacity": (0.3 + 0.6 * share).toFixed(2),
    "stroke-dasharray": dashes,
  });
}

/** Lines along words of several tokens. */
function wordBraces(sides, layout, palette) {
  const braces = svg("g", { stroke: palette.soft, "aria-hidden": "true" });
  sides.forEach((side, which) => {
    side.texts.forEach((_, index) => {
      if (!side.continues(index)) return;
      const boxes = [layout.words[which][index - 1].box, layout.words[which][index].box];
      if (layout.upright) {
        const y = Math.round(boxes[0].y) + (which === 0 ? 0.5 : ROW_HEIGHT - 0.5);
        const left = Math.min(...boxes.map(({ x }) => x)) + 6;
        const right = Math.max(...boxes.map(({ x, width }) => x + width)) - 6;
        braces.append(svg("path", { d: `M${left} ${y}H${right}` }));
      } else {
        const x = which === 0 ? layout.words[0][0].x + 3 : layout.words[1][0].x - 3;
        braces.append(svg("path", { d: `M${x} ${boxes[0].y + 5}V${boxes[1].y + boxes[1].height - 5}` }));
      }
    });
  });
  return braces;
}

/** Placeholder of a side without words. */
function emptySides(sides, layout, palette) {
  return sides.flatMap((side, which) => {
    if (side.texts.length > 0) return [];
    const position = layout.upright
      ? { x: layout.width / 2, y: which === 0 ? EDGE + 41 : layout.height - EDGE - 19, "text-anchor": "middle" }
      : { x: which === 0 ? EDGE : layout.width - EDGE, y: EDGE + 20, "text-anchor": which === 0 ? "start" : "end" };
    const text = `no ${side.side} words`;
    return [svg("text", { ...position, fill: palette.soft, "font-style": "italic", "font-size": 15 }, text)];
  });
}

/**
 * Draws the links of a matrix. `wordOfToken` holds the word of each token by side; it is undefined if words are drawn. Returns
 * the `element`, its `words` by side, its `links`, each with its `elements`, and `preview` and `forget`, which show and hide a
 * word's weights without a link.
 */
export function drawLinks(matrix, links, wordOfToken, available, palette) {
  const sides = ["source", "target"].map((side) => sideOf(matrix, side, wordOfToken?.[side]));
  const layout = layoutOf(sides, available);
  const proposed = links.filter(({ state }) => state !== "missed" && state !== "possible");
  const linked = [new Set(proposed.map(({ s }) => s)), new Set(proposed.map(({ t }) => t))];
  const words = sides.map((side, which) => side.texts.map((text, index) => wordElement({
    side: side.side, index, text, full: wordLabel(matrix, side.side, index), rightToLeft: side.rightToLeft,
    ink: linked[which].has(index) && !isUncovered(matrix, side.side, index) ? palette.ink : palette.soft,
    ...layout.words[which][index],
  }, palette)));
  const curveOf = ({ s, t }) => curveBetween(layout.words[0][s].end, layout.words[1][t].end, layout.upright);
  const marked = [];
  const shown = links.map((link) => {
    const curve = curveOf(link);
    const group = linkGroup(matrix, link, linkElement(curve, link, palette));
    if (!link.state) return { ...link, elements: [group] };
    const mark = svg("g", { class: "link-mark" }, stateMark(link.state, ...freePoint(curve, marked), palette));
    return { ...link, elements: [group, mark] };
  });
  // Links of low weight are drawn first, all marks last.
  const curves = svg("g", { role: "list", "aria-label": "Links" });
  for (const { elements } of [...shown].sort((a, b) => a.weight - b.weight)) curves.append(elements[0]);
  const marks = svg("g", {}, ...shown.flatMap(({ elements }) => elements.slice(1)));
  const soft = svg("g", { class: "soft", "aria-hidden": "true" });
  const element = canvas(layout.width, layout.height, "Links between source and target words", palette,
    wordBraces(sides, layout, palette), soft, curves, marks,
    ...sides.map((side, which) => wordList(side.side, words[which])), ...emptySides(sides, layout, palette));
  const known = new Set(shown.map(({ s, t }) => `${s}-${t}`));
  return {
    element, words: { source: words[0], target: words[1] }, links: shown, rightToLeft: sideFlags(sides, layout),
    preview(side, index) {
      soft.replaceChildren(...partnersOf(matrix, side, index)
        .filter((partner) => partner.index !== null)
        .map(({ index: partner, weight }) => ({
          s: side === "source" ? index : partner, t: side === "source" ? partner : index, weight,
        }))
        .filter(({ s, t }) => !known.has(`${s}-${t}`))
        .map((link) => softCurve(curveOf(link), link, palette)));
    },
    forget() {
      soft.replaceChildren();
    },
  };
}

/** Sides that run from right to left on the page, for the arrow keys; columns run downwards. */
function sideFlags([source, target], { upright }) {
  return { source: upright && source.rightToLeft, target: upright && target.rightToLeft };
}

/** Dashed curve of a weight without a link. */
function softCurve(curve, link, palette) {
  const element = linkElement(curve, link, palette);
  element.setAttribute("stroke-dasharray", "2 4");
  return element;
}
