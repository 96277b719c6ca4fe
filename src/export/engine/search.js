// Beam search, with greedy search beside it: src/search/beam.rs, settings.rs and hypothesis_arena.rs.

import { BEGIN, END } from "./vocabulary.js";

/** Indices of the searches: with the requested width, and greedy. */
const WIDE = 0;
const GREEDY = 1;
const MIN_COVERAGE = 0.02;
const LENGTH_FACTOR = 2;
const LENGTH_EXTRA = 20;

/** Coverage of the source by the tokens of a hypothesis. */
export class Coverage {
  constructor(sums = null, length = 0) {
    Object.assign(this, { sums, length });
  }

  /** With the attention of one more token. */
  with(row) {
    const sums = Float64Array.from(row, (alpha, index) => (this.sums ? this.sums[index] : MIN_COVERAGE) + alpha);
    return new Coverage(sums, this.length + 1);
  }

  /** (log p + β Σ_j ln min(1, coverage)) / lengthᵅ */
  score(logProbability, { lengthPenalty, coveragePenalty }) {
    let uncovered = 0;
    for (const sum of this.sums ?? []) uncovered += Math.log(Math.min(sum, 1));
    return (logProbability + coveragePenalty * uncovered) / this.length ** lengthPenalty;
  }
}

function betterFirst(one, other) {
  return other.logProbability - one.logProbability || one.parent - other.parent || one.token - other.token;
}

/** Beam of one sentence. A step is `{ parent, token, logProbability, coverage, attention, length }`; `parent` is a step or null. */
class Beam {
  constructor(options, prefix, sourceTokens) {
    Object.assign(this, { options, prefix, complete: [], bestScore: -Infinity, widths: [options.beam, 1] });
    this.maxTokens = Math.floor(sourceTokens * LENGTH_FACTOR) + LENGTH_EXTRA + prefix.length;
    this.live = [{ row: 0, last: null, keptBy: [true, options.beam > 1] }];
  }

  /** Extensions that one search keeps, best first. */
  bestExtensions(search, predictions) {
    const extensions = [];
    this.live.forEach(({ last, keptBy }, parent) => {
      if (!keptBy[search]) return;
      const forced = this.prefix[last?.length ?? 0];
      const width = this.widths[search];
      const candidates = forced === undefined ? predictions[parent].best(width) : [predictions[parent].candidate(forced)];
      for (const { token, logProbability } of candidates.slice(0, width)) {
        extensions.push({
          parent, token, logProbability: (last?.logProbability ?? 0) + logProbability,
          keptBy: [search === WIDE, search === GREEDY],
        });
      }
    });
    return extensions.sort(betterFirst).slice(0, this.widths[search]);
  }

  /** Replaces the live hypotheses by their best extensions. */
  extend(predictions, observer) {
    const kept = this.bestExtensions(WIDE, predictions);
    for (const extension of this.bestExtensions(GREEDY, predictions)) {
      const same = kept.find(({ parent, token }) => parent === extension.parent && token === extension.token);
      if (same) same.keptBy[GREEDY] = true;
      else kept.push(extension);
    }
    const parents = this.live;
    this.live = [];
    const extended = kept.map(({ parent: row, token, logProbability, keptBy }) => {
      const { last: parent } = parents[row];
      const { attention } = predictions[row];
      const coverage = (parent?.coverage ?? new Coverage()).with(attention);
      const step = { parent, token, logProbability, attention, coverage, length: coverage.length };
      if (token === END) this.finish(step, keptBy);
      return { row, last: step, keptBy };
    });
    for (const hypothesis of extended) {
      const goesOn = hypothesis.last.token !== END && this.isPromising(hypothesis);
      observer.onExtension(hypothesis.row, hypothesis.last, goesOn);
      if (goesOn) this.live.push(hypothesis);
    }
  }

  finish(step, keptBy) {
    this.complete.push({ last: step, isFinished: true });
    keptBy.forEach((isKept, search) => {
      if (isKept) this.widths[search] = Math.max(this.widths[search] - 1, 0);
    });
    this.bestScore = Math.max(this.bestScore, this.score(step));
  }

  /** True if a search that has not finished keeps the hypothesis. */
  isPromising({ keptBy, last }) {
    keptBy.forEach((isKept, search) => {
      keptBy[search] = isKept && this.widths[search] > 0;
    });
    if (keptBy[WIDE] || !keptBy[GREEDY]) return keptBy[WIDE];
    return [last.length + 1, this.maxTokens].some((length) =>
      last.logProbability / length ** this.options.lengthPenalty > this.bestScore);
  }

  /** Completes the live hypotheses without `</s>`. */
  stop() {
    for (const { last } of this.live) this.complete.push({ last, isFinished: false });
    this.live = [];
  }

  score({ coverage, logProbability }) {
    return coverage.score(logProbability, this.options);
  }

  /** The best complete hypothesis; null if no prediction was a number. */
  best() {
    const ranked = this.complete.map((one) => ({ ...one, score: this.score(one.last) }));
    ranked.sort((one, other) => other.isFinished - one.isFinished || other.score - one.score);
    return ranked[0] ?? null;
  }
}

/**
 * Searches for the translation of a source. `prefix` has the ids of its first tokens, `intervention` the step and the weights
 * `[heads][length]` of attention moved by hand. `observer` sees each step; it may end the search by returning true from
 * `onStep`, whose result is null then.
 */
export async function search(decoder, { options, prefix = [], intervention = null }, observer) {
  const beam = new Beam(options, prefix, decoder.memory.length);
  for (let length = 1; beam.live.length > 0; length += 1) {
    const parents = beam.live.map(({ row }) => row);
    const tokens = beam.live.map(({ last }) => last?.token ?? BEGIN);
    const given = intervention?.step === length - 1 ? intervention.weights : null;
    const predictions = decoder.step(parents, tokens, given);
    observer.onPredictions(predictions);
    beam.extend(predictions, observer);
    if (length >= beam.maxTokens) beam.stop();
    if (await observer.onStep()) return null;
  }
  const found = beam.best();
  return found && hypothesisOf(found);
}

/** Tokens without `</s>`, attention with it, and log-probabilities. */
function hypothesisOf({ last, isFinished, score }) {
  const steps = [];
  for (let step = last; step !== null; step = step.parent) steps.unshift(step);
  return {
    steps, isFinished, score, logProbability: last.logProbability,
    tokens: steps.slice(0, steps.length - isFinished).map(({ token }) => token),
    attention: steps.map(({ attention }) => attention),
    tokenLogProbabilities: steps.map(({ logProbability, parent }) => logProbability - (parent?.logProbability ?? 0)),
  };
}
