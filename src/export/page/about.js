// The title of a translator, and the text about it.

import { byId, html } from "../../render/page/dom.js";

/** Elements of a line of Markdown: links, emphasis, code. */
function inline(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(/\[([^\]]+)\]\((https?:[^)\s]+|mailto:[^)\s]+)\)|\*\*([^*]+)\*\*|[*_]([^*_]+)[*_]|`([^`]+)`|(https?:[^\s<>)]+)/g)) {
    const [whole, label, target, strong, emphasis, code, address] = match;
    parts.push(text.slice(end, match.index));
    if (strong) parts.push(html("strong", {}, strong));
    else if (emphasis) parts.push(html("em", {}, emphasis));
    else if (code) parts.push(html("code", {}, code));
    else parts.push(html("a", { href: target ?? address, rel: "noreferrer" }, label ?? address));
    end = match.index + whole.length;
  }
  return [...parts, text.slice(end)];
}

/** Blocks of Markdown: headings, paragraphs, and lists, whose items are examples. */
function blocks(text, onExample) {
  const examples = [];
  const elements = text.split(/\n\s*\n/).filter((block) => block.trim() !== "").flatMap((block) => {
    const lines = block.trim().split("\n");
    if (lines.every((line) => /^\s*[-*+] /.test(line))) {
      const items = lines.map((line) => line.replace(/^\s*[-*+] /, "").trim());
      examples.push(...items);
      return html("ul", {}, ...items.map((item) => {
        const button = html("button", { type: "button", class: "try" }, item);
        button.addEventListener("click", () => onExample(item));
        return html("li", {}, button);
      }));
    }
    const heading = /^(#{1,6}) (.*)$/.exec(lines[0]);
    const rest = lines.slice(heading ? 1 : 0).join(" ");
    return [...(heading ? [html("h2", {}, ...inline(heading[2]))] : []), ...(rest ? [html("p", {}, ...inline(rest))] : [])];
  });
  return { elements, examples };
}

/** Shows title and text of the page. Returns the examples in the text, or null without a text. */
export function showFacts(onExample) {
  const { title, about } = JSON.parse(byId("facts")?.textContent ?? "{}");
  document.title = title ?? "";
  document.querySelector("h1").textContent = title ?? "";
  if (!about) return null;
  const { elements, examples } = blocks(about, onExample);
  byId("about").replaceChildren(...elements);
  byId("about").hidden = false;
  return examples;
}
