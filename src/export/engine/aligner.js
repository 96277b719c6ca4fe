// Statistical word aligner: src/aligner.

import { stripPunctuation } from "./words.js";

const UNKNOWN_WORD = -1;
const SINGLETON = 1;
/** Floor of translation probabilities. */
const FLOOR = 1e-7;
/** p₀: probability that a word is emitted by NULL. */
const P_NULL = 0.02;
const MAX_JUMP = 12;
const MAX_RARE_COUNT = 20;
const MIN_LIKELY = 0.03;
const COGNATE_WEIGHT = 0.1;
const IDENTICAL_WEIGHT = 0.3;
const MIN_POSITIVE = 1.1754943508222875e-38;

/** HMM aligner of both directions. */
export class WordAligner {
  constructor({ form, words }, arrays) {
    const both = (name) => [0, 1].map((side) => arrays.get(`aligner.${name}.${side}`).values);
    Object.assign(this, {
      form, words, entries: both("entries"), translations: both("translations"), null: both("null"), counts: both("counts"),
      jumps: both("jumps"),
    });
    this.ids = words.map((side) => new Map(side.map((word, id) => [word, id])));
    this.rows = words.map((side, index) => new EntryRows(this.entries[index], side.length));
  }

  /** Index of the entry of two words, or undefined. */
  entryOf(source, target) {
    return this.rows[0].of(source).find((entry) => this.entries[1][entry] === target);
  }

  /** A word as it is looked up: in lower case and without punctuation around it. */
  normalizedWord(word) {
    const inForm = (text) => (this.form === "none" ? text : text.normalize(this.form.toUpperCase()));
    return inForm(stripPunctuation(inForm(word)).toLowerCase());
  }

  /** p(target word t is aligned to source word s) and p(s is aligned to t), each `[target × source]`. */
  posteriors(source, target) {
    const texts = [source, target].map((words) => words.map((word) => this.normalizedWord(word)));
    const ids = texts.map((side, index) => side.map((word) => {
      const id = this.ids[index].get(word);
      return id !== undefined && this.counts[index][id] > SINGLETON ? id : UNKNOWN_WORD;
    }));
    const [sources, targets] = [source.length, target.length];
    const forward = new Float64Array(targets * sources);
    const backward = new Float64Array(targets * sources);
    for (let s = 0; s < sources; s += 1) {
      for (let t = 0; t < targets; t += 1) {
        const entry = this.entryOf(ids[0][s], ids[1][t]);
        const cognate = this.cognatePrior(texts, ids, s, t);
        [forward, backward].forEach((values, direction) => {
          values[direction === 0 ? t * sources + s : s * targets + t] =
            Math.max(this.translations[direction][entry] ?? FLOOR, FLOOR, cognate[direction]);
        });
      }
    }
    const nulls = [ids[1], ids[0]].map((words, direction) =>
      words.map((id) => Math.max(this.null[direction][id] ?? FLOOR, FLOOR)));
    const bySource = hmmPosteriors(forward, nulls[0], sources, this.jumps[0]);
    const byTarget = hmmPosteriors(backward, nulls[1], targets, this.jumps[1]);
    return [bySource, bySource.map((_, cell) => byTarget[(cell % sources) * targets + Math.floor(cell / sources)])];
  }

  /** Least translation probabilities of rare words that have known cognates, and of identical words. */
  cognatePrior(texts, ids, s, t) {
    const [source, target] = [texts[0][s], texts[1][t]];
    const isRare = (side, id) => (this.counts[side][id] ?? 0) <= MAX_RARE_COUNT;
    const [rareSource, rareTarget] = [isRare(0, ids[0][s]), isRare(1, ids[1][t])];
    const areIdentical = new TextEncoder().encode(source).length > 1 && source === target;
    const raised = areIdentical ? [IDENTICAL_WEIGHT, IDENTICAL_WEIGHT] : [0, 0];
    if (rareTarget) this.raise(raised, 0, ids[0][s], target);
    if (rareSource) this.raise(raised, 1, ids[1][t], source);
    return raised;
  }

  /** Raises probabilities to those of a word's likely translations that are cognates of a rare word of the other side. */
  raise(raised, side, id, rare) {
    const other = 1 - side;
    for (const entry of this.rows[side].of(id)) {
      const probabilities = this.translations.map((values) => values[entry]);
      if (Math.max(...probabilities) < MIN_LIKELY || !areCognates(this.words[other][this.entries[other][entry]], rare)) continue;
      probabilities.forEach((probability, index) => {
        raised[index] = Math.max(raised[index], COGNATE_WEIGHT * probability);
      });
    }
  }
}

/** Entries of each word of a side. */
class EntryRows {
  constructor(ids, words) {
    this.starts = new Uint32Array(words + 1);
    for (const id of ids) this.starts[id + 1] += 1;
    for (let id = 0; id < words; id += 1) this.starts[id + 1] += this.starts[id];
    const places = this.starts.slice();
    this.indices = new Uint32Array(ids.length);
    ids.forEach((id, index) => {
      this.indices[places[id]] = index;
      places[id] += 1;
    });
  }

  /** Indices of a word's entries; none for an unknown word. */
  of(id) {
    return id === UNKNOWN_WORD ? [] : this.indices.subarray(this.starts[id], this.starts[id + 1]);
  }
}

/** True if two words share a prefix of most of the shorter one, or one is a suffix of the other. */
function areCognates(a, b) {
  if (a === b) return false;
  const [first, second] = [[...a], [...b]];
  const shorter = Math.min(first.length, second.length);
  let prefix = 0;
  while (prefix < shorter && first[prefix] === second[prefix]) prefix += 1;
  const isSuffix = a.endsWith(b) || b.endsWith(a);
  return shorter >= 4 && (isSuffix || (prefix >= 4 && prefix >= Math.floor(shorter * 7 / 10)));
}

/** J of a jump. */
function jump(jumps, from, to) {
  return jumps[Math.min(Math.max(to - from + MAX_JUMP, 0), 2 * MAX_JUMP)];
}

/** Transition probabilities from a state, −1 for the start, to each state. */
function transitionRow(jumps, from, states) {
  const row = Float64Array.from({ length: states }, (_, to) => jump(jumps, from, to));
  const sum = row.reduce((total, one) => total + one, 0);
  return row.map((one) => one / sum * (1 - P_NULL));
}

/** γ `[observations × states]` from p(observation | state) and p(observation | NULL), by the forward-backward algorithm. */
function hmmPosteriors(emissions, nullEmissions, states, jumps) {
  const observations = nullEmissions.length;
  const gamma = new Float32Array(observations * states);
  if (observations === 0 || states === 0) return gamma;
  const transitions = Array.from({ length: states }, (_, from) => transitionRow(jumps, from, states));
  const [words, masses] = [[], []];
  for (let t = 0; t < observations; t += 1) {
    let word = transitionRow(jumps, -1, states);
    let kept = new Float64Array(states).fill(P_NULL * nullEmissions[t] / states);
    if (t > 0) {
      const before = masses[t - 1];
      word = new Float64Array(states);
      transitions.forEach((row, from) => row.forEach((value, to) => { word[to] += before[from] * value; }));
      kept = before.map((mass) => P_NULL * nullEmissions[t] * mass);
    }
    word = word.map((sum, state) => sum * emissions[t * states + state]);
    const sum = word.reduce((total, one, state) => total + one + kept[state], 0);
    const scale = 1 / Math.max(sum, MIN_POSITIVE);
    words.push(word.map((one) => one * scale));
    masses.push(word.map((one, state) => (one + kept[state]) * scale));
  }
  let after = Float64Array.from({ length: states }, (_, from) => jump(jumps, from, states));
  for (let t = observations - 1; t >= 0; t -= 1) {
    const sum = after.reduce((total, one, state) => total + one * masses[t][state], 0);
    const scale = 1 / Math.max(sum, MIN_POSITIVE);
    after.forEach((one, state) => {
      gamma[t * states + state] = Math.min(Math.max(words[t][state] * one * scale, 0), 1);
    });
    if (t === 0) break;
    const arriving = after.map((one, state) => one * emissions[t * states + state]);
    const before = after.map((one, from) => P_NULL * nullEmissions[t] * one +
      transitions[from].reduce((total, value, to) => total + value * arriving[to], 0));
    const largest = before.reduce((most, one) => Math.max(most, one), MIN_POSITIVE);
    after = before.map((one) => one / largest);
  }
  return gamma;
}
