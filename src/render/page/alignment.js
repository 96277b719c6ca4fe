// Alignment matrices, and words as text. All weights are in thousandths.

/** Label of the column of the source's end of sentence. */
const END = "</s>";

/** The weight of target word `t` on source word `s`; the source's end is `s = source.length`. */
function weightOf(matrix, s, t) {
  return matrix.weights[t * (matrix.source.length + 1) + s];
}

/** Links with a score of at least `threshold`. */
function linksOf(matrix, threshold) {
  const links = [];
  for (let place = 0; place < matrix.link_scores.length; place += 2) {
    const [cell, weight] = [matrix.link_scores[place], matrix.link_scores[place + 1]];
    const [s, t] = [cell % matrix.source.length, Math.floor(cell / matrix.source.length)];
    if (weight >= threshold) links.push({ s, t, weight });
  }
  return links;
}

/** Weight in percent. */
function percent(weight) {
  return weight > 0 && weight < 10 ? "<1 %" : `${Math.round(weight / 10)} %`;
}

/** Text with control characters replaced by their pictures. */
function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/g, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** True if words run from right to left, by their first letter as in the Unicode Bidirectional Algorithm. */
function runsRightToLeft(words) {
  const letter = /\p{L}/u.exec(words.join(" "));
  return letter !== null && RIGHT_TO_LEFT.test(letter[0]);
}
