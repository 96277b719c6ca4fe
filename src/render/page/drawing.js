// Shared by both views. A drawing is a standalone <svg> with its own colors and fonts, so that it can be saved.

/** Fonts of words: common ones, then those that cover other scripts. */
const WORD_FONT = "'Source Serif 4', 'Noto Serif', Georgia, 'Times New Roman', 'Noto Serif Hebrew', 'Noto Naskh Arabic', " +
  "'Noto Serif Devanagari', 'Noto Serif CJK SC', 'DejaVu Serif', serif";
const NUMBER_FONT = "system-ui, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";
const WORD_SIZE = 18;
const NUMBER_SIZE = 11;
/** Maximum drawn characters of a word; the focused word is shown in full. */
const LONGEST_WORD = 36;

/** Colors of a drawing in the light and dark themes. */
const LIGHT = {
  paper: "#ffffff", ink: "#22262e", soft: "#6a7079", line: "#e2dfd8", accent: "#27609f",
  hit: "#0b7a5d", missed: "#bf3f0c", extra: "#8b3d9c",
};
const DARK = {
  paper: "#1b1e23", ink: "#e8e5de", soft: "#9ba2ad", line: "#343942", accent: "#86b7ee",
  hit: "#58c9a3", missed: "#ff9c6a", extra: "#d69ae6",
};

const SVG = "http://www.w3.org/2000/svg";

/** Sets attributes that are not undefined and appends children; strings become text nodes, never markup. */
function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

const ruler = document.createElement("canvas").getContext("2d");

/** Drawn width of a word. */
function wordWidth(word) {
  ruler.font = `${WORD_SIZE}px ${WORD_FONT}`;
  return ruler.measureText(word).width;
}

/** A word as drawn: truncated if very long. */
function drawn(word) {
  const letters = [...visible(word)];
  return letters.length > LONGEST_WORD ? `${letters.slice(0, LONGEST_WORD - 1).join("")}…` : letters.join("");
}

/** One side of a pair as drawn. */
function sideOf(matrix, side, wordOfPiece) {
  const texts = matrix[side].map(drawn);
  return {
    side, texts, wordOfPiece,
    rightToLeft: runsRightToLeft(matrix[side]),
    widths: texts.map(wordWidth),
    /** True if a piece continues the word of the previous piece. */
    continues: (index) => index > 0 && wordOfPiece !== undefined && wordOfPiece[index] === wordOfPiece[index - 1],
  };
}

/** Anchor of a text with this edge at its position; `start` is relative to the reading direction. */
function anchorAt(edge, rightToLeft) {
  if (edge === "middle") return "middle";
  return (edge === "left") !== rightToLeft ? "start" : "end";
}

/** Root element of a drawing. */
function canvas(width, height, label, { paper }, ...children) {
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
function wordElement({ side, index, text, full, x, y, edge, rightToLeft, box, share, turn, ink, size }, palette) {
  const direction = rightToLeft ? "rtl" : undefined;
  const place = turn ? { transform: `translate(${x} ${y}) rotate(${turn})` } : { x, y };
  const group = svg("g", {
    class: "word", role: "listitem", tabindex: index === 0 ? 0 : -1, "data-side": side, "data-index": index,
    "aria-label": full,
  });
  const area = turn ? { ...box, transform: `translate(${x} ${y}) rotate(${turn})` } : box;
  group.append(svg("rect", { class: "area", rx: 4, fill: palette.accent, "fill-opacity": 0, ...area }));
  group.append(svg("text", {
    ...place, direction, "text-anchor": anchorAt(edge, rightToLeft), fill: ink ?? palette.ink, "font-size": size,
  }, text));
  if (share) {
    group.append(svg("text", {
      class: "share", ...share, "font-family": NUMBER_FONT, "font-size": NUMBER_SIZE, fill: palette.accent,
    }));
  }
  return group;
}

/** The words of a side as one list. */
function wordList(side, words) {
  return svg("g", { role: "list", "aria-label": side === "source" ? "Source words" : "Target words" }, ...words);
}

/** Styles of link states: distinguished by a mark and a line style, never by color alone. */
const STATES = {
  hit: { color: "hit", mark: "disc", label: "hit, sure" },
  "hit-possible": { color: "hit", mark: "ring", label: "hit, possible" },
  missed: { color: "missed", mark: "diamond", dashes: "7 5", label: "missed" },
  extra: { color: "extra", mark: "cross", label: "extra" },
  possible: { color: "soft", mark: "dot", dashes: "1 5", label: "possible, not linked" },
};

/** A state's mark on a disc of the background color, so that it shows on any cell. */
function stateMark(state, x, y, palette) {
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

/** Label of a link for screen readers. */
function linkLabel(matrix, { s, t, weight, state }) {
  const words = `${visible(matrix.source[s])} – ${visible(matrix.target[t])}, ${percent(weight)}`;
  return state ? `${words}, ${STATES[state].label}` : words;
}

/** The partners of a word with their weights, heaviest first: `index` is null for the source's end. */
function partnersOf(matrix, side, index) {
  const partners = [];
  if (side === "source") {
    matrix.target.forEach((_, t) => partners.push({ index: t, weight: weightOf(matrix, index, t) }));
  } else {
    matrix.source.forEach((_, s) => partners.push({ index: s, weight: weightOf(matrix, s, index) }));
    partners.push({ index: null, weight: weightOf(matrix, matrix.source.length, index) });
  }
  return partners.filter(({ weight }) => weight >= 10).sort((a, b) => b.weight - a.weight);
}

/** A word with its partners, in one sentence. */
function wordLabel(matrix, side, index) {
  const other = side === "source" ? "target" : "source";
  const named = partnersOf(matrix, side, index)
    .slice(0, 4)
    .map((partner) => {
      const name = partner.index === null ? "end of sentence" : visible(matrix[other][partner.index]);
      return `${name} ${percent(partner.weight)}`;
    });
  return `${visible(matrix[side][index])}: ${named.join(", ") || "no partner"}`;
}
