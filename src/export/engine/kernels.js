// Products and recurrent cells: src/kernels/reference.

/** Outputs that share each pass over the inputs. */
const BLOCK = 4;

/** y = x Wᵀ + b for `count` rows of x; W is `[outputs, inputs]`. */
export function linear({ values, shape: [outputs, inputs] }, x, count, bias = null) {
  const product = { values, inputs, outputs, x: new Float64Array(x), bias: bias ?? new Float32Array(outputs), y: new Float32Array(count * outputs) };
  const blocked = outputs - outputs % BLOCK;
  for (let output = 0; output < blocked; output += BLOCK) {
    let row = 0;
    for (; row + 2 <= count; row += 2) blockOfTwoRows(product, output, row);
    if (row < count) blockOfRow(product, output, row);
  }
  for (let output = blocked; output < outputs; output += 1) {
    for (let row = 0; row < count; row += 1) singleProduct(product, output, row);
  }
  return product.y;
}

function blockOfTwoRows({ values, inputs, outputs, x, bias, y }, output, row) {
  const [x0, x1] = [row * inputs, (row + 1) * inputs];
  const w0 = output * inputs, w1 = w0 + inputs, w2 = w1 + inputs, w3 = w2 + inputs;
  let a0 = bias[output], a1 = bias[output + 1], a2 = bias[output + 2], a3 = bias[output + 3];
  let b0 = a0, b1 = a1, b2 = a2, b3 = a3;
  for (let index = 0; index < inputs; index += 1) {
    const a = x[x0 + index], b = x[x1 + index];
    const p0 = values[w0 + index], p1 = values[w1 + index], p2 = values[w2 + index], p3 = values[w3 + index];
    a0 += p0 * a;
    b0 += p0 * b;
    a1 += p1 * a;
    b1 += p1 * b;
    a2 += p2 * a;
    b2 += p2 * b;
    a3 += p3 * a;
    b3 += p3 * b;
  }
  const first = row * outputs + output;
  y[first] = a0;
  y[first + 1] = a1;
  y[first + 2] = a2;
  y[first + 3] = a3;
  y[first + outputs] = b0;
  y[first + outputs + 1] = b1;
  y[first + outputs + 2] = b2;
  y[first + outputs + 3] = b3;
}

function blockOfRow({ values, inputs, outputs, x, bias, y }, output, row) {
  const x0 = row * inputs;
  const w0 = output * inputs, w1 = w0 + inputs, w2 = w1 + inputs, w3 = w2 + inputs;
  let a0 = bias[output], a1 = bias[output + 1], a2 = bias[output + 2], a3 = bias[output + 3];
  for (let index = 0; index < inputs; index += 1) {
    const a = x[x0 + index];
    a0 += values[w0 + index] * a;
    a1 += values[w1 + index] * a;
    a2 += values[w2 + index] * a;
    a3 += values[w3 + index] * a;
  }
  const first = row * outputs + output;
  y[first] = a0;
  y[first + 1] = a1;
  y[first + 2] = a2;
  y[first + 3] = a3;
}

function singleProduct({ values, inputs, outputs, x, bias, y }, output, row) {
  let sum = bias[output];
  for (let index = 0; index < inputs; index += 1) sum += values[output * inputs + index] * x[row * inputs + index];
  y[row * outputs + output] = sum;
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
