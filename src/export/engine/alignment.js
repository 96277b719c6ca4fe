// Attention between words, links and their scores: src/alignment and src/translator/linker.rs.

import { forWords, wordsOfTokens } from "./words.js";

const MIN_SOURCE_MASS = 0.25;
const BALANCING_STEPS = 2;
/** Minimum score of a link: with attention and an aligner, with attention alone, with an aligner alone. */
const THRESHOLDS = { both: 0.3, attention: 0.45, aligner: 0.1 };

/** Attention of a pair: `weights`, `[target × source]`, and `ends`, `[target]`, from rows `[source + 1]`. */
export class Alignment {
  constructor(source, target, weights, ends) {
    Object.assign(this, { source, target, weights, ends });
  }

  static fromRows(source, target, rows) {
    const [weights, ends] = [new Float32Array(source.length * target.length), new Float32Array(target.length)];
    target.forEach((_, t) => {
      source.forEach((__, s) => { weights[t * source.length + s] = rows[t][s]; });
      ends[t] = rows[t][source.length];
    });
    return new Alignment(source, target, weights, ends);
  }

  /** The alignments of consecutive sentences in one: no word of one has attention to a word of another. */
  static joined(parts) {
    const [source, target] = [parts.flatMap((part) => part.source), parts.flatMap((part) => part.target)];
    const rows = [];
    let before = 0;
    for (const part of parts) {
      part.target.forEach((_, t) => {
        const row = new Float32Array(source.length + 1);
        row.set(part.row(t), before);
        row[source.length] = part.ends[t];
        rows.push(row);
      });
      before += part.source.length;
    }
    return Alignment.fromRows(source, target, rows);
  }

  /** Merged to words: columns are summed, rows averaged. */
  merged(source, target) {
    const [columns, rows] = [source.words.length, target.words.length];
    const [weights, ends, counts] = [new Float32Array(columns * rows), new Float32Array(rows), new Float32Array(rows)];
    const columnsOfTokens = wordsOfTokens(source);
    wordsOfTokens(target).forEach((range, token) => forWords(range, (word) => {
      counts[word] += 1;
      ends[word] += this.ends[token];
      columnsOfTokens.forEach((ofToken, s) => forWords(ofToken, (column, count) => {
        weights[word * columns + column] += this.weights[token * this.source.length + s] / count;
      }));
    }));
    for (let word = 0; word < rows; word += 1) {
      if (counts[word] <= 1) continue;
      ends[word] /= counts[word];
      for (let s = 0; s < columns; s += 1) weights[word * columns + s] /= counts[word];
    }
    return new Alignment(source.words, target.words, weights, ends);
  }

  row(t) {
    return this.weights.slice(t * this.source.length, (t + 1) * this.source.length);
  }

  /** p(t is aligned to s), evened out, and p(s is aligned to t), both `[target × source]`. */
  directions() {
    const columns = this.source.length;
    const forward = this.weights.slice();
    for (let step = 0; step < BALANCING_STEPS; step += 1) {
      const mass = sourceMass(forward, columns);
      this.ends.forEach((end, t) => {
        let sum = end;
        for (let s = 0; s < columns; s += 1) {
          forward[t * columns + s] /= mass[s];
          sum += forward[t * columns + s];
        }
        for (let s = 0; s < columns; s += 1) forward[t * columns + s] /= Math.max(sum, 1.2e-38);
      });
    }
    const mass = sourceMass(forward, columns);
    return [forward, forward.map((weight, cell) => Math.min(weight / mass[cell % columns], 1))];
  }
}

/** Attention summed over target words; for longer targets, relative to their number for each source word. */
function sourceMass(attention, columns) {
  const sums = new Float32Array(columns);
  attention.forEach((weight, cell) => { sums[cell % columns] += weight; });
  const expected = Math.max(attention.length / columns / columns, 1);
  return sums.map((sum) => Math.max(sum / expected, MIN_SOURCE_MASS));
}

/** Geometric means of both directions. */
export function linkScores([forward, backward]) {
  return forward.map((one, cell) => Math.min(Math.max(Math.sqrt(one * backward[cell]), 0), 1));
}

/** Links of a pair, with all scores. Fixed attention links nothing, so that the aligner alone does. */
export function linkedWords(posteriors, isFixed, aligner) {
  const attended = isFixed ? null : posteriors.directions();
  const statistical = aligner?.posteriors(posteriors.source, posteriors.target) ?? null;
  const cells = posteriors.weights.length;
  const mean = (one, other) => one.map((value, cell) => (value + other[cell]) / 2);
  const directions = attended && statistical ? attended.map((one, index) => mean(one, statistical[index]))
    : attended ?? statistical ?? [new Float32Array(cells), new Float32Array(cells)];
  const scores = linkScores(directions);
  const threshold = isFixed ? THRESHOLDS.aligner : aligner ? THRESHOLDS.both : THRESHOLDS.attention;
  const links = [];
  posteriors.source.forEach((_, s) => posteriors.target.forEach((__, t) => {
    const score = scores[t * posteriors.source.length + s];
    if (score > 0 && score >= Math.fround(threshold)) links.push([s, t]);
  }));
  return { scores, links };
}

/** A matrix as the page draws it, in thousandths. */
export function matrixData(alignment, scores) {
  const thousandths = (weight) => Math.floor(Math.min(Math.max(Math.fround(weight) * 1000, 0), 1000)) || 0;
  const weights = alignment.target.flatMap((_, t) => [...Array.from(alignment.row(t), thousandths), thousandths(alignment.ends[t])]);
  const links = Array.from(scores, thousandths).flatMap((score, cell) => (score > 0 ? [cell, score] : []));
  return { source: alignment.source, target: alignment.target, weights, link_scores: links };
}
