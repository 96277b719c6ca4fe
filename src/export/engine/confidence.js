// Confidence: src/translator/quality_estimation.rs and src/text/known_words.rs.

const NO_WORD = /[^\p{Alphabetic}\p{N}\p{M}]+/u;

/** Words of the training data, in lower case. */
export class KnownWords {
  constructor(texts) {
    this.words = new Set(texts.flatMap((text) => text.split(NO_WORD)).map((word) => word.toLowerCase()));
  }

  /** True if all words of a text are known. */
  cover(text) {
    return text.split(NO_WORD).every((word) => word === "" || (hasUsualCase(word) && this.words.has(word.toLowerCase())));
  }
}

/** True if no capital follows the first character, or all letters are capitals. */
function hasUsualCase(word) {
  return !/\p{Uppercase}/u.test([...word].slice(1).join("")) || !/\p{Lowercase}/u.test(word);
}

function predicted({ bias, weights }, features) {
  return 1 / (1 + Math.exp(-weights.reduce((sum, weight, index) => sum + weight * features[index], bias)));
}

/** Probabilities that a translation and its words are right; null if the model has no calibration. */
export function estimateQuality(calibration, knownWords, source, target, logProbabilities) {
  if (!calibration || target.wordOfToken.length === 0) return null;
  const total = logProbabilities.reduce((sum, one) => sum + one, 0);
  const mean = total / logProbabilities.length;
  const features = (log) => [log, Math.log(Math.max(-Math.expm1(log), 1e-6)), mean];
  const words = target.words.map(() => 0);
  target.wordOfToken.forEach((word, token) => { words[word] += logProbabilities[token]; });
  return {
    confidence: predicted(calibration.sentence, features(total)),
    word_confidence: words.map((log) => predicted(calibration.word, features(log))),
    nonwords: target.words.flatMap((word, index) =>
      (knownWords && !source.words.includes(word) && !knownWords.cover(word) ? [index] : [])),
  };
}
