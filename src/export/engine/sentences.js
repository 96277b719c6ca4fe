// Sentences of a text: src/text/sentences.rs.

import { trimmed } from "./words.js";

const BOUNDS = typeof Intl.Segmenter === "function" ? new Intl.Segmenter("und", { granularity: "sentence" }) : null;

/** Spans of the lines of a text that are not blank, without white space at their ends. */
export function linesOf(text) {
  return Array.from(text.matchAll(/[^\n\r]+/gu), ({ 0: line, index }) => spanOf(line, index)).filter(({ start, end }) => start < end);
}

function spanOf(part, place) {
  const start = place + part.length - part.replace(/^\p{White_Space}+/u, "").length;
  return { start, end: start + trimmed(part).length };
}

/** Parts of a text at which sentences may end, each with its place. */
function boundedParts(text) {
  if (BOUNDS) return Array.from(BOUNDS.segment(text), ({ segment, index }) => ({ segment, index }));
  return Array.from(text.matchAll(/.*?(?:[.!?\u2026]+["'\u2019\u201d\u00bb)\]]*\s+|[\u3002\uff01\uff1f]+|$)/gsu),
    ({ 0: segment, index }) => ({ segment, index })).filter(({ segment }) => segment !== "");
}

/** Splitter of lines into sentences. */
export class SentenceSplitter {
  constructor({ abbreviations = [], per_line: perLine = 1 } = {}) {
    Object.assign(this, { abbreviations: new Set(abbreviations), perLine });
  }

  /** Spans of the sentences of a text; lines with as few sentences as the model was trained on stay whole. */
  sentences(text) {
    return linesOf(text).flatMap(({ start, end }) => {
      const found = this.split(text.slice(start, end));
      const spans = found.length > 1 && found.length <= this.perLine ? [{ start: 0, end: end - start }] : found;
      return spans.map((span) => ({ start: start + span.start, end: start + span.end }));
    });
  }

  split(text) {
    const sentences = [];
    let first = null;
    for (const { segment, index } of boundedParts(text)) {
      const { start, end } = spanOf(segment, index);
      first ??= start;
      const rest = text.slice(index + segment.length);
      if (first < end && (trimmed(rest) === "" || this.ends(text.slice(first, end), rest))) {
        sentences.push({ start: first, end });
        first = null;
      }
    }
    return sentences;
  }

  /** True if a sentence ends here, before the rest of the text. */
  ends(sentence, rest) {
    const last = sentence.split(/\p{White_Space}+/u).pop();
    const next = /[\p{Alphabetic}\p{N}]/u.exec(rest)?.[0] ?? "";
    return /\p{Alphabetic}/u.test(sentence) && !/\p{Lowercase}/u.test(next) &&
      !/^\p{Alphabetic}\.$/u.test(last) && !this.abbreviations.has(last);
  }
}
