// The beam as a tree: steps from left to right, the translation on top.

const TREE_SIZE = 15;
const TREE_ROW = 26;
const TREE_GAP = 30;
/** Width of the score behind a complete hypothesis. */
const SCORE_ROOM = 46;
/** Maximum number of hypotheses drawn with those that were dropped. */
const MANY_NODES = 400;

/** A token of the translation as a label: its text, or its name if it has none. */
function tokenLabel({ token, text }) {
  return text === "" ? token : visibleWord(text);
}

/** A source token as a label, without the mark of a space. */
function sourceLabel(token) {
  return visibleWord(token.replaceAll("\u2581", " "));
}

/** Drawn width of a node's label; those of the translation are bold. */
function labelWidth(node) {
  ruler.font = `${node.best ? 600 : 400} ${TREE_SIZE}px ${WORD_FONT}`;
  return ruler.measureText(tokenLabel(node)).width;
}

/** Rows and columns of the nodes: a child follows its parent, the best ones on top. */
function treeLayout(nodes) {
  const children = new Map();
  nodes.forEach(({ parent }, index) => {
    if (nodes[index].hidden) return;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(index);
  });
  for (const list of children.values()) {
    list.sort((a, b) => nodes[b].best - nodes[a].best || nodes[b].log_probability - nodes[a].log_probability);
  }
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
    for (let place = list.length - 1; place >= 0; place -= 1) stack.push([list[place], place > 0]);
  }
  const lefts = [EDGE + 14];
  widths.forEach((width, step) => lefts.push(lefts[step] + width + TREE_GAP));
  return { rows, lefts, count: row + 1 };
}

/** A drawing of the tree. Its nodes have `data-node`. */
function drawBeam(beam, colors) {
  const nodes = beam.map((node) => ({ ...node, hidden: beam.length > MANY_NODES && node.dropped }));
  const { rows, lefts, count } = treeLayout(nodes);
  const yOf = (index) => EDGE + rows[index] * TREE_ROW + TREE_ROW / 2;
  const rightOf = (index) => lefts[nodes[index].step] + labelWidth(nodes[index]);
  const edges = svg("g", { fill: "none", "aria-hidden": "true" });
  const labels = svg("g", { role: "list", "aria-label": "Hypotheses" });
  nodes.forEach((node, index) => {
    if (node.hidden) return;
    const from = node.parent === null ? { x: EDGE, y: EDGE + TREE_ROW / 2 } : { x: rightOf(node.parent) + 6, y: yOf(node.parent) };
    const to = { x: lefts[node.step] - 6, y: yOf(index) };
    const start = node.parent === null ? from.x + 4 : Math.max(from.x, lefts[node.step - 1]);
    const bend = Math.max(to.x - TREE_GAP + 12, start);
    // The path of the translation is drawn last, over the others.
    edges[node.best ? "append" : "prepend"](svg("path", {
      d: `M${start} ${from.y}H${bend}C${bend + 9} ${from.y} ${to.x - 9} ${to.y} ${to.x} ${to.y}`,
      stroke: node.best ? colors.accent : colors.line, "stroke-width": node.best ? 2.4 : 1.4,
      "stroke-dasharray": node.dropped ? "2 4" : undefined, "stroke-linecap": "round",
    }));
    const group = svg("g", {
      class: "node", role: "listitem", tabindex: index === 0 ? 0 : -1, "data-node": index,
      "aria-label": `${tokenLabel(node)}, step ${node.step + 1}, log-probability ${node.log_probability.toFixed(2)}` +
        `${node.ended ? `, complete, score ${node.score.toFixed(2)}` : ""}${node.dropped ? ", dropped" : ""}`,
    }, svg("title", {}, `log-probability ${node.log_probability.toFixed(2)}, score ${node.score.toFixed(2)}`));
    group.append(svg("rect", {
      class: "area", x: lefts[node.step] - 5, y: to.y - 11, width: labelWidth(node) + 10, height: 22, rx: 5,
      fill: colors.accent, "fill-opacity": 0,
    }), svg("text", {
      x: lefts[node.step], y: to.y + 5, "font-size": TREE_SIZE,
      fill: node.best ? colors.accent : node.dropped ? colors.soft : colors.ink,
      "font-weight": node.best ? 600 : undefined,
    }, tokenLabel(node)));
    if (node.ended) {
      group.append(svg("text", {
        x: rightOf(index) + 8, y: to.y + 4, "font-size": NUMBER_SIZE, "font-family": NUMBER_FONT,
        fill: node.best ? colors.accent : colors.soft,
      }, node.score.toFixed(2).replace("-", "\u2212")));
    }
    labels.append(group);
  });
  const root = svg("circle", { cx: EDGE, cy: EDGE + TREE_ROW / 2, r: 3.5, fill: colors.accent, "aria-hidden": "true" });
  const width = Math.max(...nodes.map((_, index) => rightOf(index))) + SCORE_ROOM + EDGE;
  return canvas(width, 2 * EDGE + count * TREE_ROW, "The beam as a tree of hypotheses", colors, edges, root, labels);
}

/** Ids of the tokens of a hypothesis. */
function pathOf(beam, node) {
  const ids = [];
  for (let index = node; index !== null; index = beam[index].parent) ids.unshift(beam[index].id);
  return ids;
}
