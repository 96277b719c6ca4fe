// The list of sentence pairs. Only visible rows are in the document, so that it scales to thousands of pairs.

/** Height of a row; page.css has the same. */
const LIST_ROW = 66;
/** Rows beyond the edges, so that scrolling shows no gaps. */
const SPARE_ROWS = 6;

/** Content of a row: the pair's number, both sides, and the sort measure. */
function rowElement(place, position, total, note) {
  const pair = DATA.pairs[place];
  const line = (side, text) => html("span", { class: side, dir: "auto" }, visible(text) || "\u2013");
  const row = html("div", {
    class: "row", role: "option", id: `pair-${place}`, "data-place": place,
    "aria-posinset": position + 1, "aria-setsize": total,
  },
  html("span", { class: "number" }, numberOf(pair)),
  html("span", { class: "sides" }, line("source", pair.source.join(" ")), line("target", targetText(pair))),
  html("span", { class: "note" }, note));
  row.style.transform = `translateY(${position * LIST_ROW}px)`;
  return row;
}

function targetText(pair) {
  return pair.translation ?? pair.target.join(" ");
}

/** A list in `box` that calls `onChoice` with a pair's place when its row is clicked; `noteOf` returns a row's note. */
class PairList {
  constructor(box, noteOf, onChoice) {
    this.box = box;
    this.noteOf = noteOf;
    this.places = [];
    this.current = null;
    this.content = html("div", { class: "content", role: "presentation" });
    box.append(this.content);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    box.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) onChoice(Number(row.dataset.place));
    });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  /** Shows these pairs, in this order. */
  show(places) {
    this.places = places;
    this.content.style.height = `${places.length * LIST_ROW}px`;
    this.draw();
  }

  /** Selects a pair and scrolls to it. */
  choose(place) {
    this.current = place;
    const position = this.places.indexOf(place);
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
    const rows = this.places.slice(first, end).map((place, index) => {
      const row = rowElement(place, first + index, this.places.length, this.noteOf(place));
      row.setAttribute("aria-selected", String(place === this.current));
      return row;
    });
    this.content.replaceChildren(...rows);
    const isVisible = rows.some((row) => Number(row.dataset.place) === this.current);
    if (isVisible) this.box.setAttribute("aria-activedescendant", `pair-${this.current}`);
    else this.box.removeAttribute("aria-activedescendant");
  }
}
