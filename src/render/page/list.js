// The list of sentence pairs. Only visible rows are in the document, so that it scales to thousands of pairs.

import { visible } from "./alignment.js";
import { html } from "./dom.js";
import { DATA, numberOf, textsOf } from "./model.js";

/** Height of a row; page.css has the same. */
const LIST_ROW = 66;
/** Rows beyond the edges, so that scrolling shows no gaps. */
const SPARE_ROWS = 6;

/** Content of a row: the pair's number, both sides, and the sort measure. `position` is that in the list. */
function rowElement(pairIndex, position, total, note) {
  const pair = DATA.pairs[pairIndex];
  const [source, target] = textsOf(pair);
  const line = (side, text) => html("span", { class: side, dir: "auto" }, visible(text) || "\u2013");
  const row = html("div", {
    class: "row", role: "option", id: `pair-${pairIndex}`, "data-pair-index": pairIndex,
    "aria-posinset": position + 1, "aria-setsize": total,
  },
  html("span", { class: "number" }, numberOf(pair)),
  html("span", { class: "sides" }, line("source", source), line("target", pair.translation ?? target)),
  html("span", { class: "note" }, note));
  row.style.transform = `translateY(${position * LIST_ROW}px)`;
  return row;
}

/** A list in `box` that calls `onChoice` with a pair's index when its row is clicked; `noteOf` returns a row's note. */
export class PairList {
  constructor(box, noteOf, onChoice) {
    this.box = box;
    this.noteOf = noteOf;
    this.pairIndices = [];
    this.current = null;
    this.content = html("div", { class: "content", role: "presentation" });
    box.append(this.content);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    box.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) onChoice(Number(row.dataset.pairIndex));
    });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  /** Shows these pairs, in this order. */
  show(pairIndices) {
    this.pairIndices = pairIndices;
    this.content.style.height = `${pairIndices.length * LIST_ROW}px`;
    this.draw();
  }

  /** Selects a pair and scrolls to it. */
  choose(pairIndex) {
    this.current = pairIndex;
    const position = this.pairIndices.indexOf(pairIndex);
    if (position >= 0) {
      const top = position * LIST_ROW;
      const lowest = top + LIST_ROW - this.box.clientHeight;
      if (this.box.scrollTop > top) this.box.scrollTop = top;
      if (this.box.scrollTop < lowest) this.box.scrollTop = lowest;
    }
    this.draw();
  }

  /** Renders the visible rows. */
  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / LIST_ROW) - SPARE_ROWS);
    const end = Math.ceil((this.box.scrollTop + this.box.clientHeight) / LIST_ROW) + SPARE_ROWS;
    const rows = this.pairIndices.slice(first, end).map((pairIndex, index) => {
      const row = rowElement(pairIndex, first + index, this.pairIndices.length, this.noteOf(pairIndex));
      row.setAttribute("aria-selected", String(pairIndex === this.current));
      return row;
    });
    this.content.replaceChildren(...rows);
    const isVisible = rows.some((row) => Number(row.dataset.pairIndex) === this.current);
    if (isVisible) this.box.setAttribute("aria-activedescendant", `pair-${this.current}`);
    else this.box.removeAttribute("aria-activedescendant");
  }
}
