// Encoder and decoder: src/model/reference.

import { Attention } from "./attention.js";
import { columnsOf, Gru, linear, logSumExp, softmax } from "./kernels.js";
import { BEGIN, END } from "./vocabulary.js";

/** ε of the lexical bias. */
const EPSILON = 1e-3;
/** Least vocabulary with shortlists, and its tokens that are on all of them. */
const MIN_SHORTLIST_VOCABULARY = 3000;
const FREQUENT_TOKENS = 1024;
/** Most tokens that stand for those that are not frequent. */
const MAX_SAMPLE = 4096;
/** Tokens that are always candidates of posterior attention, and source tokens that a target token may come from. */
const FREQUENT_CANDIDATES = 256;
const ATTENDED = 64;

/** Numbers of rows of `width`, chosen by indices. */
function selectRows(values, width, indices) {
  const selected = new Float32Array(indices.length * width);
  indices.forEach((index, row) => selected.set(values.subarray(index * width, (index + 1) * width), row * width));
  return selected;
}

function tanhInPlace(values) {
  for (let index = 0; index < values.length; index += 1) values[index] = Math.tanh(values[index]);
  return values;
}

/** Rows of a sparse lexicon: tokens and probabilities of each source token. */
class Lexicon {
  constructor(arrays) {
    const values = (name) => arrays.get(`lexicon.${name}`)?.values ?? null;
    Object.assign(this, { starts: values("starts"), tokens: values("tokens"), probabilities: values("probabilities") });
    this.unlinked = { starts: values("unlinked.starts"), tokens: values("unlinked.tokens") };
  }

  /** Adds a source token's probabilities, times a weight, to those of the target tokens. */
  add(source, weight, sums) {
    for (let index = this.starts[source]; index < this.starts[source + 1]; index += 1) {
      sums[this.tokens[index]] += weight * this.probabilities[index];
    }
  }

  /** Target tokens of a sentence, in order; null if all are allowed. */
  shortlist(source) {
    if (!this.unlinked.starts) return null;
    const tokens = new Set(Array.from({ length: FREQUENT_TOKENS }, (_, token) => token));
    for (const rows of [this, this.unlinked]) {
      for (const token of source) {
        for (let index = rows.starts[token]; index < rows.starts[token + 1]; index += 1) tokens.add(rows.tokens[index]);
      }
    }
    return [...tokens].sort((a, b) => a - b);
  }
}

/** Encoder, decoder and output layer over the arrays of a model. */
export class Model {
  constructor(architecture, arrays) {
    const get = (name) => {
      const found = arrays.get(name);
      if (!found) throw new Error(`the model lacks ${name}`);
      return found;
    };
    const { hidden_size: n, embedding_size: e, layers, decoder = "bahdanau" } = architecture;
    Object.assign(this, { n, e, usesMean: architecture.initial_state === "mean", vocabulary: architecture.target_vocabulary });
    this.sourceEmbedding = get("source_embedding.weight").values;
    this.targetEmbedding = get("target_embedding.weight").values;
    this.layers = Array.from({ length: layers }, (_, layer) => ["", "_reverse"].map((direction) =>
      new Gru((part) => get(`encoder.${part}_l${layer}${direction}`))));
    this.initial = { weight: get("decoder.initial.weight"), bias: get("decoder.initial.bias").values };
    this.attention = new Attention(architecture.attention, arrays, n);
    this.wordCell = new Gru((part) => get(`decoder.cell.${part}`));
    this.contextCell = null;
    this.contextGates = null;
    if (decoder === "conditional") this.contextCell = new Gru((part) => get(`decoder.context_cell.${part}`));
    else {
      this.contextGates = columnsOf(this.wordCell.weightIh, e, n);
      this.wordCell.weightIh = columnsOf(this.wordCell.weightIh, 0, e);
    }
    const readout = get("readout.weight");
    this.readout = {
      state: columnsOf(readout, 0, n), word: columnsOf(readout, n, e), context: columnsOf(readout, n + e, n),
      bias: get("readout.bias").values,
    };
    this.outputWeight = get(architecture.tied_output ? "target_embedding.weight" : "output.weight");
    this.outputBias = get("output.bias").values;
    this.lexicon = architecture.lexicon ? new Lexicon(arrays) : null;
    this.wordGates = new Map();
    // Memory of one sum for all steps.
    this.lexicalSums = new Float32Array(this.vocabulary);
  }

  /** Annotations `[length, n]` of source tokens, with `</s>`. */
  annotate(ids) {
    let rows = selectRows(this.sourceEmbedding, this.e, ids);
    const half = this.n / 2;
    for (const [forward, backward] of this.layers) {
      const directions = [forward.sequence(rows, ids.length, false), backward.sequence(rows, ids.length, true)];
      rows = new Float32Array(ids.length * this.n);
      for (let position = 0; position < ids.length; position += 1) {
        directions.forEach((states, side) =>
          rows.set(states.subarray(position * half, (position + 1) * half), position * this.n + side * half));
      }
    }
    return rows;
  }

  /** The encoded source, from its tokens without `</s>`. */
  memory(source) {
    const ids = [...source, END];
    return { ...this.attention.projectMemory(this.annotate(ids), ids.length), ids };
  }

  /** s_0 = tanh(W_init m + b). */
  initialState({ annotations, length }) {
    const { n, usesMean } = this;
    let summary = annotations.slice(n / 2, n);
    if (usesMean) {
      summary = new Float32Array(n);
      for (let index = 0; index < annotations.length; index += 1) summary[index % n] += annotations[index] / length;
    }
    return tanhInPlace(linear(this.initial.weight, summary, 1, this.initial.bias));
  }

  /** Share of the gates of previous tokens, computed once for each token. */
  gatesOfWords(tokens) {
    const width = 3 * this.n;
    const gates = new Float32Array(tokens.length * width);
    tokens.forEach((token, row) => {
      if (!this.wordGates.has(token)) {
        const embedded = this.targetEmbedding.subarray(token * this.e, (token + 1) * this.e);
        this.wordGates.set(token, this.wordCell.inputGates(embedded, 1));
      }
      gates.set(this.wordGates.get(token), row * width);
    });
    return gates;
  }

  /** u_t and s_t: one step of the recurrence from states `[rows, n]` and the previous tokens. */
  recur(memory, states, tokens, options) {
    const count = tokens.length;
    const gates = this.gatesOfWords(tokens);
    if (this.contextCell) {
      const query = this.wordCell.step(gates, states, count);
      const attention = this.attention.attend(memory, query, count, options);
      return { states: this.contextCell.step(this.contextCell.inputGates(attention.contexts, count), query, count), ...attention };
    }
    const attention = this.attention.attend(memory, states, count, options);
    const ofContexts = linear(this.contextGates, attention.contexts, count);
    for (let index = 0; index < gates.length; index += 1) gates[index] += ofContexts[index];
    return { states: this.wordCell.step(gates, states, count), ...attention };
  }

  /** Share of state and previous token in the readout, before tanh: `[rows, e]`. */
  readoutOfState(states, tokens) {
    const count = tokens.length;
    const sums = linear(this.readout.state, states, count, this.readout.bias);
    const words = linear(this.readout.word, selectRows(this.targetEmbedding, this.e, tokens), count);
    for (let index = 0; index < sums.length; index += 1) sums[index] += words[index];
    return sums;
  }

  /** Logits `[rows, V]` of the readouts before tanh, with the context's share added. */
  logitsOf(readouts, contexts, count) {
    const ofContexts = linear(this.readout.context, contexts, count);
    const sums = readouts.map((value, index) => value + ofContexts[index]);
    return linear(this.outputWeight, tanhInPlace(sums), count, this.outputBias);
  }

  /** Adds ln(1 + Σ_j α_j L[x_j] / ε) to logits. */
  addLexicalBias(logits, ids, alphas) {
    if (!this.lexicon) return;
    const sums = this.lexicalSums.fill(0);
    ids.forEach((id, position) => this.lexicon.add(id, alphas[position], sums));
    for (let token = 0; token < sums.length; token += 1) if (sums[token] > 0) logits[token] += Math.log(1 + sums[token] / EPSILON);
  }

  /** Decoder of a source, one step at a time for any number of rows. */
  decoder(memory, options) {
    return new IncrementalDecoder(this, memory, options);
  }

  /** ln p of the mixture of each position's prediction, under exact hard attention. */
  logMixture(readout, memory, alphas) {
    const mixed = new Float32Array(this.vocabulary);
    for (let position = 0; position < memory.length; position += 1) {
      const probabilities = softmax(this.logitsByPosition(readout, memory, position));
      for (let token = 0; token < mixed.length; token += 1) mixed[token] += alphas[position] * probabilities[token];
    }
    return mixed.map(Math.log);
  }

  logitsByPosition(readout, memory, position) {
    const context = memory.annotations.subarray(position * this.n, (position + 1) * this.n);
    const logits = this.logitsOf(readout, context, 1);
    this.addLexicalBias(logits, [memory.ids[position]], [1]);
    return logits;
  }

  /** Posterior attention of target tokens, with `</s>`: a row `[length]` for each. */
  posteriorAttention(memory, target, options) {
    const tokens = [...target, END];
    const candidates = this.attention.isExact ? Array.from({ length: this.vocabulary }, (_, token) => token)
      : [...new Set([...Array(Math.min(FREQUENT_CANDIDATES, this.vocabulary)).keys(), ...tokens])];
    const weight = { values: selectRows(this.outputWeight.values, this.e, candidates), shape: [candidates.length, this.e] };
    const bias = selectRows(this.outputBias, 1, candidates);
    const contexts = linear(this.readout.context, this.attention.contextsOfTokens(memory), memory.length);
    const lexical = memory.ids.map((id) => this.lexicalRow(id, candidates));
    let states = this.initialState(memory);
    return tokens.map((token, step) => {
      const previous = [step === 0 ? BEGIN : tokens[step - 1]];
      const recurred = this.recur(memory, states, previous, options);
      ({ states } = recurred);
      const readout = this.readoutOfState(states, previous);
      const alphas = this.attention.isExact ? recurred.rows[0].alphas : keepLargest(recurred.rows[0].alphas);
      const attended = [...alphas.keys()].filter((position) => alphas[position] > 0);
      const readouts = new Float32Array(attended.length * this.e);
      attended.forEach((position, row) => readout.forEach((value, index) => {
        readouts[row * this.e + index] = Math.tanh(value + contexts[position * this.e + index]);
      }));
      const logits = linear(weight, readouts, attended.length, bias);
      const joint = new Array(alphas.length).fill(0);
      attended.forEach((position, row) => {
        const own = logits.subarray(row * candidates.length, (row + 1) * candidates.length);
        if (lexical[position]) lexical[position].forEach((added, index) => { own[index] += added; });
        joint[position] = alphas[position] * Math.exp(own[candidates.indexOf(token)] - logSumExp(own));
      });
      const sum = joint.reduce((total, one) => total + one, 0);
      return joint.map((one) => one / sum);
    });
  }

  /** Bias of a source token to the candidates; null without a lexicon. */
  lexicalRow(id, candidates) {
    if (!this.lexicon) return null;
    const bias = new Float32Array(this.vocabulary);
    this.addLexicalBias(bias, [id], [1]);
    return selectRows(bias, 1, candidates);
  }
}

/** Zeroes all weights but the largest ones. */
function keepLargest(weights) {
  if (weights.length <= ATTENDED) return weights;
  const order = [...weights.keys()].sort((one, other) => weights[other] - weights[one]);
  const kept = new Float32Array(weights.length);
  for (const index of order.slice(0, ATTENDED)) kept[index] = weights[index];
  return kept;
}

/** States of rows over one source. `options` are those of attention, and `isRestricted` for a shortlist. */
class IncrementalDecoder {
  constructor(model, memory, options) {
    Object.assign(this, { model, memory, options, states: model.initialState(memory) });
    const isLarge = model.vocabulary >= MIN_SHORTLIST_VOCABULARY && model.lexicon !== null && !model.attention.isExact;
    this.shortlist = isLarge && options.isRestricted ? model.lexicon.shortlist(memory.ids) : null;
  }

  /** Makes new rows, each of which extends a former row by a token. Returns their distributions and attention. */
  step(parents, tokens, given = null) {
    const { model, memory } = this;
    const states = selectRows(this.states, model.n, parents);
    const recurred = model.recur(memory, states, tokens, { ...this.options, given });
    this.states = recurred.states;
    const readouts = model.readoutOfState(this.states, tokens);
    const { vocabulary, e } = model;
    if (model.attention.isExact) {
      return recurred.rows.map((row, index) => new Prediction(
        model.logMixture(readouts.subarray(index * e, (index + 1) * e), memory, row.alphas), null, row));
    }
    const logits = model.logitsOf(readouts, recurred.contexts, tokens.length);
    return recurred.rows.map((row, index) => {
      const own = logits.subarray(index * vocabulary, (index + 1) * vocabulary);
      const mean = this.shortlist ? logMeanUnlisted(own) : 0;
      model.addLexicalBias(own, memory.ids, row.alphas);
      return new Prediction(this.shortlist ? this.listed(own, mean) : own, this.shortlist, row);
    });
  }

  /** Logits of the shortlist; padding stands for all other tokens. */
  listed(logits, mean) {
    const others = mean + Math.log(logits.length - this.shortlist.length + 1);
    return Float32Array.from(this.shortlist, (token) => (token === 0 ? others : logits[token]));
  }
}

/** m + v/2 of the logits of the tokens that are not frequent. */
function logMeanUnlisted(logits) {
  const stride = Math.ceil((logits.length - FREQUENT_TOKENS) / MAX_SAMPLE);
  let [count, sum, squares] = [0, 0, 0];
  for (let token = FREQUENT_TOKENS; token < logits.length; token += stride) {
    count += 1;
    sum += logits[token];
  }
  const mean = sum / count;
  for (let token = FREQUENT_TOKENS; token < logits.length; token += stride) squares += (logits[token] - mean) ** 2;
  return mean + squares / count / 2;
}

/** Distribution over the next token of a row, with its attention. */
export class Prediction {
  constructor(logits, tokens, { reported, heads }) {
    Object.assign(this, { logits, tokens, attention: reported, heads, logSum: logSumExp(logits) });
  }

  /** Up to `width` most probable tokens, best first, ties by id. Padding and `<s>` are none. */
  best(width, isAllowed = null) {
    const best = [];
    for (let index = 0; index < this.logits.length; index += 1) {
      const value = this.logits[index];
      if (best.length === width && !(value > best[width - 1].value)) continue;
      if (index === 0 || index === BEGIN || !(value > -Infinity)) continue;
      if (isAllowed && !isAllowed(this.tokens ? this.tokens[index] : index)) continue;
      let rank = best.length;
      while (rank > 0 && best[rank - 1].value < value) rank -= 1;
      best.splice(rank, 0, { index, value });
      if (best.length > width) best.pop();
    }
    return best.map(({ index, value }) => ({ token: this.tokens ? this.tokens[index] : index, logProbability: value - this.logSum }));
  }

  /** A token with its log-probability. */
  candidate(token) {
    const index = this.tokens ? this.tokens.indexOf(token) : token;
    return { token, logProbability: index < 0 ? -Infinity : this.logits[index] - this.logSum };
  }

  /** Entropy in nats. */
  entropy() {
    let sum = 0;
    for (let index = 0; index < this.logits.length; index += 1) {
      const log = this.logits[index] - this.logSum;
      if (log > -Infinity) sum -= Math.exp(log) * log;
    }
    return sum;
  }
}
