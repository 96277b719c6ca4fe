// Words of a text: src/text/word_spans.rs. Spans are places of UTF-16 units.

const SPACES = /\p{White_Space}/u;
const MARK = /^[\p{P}\p{S}]/u;
/** Letters and marks that occur only in scripts without spaces between words; those that others share are all Latin, too. */
const UNSPACED_SCRIPTS = ["Bopomofo", "Han", "Hiragana", "Katakana", "Khitan_Small_Script", "Khmer", "Lao", "Myanmar", "Nushu",
  "New_Tai_Lue", "Tai_Le", "Tai_Tham", "Tai_Viet", "Tangut", "Thai", "Tibetan", "Yi"];
const UNSPACED = new RegExp(`^(?!\\p{Script_Extensions=Latin})[${UNSPACED_SCRIPTS.map((script) => `\\p{Script_Extensions=${script}}`).join("")}]`, "u");
const OF_WORD = /^[\p{Alphabetic}\p{N}\p{M}]/u;
const ZERO_WIDTH_SPACE = "\u200b";
/** Maximum mean number of characters of a script without spaces between the spaces of a text whose words spaces separate. */
const MAX_MEAN_SPACED_WORD = 4;

const GRAPHEMES = typeof Intl.Segmenter === "function" ? new Intl.Segmenter("und", { granularity: "grapheme" }) : null;

export function isSpace(character) {
  return SPACES.test(character);
}

/** A text without white space at its ends. */
export function trimmed(text) {
  return text.replace(/^\p{White_Space}+/u, "").replace(/\p{White_Space}+$/u, "");
}

/** Characters with their marks (UAX #29), each with its place. */
export function graphemes(text) {
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

/** True for a character of a script without spaces. Digits form numbers in every script. */
export function isUnspaced(text) {
  return UNSPACED.test(text) && OF_WORD.test(text) && !/^\p{Nd}/u.test(text);
}

/** As `isUnspaced`, without marks. */
function isUnspacedLetter(text) {
  return isUnspaced(text) && !/^\p{M}/u.test(text);
}

/** True if a text has characters of a script without spaces, whose words spaces do not separate. */
function hasUnspacedWords(text, chunks) {
  const characters = graphemes(text).filter(({ segment }) => isUnspacedLetter(segment)).length;
  if (characters === 0) return false;
  const spaces = chunks.slice(1).filter((after, index) => {
    const [before, next] = [chunks[index], after].map(({ start, end }) => text.slice(start, end));
    return isUnspacedLetter(graphemes(before).pop().segment) && (isUnspacedLetter(next) || isPunctuation(next));
  }).length;
  return spaces === 0 || characters > MAX_MEAN_SPACED_WORD * (spaces + 1);
}

/** True for a text of punctuation and symbols. */
export function isPunctuation(text) {
  return text !== "" && graphemes(text).every(({ segment }) => MARK.test(segment));
}

/** Splits a chunk into the characters of scripts without spaces and what is between them, without punctuation at its ends. */
function splitUnspaced(text, { start, end }) {
  const parts = graphemes(text.slice(start, end));
  if (!Array.from(text.slice(start, end)).some(isUnspaced)) return [{ start, end }];
  const spans = [];
  let other = start;
  for (const { segment, index } of parts) {
    const character = { start: start + index, end: start + index + segment.length };
    const isWord = isUnspacedLetter(segment);
    if (!isWord && segment !== ZERO_WIDTH_SPACE) continue;
    spans.push(...splitPunctuation(text, { start: other, end: character.start }));
    other = character.end;
    if (isWord) spans.push(character);
  }
  return [...spans, ...splitPunctuation(text, { start: other, end })];
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

/** Spans of words: by `script`, `whitespace`, `punctuation`, `terms`, `characters` or `codepoints`. */
export function wordSpans(text, splitting) {
  if (splitting === "characters") return characterSpans(text);
  if (splitting === "codepoints") return codePointSpans(text);
  const chunks = whitespaceSpans(text);
  const splitTerms = () => chunks.flatMap((span) => splitUnspaced(text, span)).flatMap((span) => splitPunctuation(text, span));
  if (splitting === "whitespace") return chunks;
  if (splitting === "terms") return splitTerms();
  const isUnspacedText = /[^\0-\x7f]/.test(text) && hasUnspacedWords(text, chunks);
  if (splitting === "script") return isUnspacedText ? chunks.flatMap((span) => splitUnspaced(text, span)) : chunks;
  return isUnspacedText ? splitTerms() : chunks.flatMap((span) => splitPunctuation(text, span));
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

/** The range of words that each token writes: its word, and those after it in which no token begins. */
export function wordsOfTokens({ wordOfToken, words }) {
  return wordOfToken.map((word, token) => [word, Math.max(wordOfToken[token + 1] ?? words.length, word + 1)]);
}

/** Calls `visit` for each word that a token writes. */
export function forWords([first, end], visit) {
  for (let word = first; word < end; word += 1) visit(word, end - first);
}
