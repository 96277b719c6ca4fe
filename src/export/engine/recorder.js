// The tree of the beam and the steps of a translation: src/translator/trace and src/translator/trace/recorder.rs.

import { Coverage, brevity } from "./search.js";
import { END } from "./vocabulary.js";

/** Observer of a search. `onReport(step)` receives the best hypothesis so far, and `pause()` is awaited after each step. */
export class BeamRecorder {
  constructor({ candidates, options, onReport, pause }) {
    Object.assign(this, { candidates, options, onReport, pause });
    Object.assign(this, { nodes: [], live: [null], nextLive: [], step: 0, reported: [] });
  }

  onPredictions(predictions) {
    this.predictions = predictions;
  }

  onExtension(row, last, goesOn) {
    const parent = this.live[row];
    const coverage = (parent?.coverage ?? new Coverage()).with(last.attention);
    const node = {
      parent, step: this.step, token: last.token, logProbability: last.logProbability, coverage, children: 0,
      isDropped: last.token !== END && !goesOn, isBest: false, prediction: this.predictions[row],
      index: this.nodes.length,
    };
    if (!node.isDropped && parent) parent.children += 1;
    if (goesOn) this.nextLive.push(node);
    this.nodes.push(node);
  }

  async onStep() {
    const before = this.live;
    [this.live, this.nextLive] = [this.nextLive, []];
    before.forEach((node) => node && release(node));
    this.step += 1;
    if (this.live.length > 0) this.report();
    return this.pause();
  }

  /** Reports the best live hypothesis. */
  report() {
    const path = pathOf(this.live[0]);
    let first = 0;
    while (first < path.length && path[first] === this.reported[first]) first += 1;
    this.reported = path;
    this.onReport({
      step: this.step, tokens: path.map(({ token }) => token), first_changed: first,
      attention: path.slice(first).map(({ prediction }) => prediction.attention),
    });
  }

  /** The trace of the best hypothesis: its steps and the beam. `tokenOf(id)` describes a token. */
  trace(hypothesis, tokenOf) {
    let parent = null;
    const path = [];
    for (const { token } of hypothesis.steps) {
      const from = parent;
      const node = this.nodes.find((one) => one.parent === from && one.token === token);
      if (!node) break;
      Object.assign(node, { isBest: true, isDropped: false });
      path.push(node);
      parent = node;
    }
    const steps = path.map(({ token, prediction, logProbability, parent: before }) => ({
      ...tokenOf(token), log_probability: logProbability - (before?.logProbability ?? 0), entropy: prediction.entropy(),
      candidates: prediction.best(this.candidates).map((one) => ({ ...tokenOf(one.token), log_probability: one.logProbability })),
      attention: [...prediction.attention], heads: prediction.heads.map((head) => [...head]),
      attention_entropy: entropyOf(prediction.attention),
    }));
    const beam = this.nodes.map((node) => ({
      parent: node.parent?.index ?? null, step: node.step, ...tokenOf(node.token), log_probability: node.logProbability,
      score: node.coverage.score(node.logProbability, this.options) - (node.token === END ? brevity(node, this.options) : 0),
      ended: node.token === END, dropped: node.isDropped, best: node.isBest,
    }));
    return { steps, beam };
  }
}

/** Unless a node has extensions, marks it as dropped, with all that only it goes back to. */
function release(last) {
  for (let node = last; node !== null && node.children === 0; node = node.parent) {
    node.isDropped = true;
    node.prediction = null;
    if (node.parent) node.parent.children -= 1;
  }
}

function pathOf(last) {
  const path = [];
  for (let node = last; node !== null; node = node.parent) path.unshift(node);
  return path;
}

function entropyOf(weights) {
  return weights.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0);
}
