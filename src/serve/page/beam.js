// The beam as a tree: steps from left to right, the translation on top.

import { svg } from "../../render/page/dom.js";
import { canvas, EDGE, NUMBER_FONT, NUMBER_SIZE, textWidth, WORD_FONT } from "../../render/page/drawing.js";
import { tokenLabel } from "./labels.js";

/** Font size of labels. */
const TREE_SIZE = 15;
const TREE_ROW = 26;
/** Minimum gap between the labels of two steps. */
const TREE_GAP = 30;
/** Width of the score behind a complete hypothesis. */
const SCORE_ROOM = 46;
/** Maximum number of hypotheses drawn with those that were dropped. */
const MANY_NODES = 400;

/** Drawn width of a node's label; those of the translation are bold. */
function labelWidth(node) {
  return textWidth(tokenLabel(node), `${node.best ? 600 : 400} ${TREE_SIZE}px ${WORD_FONT}`);
}

/** Indices of the shown children of each node, best first; those of the root are at null. */
function childrenOf(nodes) {
  const children = new Map();
  nodes.forEach(({ parent, hidden }, index) => {
    if (hidden) return;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(index);
  });
  for (const list of children.values()) {
    list.sort((a, b) => nodes[b].best - nodes[a].best || nodes[b].log_probability - nodes[a].log_probability);
  }
  return children;
}

/** Rows of the nodes and left edges of the steps. A child follows its parent, the best ones on top. */
function treeLayout(nodes) {
  const children = childrenOf(nodes);
  const widths = [];
  const rows = new Array(nodes.length).fill(0);
  let row = -1;
  const stack = [...(children.get(null) ?? [])].reverse().map((index) => [index, true]);
  while (stack.length > 0) {
    const [index, opensRow] = stack.pop();
    if (opensRow) row += 1;
    rows[index] = row;
    const { step } = nodes[index];
    widths[step] = Math.max(widths[step] ?? 0, labelWidth(nodes[index]));
    const list = children.get(index) ?? [];
    for (let rank = list.length - 1; rank >= 0; rank -= 1) stack.push([list[rank], rank > 0]);
  }
  const lefts = [EDGE + 14];
  widths.forEach((width, step) => lefts.push(lefts[step] + width + TREE_GAP));
  return {
    lefts, count: row + 1,
    yOf: (index) => EDGE + rows[index] * TREE_ROW + TREE_ROW / 2,
    rightOf: (index) => lefts[nodes[index].step] + labelWidth(nodes[index]),
  };
}

/** The line from a node's parent to the node. */
function edgeElement(node, index, { lefts, yOf, rightOf }, palette) {
  const { parent, step } = node;
  const from = parent === null ? { x: EDGE, y: EDGE + TREE_ROW / 2 } : { x: rightOf(parent) + 6, y: yOf(parent) };
  const to = { x: lefts[step] - 6, y: yOf(index) };
  const start = parent === null ? from.x + 4 : Math.max(from.x, lefts[step - 1]);
  const bend = Math.max(to.x - TREE_GAP + 12, start);
  return svg("path", {
    d: `M${start} ${from.y}H${bend}C${bend + 9} ${from.y} ${to.x - 9} ${to.y} ${to.x} ${to.y}`,
    stroke: node.best ? palette.accent : palette.line, "stroke-width": node.best ? 2.4 : 1.4,
    "stroke-dasharray": node.dropped ? "2 4" : undefined, "stroke-linecap": "round",
  });
}

/** A node's label, with its score if the hypothesis is complete and no sentence follows. */
function nodeElement(node, index, { lefts, yOf, rightOf }, palette) {
  const [logProbability, score] = [node.log_probability.toFixed(2), node.score.toFixed(2)];
  const y = yOf(index);
  const group = svg("g", {
    class: "node", role: "listitem", tabindex: index === 0 ? 0 : -1, "data-node": index,
    "aria-label": `${tokenLabel(node)}, step ${node.step + 1}, log-probability ${logProbability}` +
      `${node.ended ? `, complete, score ${score}` : ""}${node.dropped ? ", dropped" : ""}`,
  }, svg("title", {}, `log-probability ${logProbability}, score ${score}`));
  group.append(svg("rect", {
    class: "area", x: lefts[node.step] - 5, y: y - 11, width: labelWidth(node) + 10, height: 22, rx: 5,
    fill: palette.accent, "fill-opacity": 0,
  }), svg("text", {
    x: lefts[node.step], y: y + 5, "font-size": TREE_SIZE,
    fill: node.best ? palette.accent : node.dropped ? palette.soft : palette.ink,
    "font-weight": node.best ? 600 : undefined,
  }, tokenLabel(node)));
  if (node.ended && !node.goesOn) {
    group.append(svg("text", {
      x: rightOf(index) + 8, y: y + 4, "font-size": NUMBER_SIZE, "font-family": NUMBER_FONT,
      fill: node.best ? palette.accent : palette.soft,
    }, score.replace("-", "\u2212")));
  }
  return group;
}

/** A drawing of the tree. Its nodes have `data-node`. */
export function drawBeam(beam, palette) {
  const parents = new Set(beam.map(({ parent }) => parent));
  const nodes = beam.map((node, index) => (
    { ...node, hidden: beam.length > MANY_NODES && node.dropped, goesOn: parents.has(index) }
  ));
  const layout = treeLayout(nodes);
  const edges = svg("g", { fill: "none", "aria-hidden": "true" });
  const labels = svg("g", { role: "list", "aria-label": "Hypotheses" });
  nodes.forEach((node, index) => {
    if (node.hidden) return;
    // The path of the translation is drawn last, over the others.
    edges[node.best ? "append" : "prepend"](edgeElement(node, index, layout, palette));
    labels.append(nodeElement(node, index, layout, palette));
  });
  const root = svg("circle", { cx: EDGE, cy: EDGE + TREE_ROW / 2, r: 3.5, fill: palette.accent, "aria-hidden": "true" });
  const width = Math.max(...nodes.map((_, index) => layout.rightOf(index))) + SCORE_ROOM + EDGE;
  const height = 2 * EDGE + layout.count * TREE_ROW;
  return canvas(width, height, "The beam as a tree of hypotheses", palette, edges, root, labels);
}

/** Ids of the tokens of a hypothesis. */
export function pathOf(beam, node) {
  const ids = [];
  for (let index = node; index !== null; index = beam[index].parent) ids.unshift(beam[index].id);
  return ids;
}
