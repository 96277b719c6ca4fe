// The matrix view: a heatmap, source words across, target words down.

import { END, weightOf } from "./alignment.js";
import { svg } from "./dom.js";
import { isUncovered } from "./doubts.js";
import {
  canvas, EDGE, linkGroup, NUMBER_FONT, NUMBER_SIZE, sideOf, stateMark, STATES, WORD_SIZE, wordElement, wordLabel, wordList,
  wordWidth,
} from "./drawing.js";

/** Limits of the cell size; words scale with it. */
const LARGEST_CELL = 44;
const SMALLEST_CELL = 20;
/** Gap before the column of the source's end. */
const END_GAP = 10;
/** Angle of labels that are wider than their column, in degrees. */
const SLANT = -50;
const SLANT_RADIANS = (SLANT * Math.PI) / 180;
/** Minimum size of cells with numbers. */
const NUMBERED_CELL = 26;

/** Height of a rotated label. */
function rise(width) {
  return -Math.sin(SLANT_RADIANS) * width + Math.cos(SLANT_RADIANS) * WORD_SIZE;
}

/** Width of a rotated label. */
function overhang(width) {
  return Math.cos(SLANT_RADIANS) * width + 6;
}

/** Layout of a heatmap. */
function matrixLayout(sides, available) {
  const [source, target] = sides;
  const endWidth = wordWidth(END);
  const margin = EDGE + Math.max(...target.widths, 30) + 12;
  const columns = source.texts.length;
  const free = available - margin - END_GAP - EDGE - overhang(endWidth);
  const cell = Math.floor(Math.min(LARGEST_CELL, Math.max(SMALLEST_CELL, free / (columns + 1))));
  const size = Math.min(WORD_SIZE, Math.max(12, Math.round(cell * 0.6)));
  const widest = Math.max(...source.widths, endWidth) * (size / WORD_SIZE);
  const slanted = widest > cell - 6;
  const top = EDGE + (slanted ? Math.ceil(rise(widest)) + 14 : 30);
  const xOf = (s) => margin + s * cell + (s < columns ? 0 : END_GAP);
  const yOf = (t) => top + t * cell;
  const beyond = (s, width) => xOf(s) + (slanted ? cell / 2 + overhang(width * (size / WORD_SIZE)) : cell);
  const labelEnds = [...source.widths, endWidth].map((width, s) => beyond(s, width));
  const right = Math.max(...labelEnds, xOf(columns) + cell);
  return {
    cell, size, margin, top, slanted, xOf, yOf, columns, rows: target.texts.length,
    width: right + EDGE, height: yOf(Math.max(target.texts.length, 1)) + EDGE,
  };
}

/** Lines between cells: lighter within words of several tokens. */
function gridLines(sides, layout, palette) {
  const { cell, columns, rows, xOf, yOf } = layout;
  if (rows === 0) return [];
  const lines = { between: [], within: [] };
  const end = [xOf(columns), xOf(columns) + cell];
  const blocks = columns > 0 ? [[xOf(0), xOf(columns - 1) + cell], end] : [end];
  for (let t = 0; t <= rows; t += 1) {
    const kind = t < rows && sides[1].continues(t) ? "within" : "between";
    for (const [left, right] of blocks) lines[kind].push(`M${left} ${yOf(t)}H${right}`);
  }
  for (let s = 0; s < columns; s += 1) {
    lines[sides[0].continues(s) ? "within" : "between"].push(`M${xOf(s)} ${yOf(0)}V${yOf(rows)}`);
  }
  for (const x of [blocks[0][1], xOf(columns), xOf(columns) + cell]) lines.between.push(`M${x} ${yOf(0)}V${yOf(rows)}`);
  const path = (kind, opacity) => svg("path", {
    d: lines[kind].join(""), fill: "none", stroke: palette.line, "stroke-opacity": opacity,
  });
  return [path("within", 0.45), path("between", 1)];
}

/** Placeholder of a matrix without rows. */
function noRows({ rows, top, width }, palette) {
  if (rows > 0) return [];
  const note = { fill: palette.soft, "font-style": "italic", "font-size": 15, "text-anchor": "middle" };
  return [svg("text", { x: width / 2, y: top + 20, ...note }, "no target words")];
}

/** A cell for every visible weight. */
function cellElements(matrix, { cell, columns, rows, xOf, yOf }, palette) {
  const cells = [];
  for (let t = 0; t < rows; t += 1) {
    for (let s = 0; s <= columns; s += 1) {
      const weight = weightOf(matrix, s, t);
      if (weight < 5) continue;
      cells.push(svg("rect", {
        class: "cell", x: xOf(s) + 1, y: yOf(t) + 1, width: cell - 2, height: cell - 2, rx: 2,
        fill: s < columns ? palette.accent : palette.soft, "fill-opacity": weight / 1000,
      }));
    }
  }
  return svg("g", { "aria-hidden": "true" }, ...cells);
}

/** Mark of a link: a frame around its cell, or its state against gold. */
function matrixLink(matrix, link, { cell, xOf, yOf }, palette) {
  const frame = svg("rect", {
    x: xOf(link.s) + 1.5, y: yOf(link.t) + 1.5, width: cell - 3, height: cell - 3, rx: 2, fill: "none",
    stroke: link.state ? palette[STATES[link.state].color] : palette.ink, "stroke-width": 1.6,
    "stroke-dasharray": STATES[link.state]?.dashes && "3 3",
  });
  const parts = [frame];
  if (link.state) parts.push(stateMark(link.state, xOf(link.s) + cell / 2, yOf(link.t) + cell / 2, palette));
  return linkGroup(matrix, link, ...parts);
}

/** The words of both sides, and the label of the source's end. */
function matrixWords(matrix, [source, target], layout, palette) {
  const { cell, size, margin, top, slanted, xOf, yOf, columns } = layout;
  const drawnWidth = (side, index) => side.widths[index] * (size / WORD_SIZE);
  const across = (index, width) => ({
    x: xOf(index) + cell / 2 + (slanted ? 5 : 0), y: top - 10, edge: slanted ? "left" : "middle",
    turn: slanted ? SLANT : undefined,
    box: slanted ? { x: -4, y: -WORD_SIZE, width: width + 8, height: WORD_SIZE + 6 }
      : { x: xOf(index), y: top - 32, width: cell, height: 30 },
  });
  const sourceWords = source.texts.map((text, index) => wordElement({
    side: "source", index, text, full: wordLabel(matrix, "source", index), rightToLeft: source.rightToLeft, size,
    ink: isUncovered(matrix, "source", index) ? palette.soft : palette.ink,
    ...across(index, drawnWidth(source, index)),
  }, palette));
  const targetWords = target.texts.map((text, index) => wordElement({
    side: "target", index, text, full: wordLabel(matrix, "target", index), rightToLeft: target.rightToLeft, size,
    x: margin - 10, y: yOf(index) + cell / 2 + size / 3, edge: "right",
    box: {
      x: margin - 16 - drawnWidth(target, index), y: yOf(index) + 1, width: drawnWidth(target, index) + 12, height: cell - 2,
    },
  }, palette));
  const { x, y, turn } = across(columns, 0);
  const end = svg("text", {
    fill: palette.soft, "text-anchor": turn ? "start" : "middle", "font-size": Math.min(15, size),
    ...(turn ? { transform: `translate(${x} ${y}) rotate(${turn})` } : { x, y }),
  }, END);
  return { sourceWords, targetWords, end };
}

/** The numbers of a word's column or row, with a frame around them. */
function weightsAlong(matrix, side, index, { cell, columns, rows, xOf, yOf }, palette) {
  const cells = side === "source" ? matrix.target.map((_, t) => [index, t])
    : Array.from({ length: columns + 1 }, (_, s) => [s, index]);
  if (cells.length === 0) return [];
  const band = side === "source" ? { x: xOf(index), y: yOf(0), width: cell, height: rows * cell }
    : { x: xOf(0), y: yOf(index), width: xOf(columns) + cell - xOf(0), height: cell };
  const shown = [svg("rect", { ...band, fill: "none", stroke: palette.accent, "stroke-width": 2, rx: 3 })];
  if (cell < NUMBERED_CELL) return shown;
  for (const [s, t] of cells) {
    const weight = weightOf(matrix, s, t);
    if (weight < 10) continue;
    shown.push(svg("text", {
      x: xOf(s) + cell / 2, y: yOf(t) + cell / 2 + 4, "text-anchor": "middle", "font-family": NUMBER_FONT,
      "font-size": NUMBER_SIZE + 1, fill: weight > 550 && s < columns ? palette.paper : palette.ink,
    }, `${Math.round(weight / 10)}`));
  }
  return shown;
}

/** Cell at a point of a heatmap, or null; `s` may be the source's end. */
function cellAt({ cell, columns, rows, xOf, yOf }, x, y) {
  const t = Math.floor((y - yOf(0)) / cell);
  const s = x >= xOf(columns) ? (x < xOf(columns) + cell ? columns : -1) : Math.floor((x - xOf(0)) / cell);
  return t >= 0 && t < rows && s >= 0 && (s < columns || x >= xOf(columns)) ? { s, t } : null;
}

/** Draws a matrix. Takes and returns the same as `drawLinks`, and returns `cellAt` with `cellBox`, its inverse. */
export function drawMatrix(matrix, links, wordOfToken, available, palette) {
  const sides = ["source", "target"].map((side) => sideOf(matrix, side, wordOfToken?.[side]));
  const layout = matrixLayout(sides, available);
  const { sourceWords, targetWords, end } = matrixWords(matrix, sides, layout, palette);
  const shown = links.map((link) => ({ ...link, elements: [matrixLink(matrix, link, layout, palette)] }));
  const marks = svg("g", { role: "list", "aria-label": "Links" }, ...shown.flatMap(({ elements }) => elements));
  const soft = svg("g", { class: "soft", "aria-hidden": "true" });
  const element = canvas(layout.width, layout.height, "Weights of source words for each target word", palette,
    ...gridLines(sides, layout, palette), cellElements(matrix, layout, palette), marks, soft,
    wordList("source", sourceWords), wordList("target", targetWords), end, ...noRows(layout, palette));
  return {
    element, words: { source: sourceWords, target: targetWords }, links: shown,
    rightToLeft: { source: false, target: false }, numbered: layout.cell >= NUMBERED_CELL,
    cellAt: (x, y) => cellAt(layout, x, y),
    cellBox: ({ s, t }) => ({ x: layout.xOf(s) + 1, y: layout.yOf(t) + 1, width: layout.cell - 2, height: layout.cell - 2 }),
    preview(side, index) {
      soft.replaceChildren(...weightsAlong(matrix, side, index, layout, palette));
    },
    forget() {
      soft.replaceChildren();
    },
  };
}
