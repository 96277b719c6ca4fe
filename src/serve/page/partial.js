// The translation in progress.

/** Translation put together from the events of its steps. */
export class PartialTranslation {
  constructor() {
    Object.assign(this, { source: null, target: null, text: "", rows: [] });
  }

  /** Adds the event of a step. */
  add({ source, target, text, first_changed: first, attention }) {
    this.source ??= source;
    Object.assign(this, { target, text });
    this.rows.length = first;
    this.rows.push(...attention);
  }

  /** Matrix between words, with a link for the largest weight of each target word. */
  matrix() {
    const { source, target } = this;
    const columns = source.words.length + 1;
    const weights = this.weights(columns);
    const links = target.words.flatMap((_, word) => {
      const row = weights.slice(word * columns, (word + 1) * columns);
      const largest = Math.max(...row);
      const column = row.indexOf(largest);
      return column < columns - 1 && largest > 0 ? [word * (columns - 1) + column, largest] : [];
    });
    return { source: source.words, target: target.words, weights, link_scores: links };
  }

  /** Weights of words, `[target × columns]` in thousandths: means over the target's tokens of sums over the source's. */
  weights(columns) {
    const { source, target, rows } = this;
    const sums = new Array(target.words.length * columns).fill(0);
    const counts = new Array(target.words.length).fill(0);
    rows.forEach((row, token) => {
      const word = target.word_of_token[token];
      counts[word] += 1;
      for (const [column, weight] of row) sums[word * columns + (source.word_of_token[column] ?? columns - 1)] += weight;
    });
    return sums.map((sum, position) => Math.floor(sum / (counts[Math.floor(position / columns)] || 1)));
  }
}
