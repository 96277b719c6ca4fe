// Beam search, with greedy search beside it: src/search/beam.rs, settings.rs, expected_length.rs and hypothesis_arena.rs.

import { allocated } from "./constraints.js";
import { BEGIN, END } from "./vocabulary.js";

/** Kinds of search: with the requested width, and greedy. */
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

/** Share of the mean length that every translation is expected to have. */
const EXPECTED_SHARE = 0.8;

/** Length in characters that every translation of a source is expected to have. */
export class ExpectedLength {
  constructor(mean, vocabulary) {
    Object.assign(this, { characters: EXPECTED_SHARE * mean, vocabulary });
  }

  /** Share of the length that a translation lacks, whose last step or node is given. */
  lackingShare(last) {
    let characters = 0;
    for (let step = last; step !== null; step = step.parent) characters += [...this.vocabulary.surface(step.token)].length;
    return Math.max(1 - characters / this.characters, 0);
  }
}

/** Brevity penalty of a complete hypothesis; 0 if no length is expected. */
export function brevity(last, { brevityPenalty, expectedLength }) {
  return expectedLength ? brevityPenalty * expectedLength.lackingShare(last) : 0;
}

function betterFirst(one, other) {
  return other.sum - one.sum || one.parent - other.parent || one.token - other.token;
}

/**
 * Beam of one sentence. A step is `{ parent, token, logProbability, coverage, attention, length, state }`; `parent` is a step or
 * null, and `state` the progress through the constraints.
 */
class Beam {
  constructor(options, constraints, sourceTokens) {
    const required = constraints.requiredTokens;
    Object.assign(this, {
      options, constraints, complete: [], bestScore: -Infinity, widths: [options.beam + required, 1 + required],
    });
    this.maxTokens = Math.floor(sourceTokens * LENGTH_FACTOR) + LENGTH_EXTRA + constraints.prefix.length + required;
    this.live = [{ row: 0, last: null, keptBy: [true, options.beam > 1] }];
  }

  /** Extensions that one search keeps, best first. If the constraints allow none, the search stops. */
  bestExtensions(kind, predictions) {
    let extensions = this.extensions(kind, predictions, true);
    if (extensions.length === 0 && !this.constraints.isEmpty) {
      extensions = this.extensions(kind, predictions, false);
      if (extensions.length === 0) this.stop(kind);
    }
    return allocated(extensions.sort(betterFirst), this.widths[kind], this.constraints.requiredTokens);
  }

  extensions(kind, predictions, onlyAgreeing) {
    const { constraints } = this;
    return this.live.flatMap(({ last, keptBy }, parent) => {
      if (!keptBy[kind]) return [];
      const before = last?.state ?? constraints.start();
      return constraints.candidates(before, predictions[parent], this.widths[kind], onlyAgreeing).map((candidate) => {
        const state = constraints.advance(before, candidate.token, predictions[parent].attention);
        const logProbability = (last?.logProbability ?? 0) + candidate.logProbability;
        return {
          parent, token: candidate.token, logProbability, state, sum: logProbability + state.penalty, bank: constraints.bank(state),
          keptBy: [kind === WIDE, kind === GREEDY],
        };
      });
    });
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
    const extended = kept.map(({ parent: row, token, logProbability, state, keptBy }) => {
      const { last: parent } = parents[row];
      const { attention } = predictions[row];
      const coverage = (parent?.coverage ?? new Coverage()).with(attention);
      const step = { parent, token, logProbability, attention, coverage, state, length: coverage.length };
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
    keptBy.forEach((isKept, kind) => {
      if (isKept) this.widths[kind] = Math.max(this.widths[kind] - 1, 0);
    });
    this.bestScore = Math.max(this.bestScore, this.score(step));
  }

  /** True if a search that has not finished keeps the hypothesis. */
  isPromising({ keptBy, last }) {
    keptBy.forEach((isKept, kind) => {
      keptBy[kind] = isKept && this.widths[kind] > 0;
    });
    if (keptBy[WIDE] || !keptBy[GREEDY]) return keptBy[WIDE];
    return [last.length + 1, this.maxTokens].some((length) =>
      last.logProbability / length ** this.options.lengthPenalty > this.bestScore);
  }

  /** Completes the live hypotheses of a search without `</s>`. */
  stop(kind) {
    for (const { last, keptBy } of this.live) {
      if (keptBy[kind] && last && this.complete.every((one) => one.last !== last)) this.complete.push({ last, isFinished: false });
    }
  }

  /** Score of a complete hypothesis. */
  score(last) {
    const score = last.coverage.score(last.logProbability + this.constraints.penalty(last.state), this.options);
    return score - brevity(last, this.options);
  }

  /** The best complete hypothesis; null if no prediction was a number. */
  best() {
    const ranked = this.complete.map((one) => ({ ...one, score: this.score(one.last) }));
    ranked.sort((one, other) => other.isFinished - one.isFinished || other.score - one.score);
    return ranked[0] ?? null;
  }
}

/**
 * Searches for the translation of a source. `intervention` has the step and the weights `[heads][length]` of attention moved by
 * hand. `observer` sees each step; it may end the search by returning true from
 * `onStep`, whose result is null then.
 */
export async function search(decoder, { options, constraints, intervention = null }, observer) {
  const beam = new Beam(options, constraints, decoder.memory.length);
  for (let length = 1; beam.live.length > 0; length += 1) {
    const parents = beam.live.map(({ row }) => row);
    const tokens = beam.live.map(({ last }) => last?.token ?? BEGIN);
    const given = intervention?.step === length - 1 ? intervention.weights : null;
    const predictions = decoder.step(parents, tokens, given);
    observer.onPredictions(predictions);
    beam.extend(predictions, observer);
    if (length >= beam.maxTokens) {
      beam.stop(WIDE);
      beam.stop(GREEDY);
      beam.live = [];
    }
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
    steps, isFinished, score, state: last.state, logProbability: last.logProbability,
    tokens: steps.slice(0, steps.length - isFinished).map(({ token }) => token),
    attention: steps.map(({ attention }) => attention),
    tokenLogProbabilities: steps.map(({ logProbability, parent }) => logProbability - (parent?.logProbability ?? 0)),
  };
}
