// A drawing on a page: highlighted words and their partners, keys. Shared by all pages.

import { opposite, partnersOf, percent, visible } from "./alignment.js";
import { html } from "./dom.js";
import { STATES } from "./drawing.js";

/** A row of a list of weights: a name, a bar, the share as text, and a remark. */
export function weightRow(name, weight, remark, share = percent(weight)) {
  const bar = html("span", { class: "bar" }, html("span"));
  bar.firstChild.style.width = `${weight / 10}%`;
  return html("li", {}, name, bar, html("span", { class: "weight" }, share), html("span", { class: "state" }, remark));
}

/**
 * A drawing in a box, with the weights of the highlighted word in `readout`. Its `siblingView`, if it has one, shows
 * the same matrix and highlights the same words.
 */
export class AlignmentView {
  constructor(box, readout) {
    Object.assign(this, { box, readout, matrix: null, drawing: null, lit: "", siblingView: null });
    box.addEventListener("pointermove", (event) => {
      const word = this.wordAt(event);
      if (word) this.highlight(word.side, word.index);
      else this.restore();
    });
    box.addEventListener("pointerleave", () => this.restore());
    box.addEventListener("focusin", () => this.restore());
    box.addEventListener("focusout", () => requestAnimationFrame(() => this.restore()));
  }

  /** Calls `draw` when the width of the box changes. */
  onResize(draw) {
    let width = this.box.clientWidth;
    new ResizeObserver(() => {
      if (this.box.clientWidth !== width) draw();
      width = this.box.clientWidth;
    }).observe(this.box);
  }

  /** Shows a drawing of a matrix; a focused word keeps the focus. */
  show(matrix, drawing) {
    const focused = this.box.contains(document.activeElement) ? document.activeElement.closest(".word")?.dataset : null;
    Object.assign(this, { matrix, drawing, lit: "" });
    this.box.replaceChildren(drawing.element);
    this.restore();
    if (focused) {
      const words = drawing.words[focused.side];
      this.focus(words[Math.min(Number(focused.index), words.length - 1)] ?? drawing.words.source[0]);
    }
  }

  /** Shows a note in place of a drawing. */
  showNote(note) {
    Object.assign(this, { matrix: null, drawing: null, lit: "" });
    this.box.replaceChildren(note);
    this.restore();
  }

  /** Highlights a word, its partners and their links, and shows the weights. */
  highlight(side, index) {
    this.highlightHere(side, index);
    this.siblingView?.highlightHere(side, index);
  }

  highlightHere(side, index) {
    const { drawing, matrix } = this;
    if (!drawing || this.lit === `${side} ${index}`) return;
    this.clearHere();
    this.lit = `${side} ${index}`;
    drawing.element.classList.add("lit-up");
    // Numbers replace marks.
    drawing.element.classList.toggle("numbered", Boolean(drawing.numbered));
    drawing.words[side][index]?.classList.add("lit", "chosen");
    for (const { index: partner, weight } of partnersOf(matrix, side, index)) {
      const word = partner === null ? null : drawing.words[opposite(side)][partner];
      if (!word) continue;
      word.classList.add("lit");
      const share = word.querySelector(".share");
      if (share) share.textContent = percent(weight);
    }
    for (const link of drawing.links) {
      const own = (side === "source" ? link.s : link.t) === index;
      for (const element of link.elements) element.classList.toggle("lit", own);
    }
    drawing.preview(side, index);
    this.showPartners(side, index);
  }

  clear() {
    this.clearHere();
    this.siblingView?.clearHere();
  }

  clearHere() {
    this.lit = "";
    if (!this.drawing) return;
    const { element } = this.drawing;
    element.classList.remove("lit-up");
    for (const lit of element.querySelectorAll(".lit")) lit.classList.remove("lit", "chosen");
    for (const share of element.querySelectorAll(".share")) share.textContent = "";
    this.drawing.forget();
  }

  /** Keeps the focused word highlighted when the pointer leaves. */
  restore() {
    const focused = document.activeElement?.closest?.(".word");
    if (focused && this.box.contains(focused)) {
      this.highlight(focused.dataset.side, Number(focused.dataset.index));
      return;
    }
    this.clear();
    const hint = "Point at a word, or focus it with Tab, to see its attention weights.";
    const words = this.drawing ? this.drawing.words.source.length + this.drawing.words.target.length : 0;
    this.readout.replaceChildren(...(words > 0 ? [html("p", { class: "hint" }, hint)] : []));
  }

  /** Lists a word's partners in the readout. */
  showPartners(side, index) {
    const { matrix, drawing } = this;
    const rows = partnersOf(matrix, side, index).slice(0, 8).map(({ index: partner, weight }) => {
      const word = partner === null ? html("i", {}, "end of sentence")
        : html("bdi", {}, visible(matrix[opposite(side)][partner]));
      const [s, t] = side === "source" ? [index, partner] : [partner, index];
      const state = drawing.links.find((link) => link.s === s && link.t === t)?.state;
      return weightRow(word, weight, state ? STATES[state].label : "");
    });
    const verb = side === "source" ? "is attended to by" : "attends to";
    this.readout.replaceChildren(
      html("p", {}, html("bdi", {}, visible(matrix[side][index])), ` ${verb}`, rows.length ? "" : " nothing"),
      html("ul", {}, ...rows));
  }

  /** Focuses a word; Tab returns to it. */
  focus(word) {
    if (!word) return;
    for (const sibling of this.drawing.words[word.dataset.side]) sibling.setAttribute("tabindex", sibling === word ? 0 : -1);
    word.focus();
  }

  /** Moves the focus along the words of a side by an arrow key; false for other events. */
  onArrow(event) {
    const word = event.target.closest?.(".word");
    if (!word || !this.box.contains(word) || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return false;
    const forwards = (event.key === "ArrowRight") !== this.drawing.rightToLeft[word.dataset.side];
    this.focus(this.drawing.words[word.dataset.side][Number(word.dataset.index) + (forwards ? 1 : -1)]);
    event.preventDefault();
    return true;
  }

  /** The cell of an event in a matrix, or null. */
  cellAt(event) {
    if (!this.drawing?.cellAt) return null;
    const { left, top } = this.drawing.element.getBoundingClientRect();
    return this.drawing.cellAt(event.clientX - left, event.clientY - top);
  }

  /** The word of an event in the drawing, or the target word of a cell. */
  wordAt(event) {
    const word = event.target.closest?.(".word");
    if (word) return { side: word.dataset.side, index: Number(word.dataset.index) };
    const cell = this.cellAt(event);
    return cell && { side: "target", index: cell.t };
  }
}
