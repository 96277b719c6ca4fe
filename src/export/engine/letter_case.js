// Case of sentences: src/translator/letter_case.rs and src/text/truecaser.rs.

import { wordSpans } from "./words.js";

const MIN_TITLE = 3;
const MAX_SMALL = 3;
const SENTENCE_END = /[.!?\u2026\u061f]/;
const CAPITAL = /\p{Uppercase}/u;
const FIRST_CAPITAL = /^\p{Uppercase}/u;
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

  /** True for a word that is usually not in lower case. */
  has(word) {
    return this.forms.has(word.toLowerCase());
  }

  /** The usual form of a word, which may begin a sentence. */
  wordOf(given, beginsSentence) {
    const lower = given.toLowerCase();
    const word = this.forms.get(lower) ?? lower;
    return beginsSentence && this.capitalizesSentences ? capitalized(word) : word;
  }

  apply(text) {
    let [cased, end] = ["", 0];
    for (const { start, end: wordEnd } of wordSpans(text, "terms")) {
      cased += text.slice(end, start);
      cased += this.wordOf(text.slice(start, wordEnd), !LETTER.test(cased));
      end = wordEnd;
    }
    return cased + text.slice(end);
  }
}

/** True if a text has two capitals or more, and no lower case. */
export function areCapitals(text) {
  return !/\p{Lowercase}/u.test(text) && (text.match(/\p{Uppercase}/gu) ?? []).length >= 2;
}

/** A text with other words at some spans. */
function replacedAt(text, spans, wordAt) {
  let [replaced, end] = ["", 0];
  spans.forEach((span, index) => {
    replaced += text.slice(end, span.start) + wordAt(text.slice(span.start, span.end), span, index);
    ({ end } = span);
  });
  return replaced + text.slice(end);
}

/** Words of a text that begin with letters. */
class CasedWords {
  constructor(text) {
    this.text = text;
    this.spans = wordSpans(text, "terms").filter(({ start, end }) => /^\p{Alphabetic}/u.test(text.slice(start, end)));
  }

  word(index) {
    const span = this.spans[index];
    return span ? this.text.slice(span.start, span.end) : "";
  }

  /** True if all long words begin with a capital. */
  areTitle() {
    return this.spans.length >= MIN_TITLE &&
      this.spans.every((_, index) => FIRST_CAPITAL.test(this.word(index)) || [...this.word(index)].length <= MAX_SMALL);
  }

  beginsSentence(index) {
    return index === 0 || (index < this.spans.length &&
      SENTENCE_END.test(this.text.slice(this.spans[index - 1].end, this.spans[index].start)));
  }

  /** True for a word in capitals, and for a capital beside one in the same sentence. */
  isInCapitals(index) {
    const word = this.word(index);
    if (areCapitals(word)) return true;
    const isCapital = [...word].length === 1 && FIRST_CAPITAL.test(word);
    return isCapital && ((index > 0 && !this.beginsSentence(index) && areCapitals(this.word(index - 1))) ||
      (areCapitals(this.word(index + 1)) && !this.beginsSentence(index + 1)));
  }

  /** True for a word in capitals beside another one. */
  isInRun(index) {
    return this.isInCapitals(index) && ((index > 0 && this.isInCapitals(index - 1)) || this.isInCapitals(index + 1));
  }

  /** The text with words in their usual case, and the spans of those in capitals; null if there is no other case. */
  inUsualCase(vocabulary, truecaser) {
    const within = (word) => Math.max(vocabulary.encode(`a ${word}`).length - vocabulary.encode("a").length, 0);
    const inCapitals = [];
    let isChanged = false;
    const text = replacedAt(this.text, this.spans, (word, span, index) => {
      const [isInCapitals, isInRun] = [this.isInCapitals(index), this.isInRun(index)];
      let read = word;
      if (CAPITAL.test(word) && (index > 0 || isInCapitals)) {
        const usual = truecaser.wordOf(word, isInCapitals && this.beginsSentence(index));
        const others = within(usual);
        if (others < within(word) && (isInRun || others === 1)) read = usual;
      }
      isChanged ||= read !== word;
      if (isInRun || (isInCapitals && read !== word)) inCapitals.push(span);
      return read;
    });
    return isChanged ? { text, letterCase: inCapitals.length > 0 ? "words" : "same", inCapitals } : null;
  }
}

/** True if all long words of a sentence begin with a capital. */
export function isTitle(text) {
  return new CasedWords(text).areTitle();
}

/** A sentence in the case that a model knows, and the case of its translation; null if that is its own. */
export function casedText(given, vocabulary, truecaser) {
  const capitals = given.match(/\p{Uppercase}/gu) ?? [];
  if (capitals.length < 2 || vocabulary.normalization.lowercase) return null;
  const words = new CasedWords(given);
  const isTitleCase = words.areTitle() && !words.spans.some((_, index) => words.isInRun(index));
  if (!areCapitals(given) && !isTitleCase) return words.inUsualCase(vocabulary, truecaser);
  const text = truecaser.apply(given);
  const isKnown = vocabulary.encode(text).length < vocabulary.encode(given).length;
  return isKnown ? { text, letterCase: areCapitals(given) ? "capitals" : "title", inCapitals: [] } : null;
}

/** A translation in a case, in which the translations of words in capitals are at the spans `ofWords`. */
export function inCase(text, letterCase, ofWords) {
  switch (letterCase) {
    case "capitals": return text.toUpperCase();
    case "title": return replacedAt(text, wordSpans(text, "terms"), (word, { start }) =>
      ([...word].length <= MAX_SMALL && start > 0 ? word : capitalized(word)));
    case "words": return replacedAt(text, ofWords, (word) => word.toUpperCase());
    default: return text;
  }
}
