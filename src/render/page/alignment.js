// Alignment matrices, and words as text. All weights are in thousandths.

/** Label of the column of the source's end of sentence. */
export const END = "</s>";

/** The weight of target word `t` on source word `s`; the source's end is `s = source.length`. */
export function weightOf(matrix, s, t) {
  return matrix.weights[t * (matrix.source.length + 1) + s];
}

/** Links with a score of at least `threshold`. */
export function linksOf(matrix, threshold) {
  const { source, link_scores: scores } = matrix;
  const links = [];
  for (let index = 0; index < scores.length; index += 2) {
    const [position, weight] = [scores[index], scores[index + 1]];
    if (weight >= threshold) links.push({ s: position % source.length, t: Math.floor(position / source.length), weight });
  }
  return links;
}

/** The partners of a word with their weights, heaviest first: `index` is null for the source's end. */
export function partnersOf(matrix, side, index) {
  const partners = [];
  if (side === "source") {
    matrix.target.forEach((_, t) => partners.push({ index: t, weight: weightOf(matrix, index, t) }));
  } else {
    matrix.source.forEach((_, s) => partners.push({ index: s, weight: weightOf(matrix, s, index) }));
    partners.push({ index: null, weight: weightOf(matrix, matrix.source.length, index) });
  }
  return partners.filter(({ weight }) => weight >= 10).sort((a, b) => b.weight - a.weight);
}

/** The other side. */
export function opposite(side) {
  return side === "source" ? "target" : "source";
}

/** Weight in percent. */
export function percent(weight) {
  return weight > 0 && weight < 10 ? "<1 %" : `${Math.round(weight / 10)} %`;
}

/** Text with control characters replaced by their pictures. */
export function visible(text) {
  return text.replace(/[\p{Cc}\ufffe\uffff]/gu, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** True if words run from right to left, by their first letter as in the Unicode Bidirectional Algorithm. */
export function runsRightToLeft(words) {
  const letter = /\p{L}/u.exec(words.join(" "));
  return letter !== null && RIGHT_TO_LEFT.test(letter[0]);
}
