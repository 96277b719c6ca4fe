// Shared by both views. A drawing is a standalone <svg> with its own colors and fonts, so that it can be saved.

import { opposite, partnersOf, percent, runsRightToLeft, visible } from "./alignment.js";
import { SVG, svg } from "./dom.js";
import { isUncovered } from "./doubts.js";

/** Fonts of words: common ones, then those that cover other scripts. */
export const WORD_FONT = "'Source Serif 4', 'Noto Serif', Georgia, 'Times New Roman', 'Noto Serif Hebrew', " +
  "'Noto Naskh Arabic', 'Noto Serif Devanagari', 'Noto Serif CJK SC', 'DejaVu Serif', serif";
/** Fonts of numbers. */
export const NUMBER_FONT = "system-ui, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";
/** Font size of words. */
export const WORD_SIZE = 18;
/** Font size of numbers. */
export const NUMBER_SIZE = 11;
/** Margin of a drawing. */
export const EDGE = 16;
/** Maximum drawn characters of a word; the focused word is shown in full. */
const LONGEST_WORD = 36;

const ruler = document.createElement("canvas").getContext("2d");

/** Drawn width of a text in a font of CSS. */
export function textWidth(text, font) {
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** Drawn width of a word. */
export function wordWidth(word) {
  return textWidth(word, `${WORD_SIZE}px ${WORD_FONT}`);
}

/** A word as drawn: truncated if very long. */
function drawn(word) {
  const letters = [...visible(word)];
  return letters.length > LONGEST_WORD ? `${letters.slice(0, LONGEST_WORD - 1).join("")}…` : letters.join("");
}

/** One side of a pair as drawn. `wordOfToken` holds the word of each token, and is undefined if words are drawn. */
export function sideOf(matrix, side, wordOfToken) {
  const texts = matrix[side].map(drawn);
  return {
    side, texts,
    rightToLeft: runsRightToLeft(matrix[side]),
    widths: texts.map(wordWidth),
    /** True if a token continues the word of the previous token. */
    continues: (index) => index > 0 && wordOfToken !== undefined && wordOfToken[index] === wordOfToken[index - 1],
  };
}

/** Anchor of a text with this edge at its position; `start` is relative to the reading direction. */
function anchorAt(edge, rightToLeft) {
  if (edge === "middle") return "middle";
  return (edge === "left") !== rightToLeft ? "start" : "end";
}

/** Root element of a drawing. */
export function canvas(width, height, label, { paper }, ...children) {
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  return svg("svg", {
    xmlns: SVG, ...size, viewBox: `0 0 ${size.width} ${size.height}`,
    role: "group", "aria-label": label, "font-family": WORD_FONT, "font-size": WORD_SIZE,
  }, svg("rect", { ...size, fill: paper, class: "paper" }), ...children);
}

/**
 * A focusable word. `box` is its pointer area, `share` the position of its weight while a partner has the focus, `turn` the
 * angle of rotated words and `size` the font size.
 */
export function wordElement({ side, index, text, full, x, y, edge, rightToLeft, box, share, turn, ink, size }, palette) {
  const direction = rightToLeft ? "rtl" : undefined;
  const position = turn ? { transform: `translate(${x} ${y}) rotate(${turn})` } : { x, y };
  const area = turn ? { ...box, ...position } : box;
  const group = svg("g", {
    class: "word", role: "listitem", tabindex: index === 0 ? 0 : -1, "data-side": side, "data-index": index,
    "aria-label": full,
  });
  group.append(svg("rect", { class: "area", rx: 4, fill: palette.accent, "fill-opacity": 0, ...area }));
  group.append(svg("text", {
    ...position, direction, "text-anchor": anchorAt(edge, rightToLeft), fill: ink ?? palette.ink, "font-size": size,
  }, text));
  if (share) {
    group.append(svg("text", {
      class: "share", ...share, "font-family": NUMBER_FONT, "font-size": NUMBER_SIZE, fill: palette.accent,
    }));
  }
  return group;
}

/** The words of a side as one list. */
export function wordList(side, words) {
  return svg("g", { role: "list", "aria-label": side === "source" ? "Source words" : "Target words" }, ...words);
}

/** Styles of link states: distinguished by a mark and a line style, never by color alone. */
export const STATES = {
  hit: { color: "hit", mark: "disc", label: "hit, sure" },
  "hit-possible": { color: "hit", mark: "ring", label: "hit, possible" },
  missed: { color: "missed", mark: "diamond", dashes: "7 5", label: "missed" },
  extra: { color: "extra", mark: "cross", label: "extra" },
  possible: { color: "soft", mark: "dot", dashes: "1 5", label: "possible, not linked" },
};

/** A state's mark on a disc of the background color, so that it shows on any cell. */
export function stateMark(state, x, y, palette) {
  const { color, mark } = STATES[state];
  const stroke = palette[color];
  const lines = { stroke, "stroke-width": 1.8, fill: "none", "stroke-linecap": "round" };
  const shapes = {
    disc: () => svg("circle", { cx: x, cy: y, r: 4.2, fill: stroke }),
    ring: () => svg("circle", { cx: x, cy: y, r: 3.8, ...lines }),
    diamond: () => svg("path", { d: `M${x} ${y - 5}l5 5l-5 5l-5 -5z`, ...lines }),
    cross: () => svg("path", { d: `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`, ...lines }),
    dot: () => svg("circle", { cx: x, cy: y, r: 2.2, ...lines, "stroke-width": 1.2 }),
  };
  return svg("g", { class: "mark" }, svg("circle", { cx: x, cy: y, r: 7.5, fill: palette.paper }), shapes[mark]());
}

/** A link's element, described for screen readers and programs. */
export function linkGroup(matrix, { s, t, weight, state }, ...children) {
  const words = `${visible(matrix.source[s])} – ${visible(matrix.target[t])}, ${percent(weight)}`;
  return svg("g", {
    class: "link", role: "listitem", "aria-label": state ? `${words}, ${STATES[state].label}` : words,
    "data-source": s, "data-target": t, "data-weight": weight, "data-state": state,
  }, ...children);
}

/** A word with its partners, in one sentence. */
export function wordLabel(matrix, side, index) {
  const named = partnersOf(matrix, side, index)
    .slice(0, 4)
    .map((partner) => {
      const name = partner.index === null ? "end of sentence" : visible(matrix[opposite(side)][partner.index]);
      return `${name} ${percent(partner.weight)}`;
    });
  const doubt = isUncovered(matrix, side, index) ? ", may be left out" : "";
  return `${visible(matrix[side][index])}${doubt}: ${named.join(", ") || "no partner"}`;
}
