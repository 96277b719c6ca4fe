// Attention: src/attention/reference and src/attention/scores.

import { linear } from "./kernels.js";

/** Energies of a head: `query` and the keys' rows are slices of `width` numbers, from `first` on. */
const SCORES = {
  additive({ query, keys, size, first, width, length, param }, energies) {
    for (let position = 0; position < length; position += 1) {
      let energy = 0;
      for (let index = first; index < first + width; index += 1) {
        energy += param[index] * Math.tanh(query[index] + keys[position * size + index]);
      }
      energies[position] = energy;
    }
  },
  dot({ query, keys, size, first, width, length }, energies) {
    for (let position = 0; position < length; position += 1) {
      let energy = 0;
      for (let index = first; index < first + width; index += 1) energy += query[index] * keys[position * size + index];
      energies[position] = energy;
    }
  },
  cosine(step, energies) {
    const { query, keys, size, first, width, length, param, head } = step;
    SCORES.dot(step, energies);
    const norm = (values, start) => {
      let sum = 0;
      for (let index = start; index < start + width; index += 1) sum += values[index] ** 2;
      return Math.max(Math.sqrt(sum), 1e-6);
    };
    const queryNorm = norm(query, first);
    for (let position = 0; position < length; position += 1) {
      energies[position] *= param[head] / (queryNorm * norm(keys, position * size + first));
    }
  },
  mean(_step, energies) {
    energies.fill(0);
  },
  last({ head, length }, energies) {
    for (let position = 0; position < length; position += 1) energies[position] = position * (head === 0 ? 1e3 : -1e3);
  },
};
SCORES["scaled-dot"] = SCORES.dot;
SCORES.general = SCORES.dot;

/** Own parameter of the scores that have one. */
const PARAMS = { additive: "energy", cosine: "sharpness" };

/** Attention over the arrays of a model. */
export class Attention {
  constructor(config, arrays, hidden) {
    const { score = "additive", heads = 1, temperature = 1, choice = "soft" } = config ?? {};
    const get = (name) => arrays.get(`attention.${name}.weight`) ?? null;
    Object.assign(this, {
      score, heads: score === "last" ? 2 : heads, temperature, mode: choice, hidden, isProjected: heads > 1,
      query: get("query"), key: get("key"), value: get("value"), output: get("output"),
      param: PARAMS[score] ? get(PARAMS[score]).values : null, isFixed: score === "mean" || score === "last",
    });
  }

  get isExact() {
    return this.mode === "exact";
  }

  /** Keys, values and the contexts of single positions of annotations `[length, n]`. */
  projectMemory(annotations, length) {
    const projected = (weight, rows) => (weight ? linear(weight, rows, length) : rows);
    const keys = projected(this.key, annotations);
    const values = projected(this.value, annotations);
    return { annotations, keys, values, length };
  }

  /** Context of each position if it has all the weight, `[length, n]`. */
  contextsOfTokens({ values, length }) {
    return this.output ? linear(this.output, values, length) : values;
  }

  /**
   * Attends for the states of `count` rows. `options` may have another `temperature`, `isHard`, and `given` weights,
   * `[heads][length]`. Returns contexts `[count, n]`, and of each row `alphas`, mean over the heads, `reported` and `heads`.
   */
  attend(memory, states, count, { temperature = this.temperature, isHard = false, given = null } = {}) {
    const { hidden, heads, score } = this;
    const { keys, values, length } = memory;
    const queries = this.query ? linear(this.query, states, count) : states;
    const size = queries.length / count;
    const [width, depth] = [size / (score === "last" ? 1 : heads), hidden / heads];
    const selects = isHard || this.mode === "hardest" || this.mode === "sampled";
    const divisor = temperature * (score === "scaled-dot" ? Math.sqrt(width) : 1);
    let contexts = new Float32Array(count * hidden);
    const rows = [];
    for (let row = 0; row < count; row += 1) {
      const query = queries.subarray(row * size, (row + 1) * size);
      const [soft, pooling] = [[], []];
      for (let head = 0; head < heads; head += 1) {
        const weights = new Float32Array(length);
        SCORES[score]({ query, keys, size, first: score === "last" ? 0 : head * width, width, length, param: this.param, head }, weights);
        softenInPlace(weights, divisor);
        const pools = given ? given[head] : selects ? oneHot(weights) : weights;
        soft.push(given && !selects ? given[head] : weights);
        pooling.push(pools);
        const context = row * hidden + head * depth;
        for (let position = 0; position < length; position += 1) {
          const weight = pools[position];
          if (weight === 0) continue;
          const value = position * hidden + head * depth;
          for (let index = 0; index < depth; index += 1) contexts[context + index] += weight * values[value + index];
        }
      }
      rows.push({ alphas: meanOf(soft), reported: meanOf(pooling), heads: pooling });
    }
    if (this.output) contexts = linear(this.output, contexts, count);
    return { contexts, rows };
  }
}

/** Softmax of energies divided by a temperature. */
function softenInPlace(energies, divisor) {
  let largest = -Infinity;
  for (const energy of energies) largest = Math.max(largest, energy);
  let sum = 0;
  for (let index = 0; index < energies.length; index += 1) {
    energies[index] = Math.exp((energies[index] - largest) / divisor);
    sum += energies[index];
  }
  for (let index = 0; index < energies.length; index += 1) energies[index] /= sum;
}

/** 1 at the first of the largest weights. */
function oneHot(weights) {
  const selected = new Float32Array(weights.length);
  selected[weights.indexOf(Math.max(...weights))] = 1;
  return selected;
}

function meanOf(heads) {
  if (heads.length === 1) return heads[0];
  return heads[0].map((_, position) => heads.reduce((sum, head) => sum + head[position], 0) / heads.length);
}
