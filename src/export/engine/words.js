// Words of a text: src/text/word_spans.rs. Spans are places of UTF-16 units.

const SPACES = /\p{White_Space}/u;
const MARK = /^[\p{P}\p{S}]/u;
const UNSPACED = /^[\p{Script=Bopomofo}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Thai}]/u;

const GRAPHEMES = typeof Intl.Segmenter === "function" ? new Intl.Segmenter("und", { granularity: "grapheme" }) : null;

export function isSpace(character) {
  return SPACES.test(character);
}

/** A text without white space at its ends. */
export function trimmed(text) {
  return text.replace(/^\p{White_Space}+/u, "").replace(/\p{White_Space}+$/u, "");
}

/** Characters with their marks (UAX #29), each with its place. */
function graphemes(text) {
  if (GRAPHEMES) return Array.from(GRAPHEMES.segment(text), ({ segment, index }) => ({ segment, index }));
  const found = [];
  for (const match of text.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)) found.push({ segment: match[0], index: match.index });
  return found;
}

function whitespaceSpans(text) {
  return Array.from(text.matchAll(/\P{White_Space}+/gu), ({ 0: word, index }) => ({ start: index, end: index + word.length }));
}

/** Marks in a span; repeated ones stay together. */
function markSpans(text, start, end) {
  const spans = [];
  let before = null;
  for (const { segment, index } of graphemes(text.slice(start, end))) {
    const place = start + index;
    if (segment === before) spans[spans.length - 1].end = place + segment.length;
    else spans.push({ start: place, end: place + segment.length });
    before = segment;
  }
  return spans;
}

/** Splits punctuation off the ends of a word. */
function splitPunctuation(text, { start, end }) {
  const parts = graphemes(text.slice(start, end));
  let [first, last] = [0, parts.length];
  while (first < last && MARK.test(parts[first].segment)) first += 1;
  while (last > first && MARK.test(parts[last - 1].segment)) last -= 1;
  const coreStart = first < parts.length ? start + parts[first].index : end;
  const coreEnd = last < parts.length ? start + parts[last].index : end;
  const spans = markSpans(text, start, coreStart);
  if (coreStart < coreEnd) spans.push({ start: coreStart, end: coreEnd });
  return [...spans, ...markSpans(text, coreEnd, end)];
}

/** Splits off the characters of scripts without spaces. */
function splitUnspaced(text, { start, end }) {
  const spans = [];
  let isUnspaced = true;
  for (const { segment, index } of graphemes(text.slice(start, end))) {
    const before = isUnspaced;
    isUnspaced = UNSPACED.test(segment);
    if (!before && !isUnspaced) spans[spans.length - 1].end = start + index + segment.length;
    else spans.push({ start: start + index, end: start + index + segment.length });
  }
  return spans;
}

function characterSpans(text) {
  const spans = [];
  for (const { segment, index } of graphemes(text)) {
    const character = segment.replace(/^\p{White_Space}+/u, "");
    const end = index + segment.length;
    if (character !== "") spans.push({ start: end - character.length, end });
  }
  return spans;
}

function codePointSpans(text) {
  return Array.from(text.matchAll(/\P{White_Space}/gu), ({ 0: one, index }) => ({ start: index, end: index + one.length }));
}

/** Spans of words: `whitespace`, `punctuation`, `terms`, `characters` or `codepoints`. */
export function wordSpans(text, splitting) {
  switch (splitting) {
    case "punctuation": return whitespaceSpans(text).flatMap((span) => splitPunctuation(text, span));
    case "terms": return wordSpans(text, "punctuation").flatMap((span) => splitUnspaced(text, span));
    case "characters": return characterSpans(text);
    case "codepoints": return codePointSpans(text);
    default: return whitespaceSpans(text);
  }
}

/** Words of a text. */
export function wordsOf(text, splitting) {
  return wordSpans(text, splitting).map(({ start, end }) => text.slice(start, end));
}

/** A word without punctuation and symbols around it; a word of nothing else is kept. */
export function stripPunctuation(word) {
  const bare = word.replace(/^[^\p{Alphabetic}\p{N}\p{M}]+/u, "").replace(/[^\p{Alphabetic}\p{N}\p{M}]+$/u, "");
  return bare === "" ? word : bare;
}

/** The index of the word of a token that starts at a place. */
export function wordOfPlace(spans, start) {
  const found = spans.findIndex(({ end }) => end > start);
  return found >= 0 ? found : Math.max(spans.length - 1, 0);
}
