// Confidence and doubts: src/translator/quality_estimation.rs, src/translator/doubt.rs and src/text/known_words.rs.

import { forWords, isPunctuation, isUnspaced, stripPunctuation, wordsOfTokens } from "./words.js";

const MIN_COVERING = 0.3;
const MIN_UNCOVERED = 3;
const MAX_PERIOD = 32;
const MIN_REPEATS = 4;
const MIN_PHRASE_REPEATS = 3;

/** Parts of a text that form words: letters, marks and digits of scripts with spaces. */
function wordParts(text) {
  const spaced = /[^\0-\x7f]/.test(text) ? Array.from(text, (one) => (isUnspaced(one) ? " " : one)).join("") : text;
  return spaced.split(/[^\p{Alphabetic}\p{N}\p{M}]+/u).filter((part) => part !== "");
}

/** Words of the training data, in lower case. */
export class KnownWords {
  constructor(texts) {
    this.words = new Set(texts.flatMap(wordParts).map((word) => word.toLowerCase()));
  }

  /** True if all words of a text are known. */
  cover(text) {
    return wordParts(text).every((word) => hasUsualCase(word) && this.words.has(word.toLowerCase()));
  }

  /** True if the parts of a word between punctuation are known, in any case. */
  hasWord(word) {
    return wordParts(word.toLowerCase()).every((part) => this.words.has(part));
  }

  /** True if a known word begins with a text in lower case. */
  hasBeginning(beginning) {
    for (const word of this.words) if (word.startsWith(beginning)) return true;
    return false;
  }
}

/** True if no capital follows the first character, or all letters are capitals. */
function hasUsualCase(word) {
  return !/\p{Uppercase}/u.test([...word].slice(1).join("")) || !/\p{Lowercase}/u.test(word);
}

function predicted({ bias, weights }, features) {
  return 1 / (1 + Math.exp(-weights.reduce((sum, weight, index) => sum + weight * features[index], bias)));
}

/** Probabilities that a translation and its words are right; null if the model has no calibration or did not translate. */
export function estimateQuality(calibration, knownWords, source, target, logProbabilities) {
  if (!calibration || target.wordOfToken.length === 0 || logProbabilities.length < target.wordOfToken.length) return null;
  const total = logProbabilities.reduce((sum, one) => sum + one, 0);
  const mean = total / logProbabilities.length;
  const features = (log) => [log, Math.log(Math.max(-Math.expm1(log), 1e-6)), mean];
  const words = target.words.map(() => 0);
  wordsOfTokens(target).forEach((range, token) => forWords(range, (word) => { words[word] += logProbabilities[token]; }));
  const sources = new Set(source.words.map(stripPunctuation));
  return {
    confidence: predicted(calibration.sentence, features(total)),
    word_confidence: words.map((log) => predicted(calibration.word, features(log))),
    nonwords: target.words.flatMap((word, index) =>
      (knownWords && !sources.has(stripPunctuation(word)) && !knownWords.cover(word) ? [index] : [])),
  };
}

/** Reasons to doubt the translation of a sentence, with the indices of source words that have no attention. */
export function doubtsOf({ calibration, quality, byWords, isFixed, source, target }) {
  const [reasons, uncovered] = [[], []];
  if (calibration?.limits && quality) {
    const { limits } = calibration;
    if (quality.confidence < limits.confidence) reasons.push("confidence");
    const coverage = coverageOf(byWords, isFixed);
    if (coverage.uncovered.length >= MIN_UNCOVERED && coverage.mean < limits.coverage) {
      reasons.push("uncovered");
      uncovered.push(...coverage.uncovered);
    }
  }
  if (loopOf(target.ids) > loopOf(source.ids)) reasons.push("repetition");
  if (calibration?.limits && quality && quality.nonwords.length / Math.max(target.words.length, 1) > calibration.limits.nonwords) {
    reasons.push("nonwords");
  }
  return { reasons, uncovered };
}

/** Mean attention on source words other than punctuation, at most 1 for each, and the words without. */
function coverageOf(byWords, isFixed) {
  const uncovered = [];
  if (isFixed) return { mean: 1, uncovered };
  let [words, total] = [0, 0];
  byWords.source.forEach((word, s) => {
    if (isPunctuation(word)) return;
    const sum = byWords.target.reduce((all, _, t) => all + byWords.weights[t * byWords.source.length + s], 0);
    words += 1;
    total += Math.min(sum, 1);
    if (sum < MIN_COVERING) uncovered.push(s);
  });
  return { mean: words > 0 ? total / words : 1, uncovered };
}

/** How often tokens are repeated in a loop; 1 without a loop. */
function loopOf(tokens) {
  let most = 1;
  for (let period = 1; period <= Math.min(MAX_PERIOD, Math.floor(tokens.length / MIN_PHRASE_REPEATS)); period += 1) {
    let equal = 0;
    for (let index = period; index < tokens.length; index += 1) {
      equal = tokens[index] === tokens[index - period] ? equal + 1 : 0;
      const repeats = Math.floor(equal / period) + 1;
      if (repeats >= (period === 1 ? MIN_REPEATS : MIN_PHRASE_REPEATS)) most = Math.max(most, repeats);
    }
  }
  return most;
}
