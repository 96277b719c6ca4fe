// Products and recurrent cells: src/kernels/reference.

/** y = x Wᵀ + b for `count` rows of x; W is `[outputs, inputs]`. Four rows share each pass over W. */
export function linear({ values, shape: [outputs, inputs] }, x, count, bias = null) {
  const y = new Float32Array(count * outputs);
  let row = 0;
  for (; row + 4 <= count; row += 4) {
    const [x0, y0] = [row * inputs, row * outputs];
    const [x1, x2, x3] = [x0 + inputs, x0 + 2 * inputs, x0 + 3 * inputs];
    for (let output = 0, weight = 0; output < outputs; output += 1) {
      const start = bias === null ? 0 : bias[output];
      let a = start, b = start, c = start, d = start;
      for (let index = 0; index < inputs; index += 1, weight += 1) {
        const w = values[weight];
        a += w * x[x0 + index];
        b += w * x[x1 + index];
        c += w * x[x2 + index];
        d += w * x[x3 + index];
      }
      y[y0 + output] = a;
      y[y0 + outputs + output] = b;
      y[y0 + 2 * outputs + output] = c;
      y[y0 + 3 * outputs + output] = d;
    }
  }
  for (; row < count; row += 1) {
    const x0 = row * inputs;
    for (let output = 0, weight = 0; output < outputs; output += 1) {
      let a = bias === null ? 0 : bias[output], b = 0;
      let index = 0;
      for (; index + 2 <= inputs; index += 2, weight += 2) {
        a += values[weight] * x[x0 + index];
        b += values[weight + 1] * x[x0 + index + 1];
      }
      for (; index < inputs; index += 1, weight += 1) a += values[weight] * x[x0 + index];
      y[row * outputs + output] = a + b;
    }
  }
  return y;
}

/** Columns from `first` on of a matrix, `[rows, width]`. */
export function columnsOf({ values, shape: [rows, columns] }, first, width) {
  const part = new Float32Array(rows * width);
  for (let row = 0; row < rows; row += 1) {
    part.set(values.subarray(row * columns + first, row * columns + first + width), row * width);
  }
  return { values: part, shape: [rows, width] };
}

function sigmoid(x) {
  return 1 / (1 + Math.exp(-x));
}

/** Gated recurrent unit. */
export class Gru {
  constructor(get) {
    this.weightIh = get("weight_ih");
    this.weightHh = get("weight_hh");
    this.biasIh = get("bias_ih").values;
    this.biasHh = get("bias_hh").values;
    this.size = this.biasHh.length / 3;
  }

  /** Inputs' share of the gates, `[rows, 3h]`. */
  inputGates(x, count) {
    return linear(this.weightIh, x, count, this.biasIh);
  }

  /** One step of `count` rows: h' = (1 − z) ∘ n + z ∘ h. */
  step(inputGates, state, count) {
    const { size } = this;
    const stateGates = linear(this.weightHh, state, count, this.biasHh);
    const next = new Float32Array(count * size);
    for (let row = 0; row < count; row += 1) {
      const first = row * 3 * size;
      for (let unit = 0; unit < size; unit += 1) {
        const place = first + unit;
        const reset = sigmoid(inputGates[place] + stateGates[place]);
        const update = sigmoid(inputGates[place + size] + stateGates[place + size]);
        const candidate = Math.tanh(inputGates[place + 2 * size] + reset * stateGates[place + 2 * size]);
        next[row * size + unit] = candidate + update * (state[row * size + unit] - candidate);
      }
    }
    return next;
  }

  /** States of a sequence of `length` inputs, `[length, h]`. */
  sequence(inputs, length, isBackwards) {
    const { size } = this;
    const gates = this.inputGates(inputs, length);
    const states = new Float32Array(length * size);
    let state = new Float32Array(size);
    for (let step = 0; step < length; step += 1) {
      const position = isBackwards ? length - 1 - step : step;
      state = this.step(gates.subarray(position * 3 * size, (position + 1) * 3 * size), state, 1);
      states.set(state, position * size);
    }
    return states;
  }
}

/** Softmax of numbers in place. */
export function softmax(values) {
  let largest = -Infinity;
  for (const value of values) largest = Math.max(largest, value);
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) {
    values[index] = Math.exp(values[index] - largest);
    sum += values[index];
  }
  for (let index = 0; index < values.length; index += 1) values[index] /= sum;
  return values;
}

/** ln Σ exp. */
export function logSumExp(values) {
  let largest = -Infinity;
  for (let index = 0; index < values.length; index += 1) if (values[index] > largest) largest = values[index];
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += Math.exp(values[index] - largest);
  return largest + Math.log(sum);
}
