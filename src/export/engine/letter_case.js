// Case of sentences: src/translator/letter_case.rs and src/text/truecaser.rs.

import { wordSpans } from "./words.js";

const MIN_TITLE = 3;
const MAX_SMALL = 3;
const CAPITAL = /\p{Uppercase}/u;
const LETTER = /\p{Alphabetic}/u;

/** A word with a capital at its beginning. */
function capitalized(word) {
  const [first = "", ...rest] = word;
  return first.toUpperCase() + rest.join("");
}

/** The case in which words are usually written. */
export class Truecaser {
  constructor({ words = [], capitalizes_sentences: capitalizesSentences = false } = {}) {
    this.forms = new Map(words.map((word) => [word.toLowerCase(), word]));
    this.capitalizesSentences = capitalizesSentences;
  }

  word(word) {
    const lower = word.toLowerCase();
    return this.forms.get(lower) ?? lower;
  }

  apply(text) {
    let [cased, end] = ["", 0];
    for (const span of wordSpans(text, "terms")) {
      cased += text.slice(end, span.start);
      const word = this.word(text.slice(span.start, span.end));
      cased += this.capitalizesSentences && !LETTER.test(cased) ? capitalized(word) : word;
      end = span.end;
    }
    return cased + text.slice(end);
  }
}

/** True if a text has two capitals or more, and no lower case. */
function areCapitals(text) {
  return !/\p{Lowercase}/u.test(text) && (text.match(/\p{Uppercase}/gu) ?? []).length >= 2;
}

/** A sentence in the case that a model knows, and the case of its translation; null if that is its own. */
export function casedText(given, vocabulary, truecaser) {
  const capitals = given.match(/\p{Uppercase}/gu) ?? [];
  if (capitals.length < 2 || vocabulary.normalization.lowercase) return null;
  const spans = wordSpans(given, "terms").filter(({ start }) => /^\p{Alphabetic}/u.test(given.slice(start)));
  const words = spans.map(({ start, end }) => given.slice(start, end));
  const isTitle = words.length >= MIN_TITLE &&
    words.every((word) => /^\p{Uppercase}/u.test(word) || [...word].length <= MAX_SMALL);
  if (!areCapitals(given) && !isTitle) return usualCase(given, spans, vocabulary, truecaser);
  const text = truecaser.apply(given);
  const isKnown = vocabulary.encode(text).length < vocabulary.encode(given).length;
  return isKnown ? { text, letterCase: areCapitals(given) ? "capitals" : "title" } : null;
}

/** Reads words with a capital, except the first, in their usual case if that is one token and the given form is not. */
function usualCase(given, spans, vocabulary, truecaser) {
  const isToken = (word) => vocabulary.encode(`a ${word}`).length === vocabulary.encode("a").length + 1;
  const bytes = (word) => new TextEncoder().encode(word).length;
  let text = given;
  for (const { start, end } of spans.slice(1)) {
    const word = given.slice(start, end);
    if (!CAPITAL.test(word)) continue;
    const usual = truecaser.word(word);
    if (bytes(usual) === bytes(word) && usual.length === word.length && usual !== word && isToken(usual) && !isToken(word)) {
      text = text.slice(0, start) + usual + text.slice(end);
    }
  }
  return text === given ? null : { text, letterCase: "same" };
}

/** A translation in a case. */
export function inCase(text, letterCase) {
  if (letterCase === "same") return text;
  if (letterCase === "capitals") return text.toUpperCase();
  let [titled, end] = ["", 0];
  for (const span of wordSpans(text, "terms")) {
    titled += text.slice(end, span.start);
    const word = text.slice(span.start, span.end);
    titled += [...word].length <= MAX_SMALL && titled !== "" ? word : capitalized(word);
    end = span.end;
  }
  return titled + text.slice(end);
}
