// Kernels for NVIDIA GPUs. Arrays are row-major and f32 unless stated; the equations stand with the operations in
// src/kernels/reference and src/attention. Sums are taken in a fixed order, so that results repeat to the bit.

typedef unsigned int u32;

#define WARP 32
#define WHOLE_WARP 0xffffffffu
#define LARGEST 3.402823466e38f

__device__ float warp_sum(float x) {
    for (int distance = WARP / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(WHOLE_WARP, x, distance);
    return x;
}

__device__ float warp_max(float x) {
    for (int distance = WARP / 2; distance > 0; distance /= 2) x = fmaxf(x, __shfl_xor_sync(WHOLE_WARP, x, distance));
    return x;
}

// Sum over the threads of a block, returned to each of them. `scratch` has a place per warp.
__device__ float block_sum(float x, float* scratch) {
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = x;
    __syncthreads();
    float sum = 0.0f;
    for (u32 warp = 0; warp < blockDim.x / WARP; ++warp) sum += scratch[warp];
    return sum;
}

__device__ float block_max(float x, float* scratch) {
    x = warp_max(x);
    __syncthreads();
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = x;
    __syncthreads();
    float largest = scratch[0];
    for (u32 warp = 1; warp < blockDim.x / WARP; ++warp) largest = fmaxf(largest, scratch[warp]);
    return largest;
}

__device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// Gates of one GRU unit.
struct Gates {
    float reset, update, candidate, recurrent;
};

__device__ Gates gates_of(const float* input, const float* recurrent, const float* bias_ih, const float* bias_hh, u32 row,
                          u32 unit, u32 size) {
    const float* x = input + (size_t)row * 3 * size + unit;
    const float* h = recurrent + (size_t)row * 3 * size + unit;
    float x_r = x[0], x_z = x[size], x_n = x[2 * size];
    if (bias_ih) {
        x_r += bias_ih[unit];
        x_z += bias_ih[size + unit];
        x_n += bias_ih[2 * size + unit];
    }
    Gates gates;
    gates.reset = sigmoid(x_r + h[0] + bias_hh[unit]);
    gates.update = sigmoid(x_z + h[size] + bias_hh[size + unit]);
    gates.recurrent = h[2 * size] + bias_hh[2 * size + unit];
    gates.candidate = tanhf(x_n + gates.reset * gates.recurrent);
    return gates;
}

// h' from the inputs' and the state's share of the gates, [rows, 3h] each, without the biases. A row whose mask is 0 keeps
// its state. One thread per unit.
extern "C" __global__ void gru_forward(const float* input, const float* recurrent, const float* bias_ih,
                                       const float* bias_hh, const float* state, const float* mask, float* next, u32 rows,
                                       u32 size) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= rows * size) return;
    u32 row = index / size, unit = index % size;
    float h = state[index];
    if (mask && mask[row] == 0.0f) {
        next[index] = h;
        return;
    }
    Gates gates = gates_of(input, recurrent, bias_ih, bias_hh, row, unit, size);
    next[index] = gates.candidate + gates.update * (h - gates.candidate);
}

// Derivatives of gru_forward. dh' is the sum of up to three arrays; `d_state` gets the part of dh that does not go through
// the state's share of the gates.
extern "C" __global__ void gru_backward(const float* d_next, const float* d_next_direct, const float* d_next_product,
                                        const float* input, const float* recurrent, const float* bias_ih,
                                        const float* bias_hh, const float* state, const float* mask, float* d_input,
                                        float* d_recurrent, float* d_state, u32 rows, u32 size) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= rows * size) return;
    u32 row = index / size, unit = index % size;
    float d = 0.0f;
    if (d_next) d += d_next[index];
    if (d_next_direct) d += d_next_direct[index];
    if (d_next_product) d += d_next_product[index];
    float* d_x = d_input + (size_t)row * 3 * size + unit;
    float* d_h = d_recurrent + (size_t)row * 3 * size + unit;
    if (mask && mask[row] == 0.0f) {
        d_x[0] = d_x[size] = d_x[2 * size] = d_h[0] = d_h[size] = d_h[2 * size] = 0.0f;
        d_state[index] = d;
        return;
    }
    Gates gates = gates_of(input, recurrent, bias_ih, bias_hh, row, unit, size);
    float d_n = d * (1.0f - gates.update) * (1.0f - gates.candidate * gates.candidate);
    float d_z = d * (state[index] - gates.candidate) * gates.update * (1.0f - gates.update);
    float d_r = d_n * gates.recurrent * gates.reset * (1.0f - gates.reset);
    d_x[0] = d_h[0] = d_r;
    d_x[size] = d_h[size] = d_z;
    d_x[2 * size] = d_n;
    d_h[2 * size] = d_n * gates.reset;
    d_state[index] = d * gates.update;
}

// Additive attention of one step: weights [rows, length] and contexts [rows, hidden] from queries [rows, size], keys [rows,
// length, size] and values [rows, length, hidden]. One block per row; shared memory has `length` energies.
extern "C" __global__ void attention_forward(const float* query, const float* keys, const float* values, const float* v,
                                             const u32* lengths, float scale, float* alphas, float* context, u32 length,
                                             u32 size, u32 hidden) {
    extern __shared__ float energies[];
    u32 row = blockIdx.x, real = lengths[row], lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    query += (size_t)row * size;
    keys += (size_t)row * length * size;
    values += (size_t)row * length * hidden;
    for (u32 position = warp; position < real; position += blockDim.x / WARP) {
        const float* key = keys + (size_t)position * size;
        float sum = 0.0f;
        for (u32 i = lane; i < size; i += WARP) sum += v[i] * tanhf(query[i] + key[i]);
        sum = warp_sum(sum);
        if (lane == 0) energies[position] = scale * sum;
    }
    __syncthreads();
    if (warp == 0) {
        float largest = -LARGEST, total = 0.0f;
        for (u32 position = lane; position < real; position += WARP) largest = fmaxf(largest, energies[position]);
        largest = warp_max(largest);
        for (u32 position = lane; position < real; position += WARP) {
            float weight = expf(energies[position] - largest);
            energies[position] = weight;
            total += weight;
        }
        total = warp_sum(total);
        for (u32 position = lane; position < length; position += WARP) {
            float weight = position < real ? energies[position] / total : 0.0f;
            if (position < real) energies[position] = weight;
            alphas[(size_t)row * length + position] = weight;
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < hidden; i += blockDim.x) {
        float sum = 0.0f;
        for (u32 position = 0; position < real; ++position) sum += energies[position] * values[(size_t)position * hidden + i];
        context[(size_t)row * hidden + i] = sum;
    }
}

// Derivatives of attention_forward, except those of the values. Those of the keys and of v, the latter [rows, size], are
// added to what is there.
extern "C" __global__ void attention_backward(const float* query, const float* keys, const float* values, const float* v,
                                              const u32* lengths, float scale, const float* alphas, const float* d_context,
                                              const float* d_alphas, float* d_query, float* d_keys, float* d_v, u32 length,
                                              u32 size, u32 hidden) {
    extern __shared__ float d_energies[];
    u32 row = blockIdx.x, real = lengths[row], lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    keys += (size_t)row * length * size;
    d_keys += (size_t)row * length * size;
    values += (size_t)row * length * hidden;
    alphas += (size_t)row * length;
    d_context += (size_t)row * hidden;
    for (u32 position = warp; position < real; position += blockDim.x / WARP) {
        const float* value = values + (size_t)position * hidden;
        float sum = 0.0f;
        for (u32 i = lane; i < hidden; i += WARP) sum += d_context[i] * value[i];
        sum = warp_sum(sum);
        if (lane == 0) d_energies[position] = sum + d_alphas[(size_t)row * length + position];
    }
    __syncthreads();
    if (warp == 0) {
        float mean = 0.0f;
        for (u32 position = lane; position < real; position += WARP) mean += alphas[position] * d_energies[position];
        mean = warp_sum(mean);
        for (u32 position = lane; position < real; position += WARP) {
            d_energies[position] = scale * alphas[position] * (d_energies[position] - mean);
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
        float q = query[(size_t)row * size + i], weight = v[i], d_q = 0.0f, d_weight = 0.0f;
        for (u32 position = 0; position < real; ++position) {
            float x = tanhf(q + keys[(size_t)position * size + i]);
            float d_key = d_energies[position] * weight * (1.0f - x * x);
            d_weight += d_energies[position] * x;
            d_q += d_key;
            d_keys[(size_t)position * size + i] += d_key;
        }
        d_query[(size_t)row * size + i] = d_q;
        d_v[(size_t)row * size + i] += d_weight;
    }
}

// Multiplies by 0 or by `keep`; the bits are those of CounterRng in src/random.rs, counted by the rows' numbers if there are any.
extern "C" __global__ void dropout(const float* input, float* output, u32 count, const u32* rows, u32 width, u32 key_0,
                                   u32 key_1, u32 threshold, float keep) {
    u32 position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position >= count) return;
    u32 x = (rows ? rows[position / width] * width + position % width : position) ^ key_0;
    x = ((x ^ (x >> 16)) * 0x7feb352du) ^ key_1;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    x ^= x >> 16;
    output[position] = input[position] * (x < threshold ? 0.0f : keep);
}

// Each output row is the sum of the input rows that `members` lists between its start and the next. One block per row.
extern "C" __global__ void sum_of_rows(const float* input, const u32* starts, const u32* members, float* output,
                                       u32 width) {
    u32 row = blockIdx.x;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x) {
        float sum = 0.0f;
        for (u32 member = starts[row]; member < starts[row + 1]; ++member) sum += input[(size_t)members[member] * width + i];
        output[(size_t)row * width + i] = sum;
    }
}

// Column sums of [rows, width]. One block of 32 × 32 threads per 32 columns.
extern "C" __global__ void sum_of_columns(const float* input, float* output, u32 rows, u32 width) {
    __shared__ float sums[WARP][WARP + 1];
    u32 column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < width) {
        for (u32 row = threadIdx.y; row < rows; row += WARP) sum += input[(size_t)row * width + column];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || column >= width) return;
    sum = 0.0f;
    for (u32 part = 0; part < WARP; ++part) sum += sums[part][threadIdx.x];
    output[column] = sum;
}

// Smoothed loss and negative log-likelihood of each row, [rows, 2], and the logarithm of the softmax's denominator, [rows].
// One block per row.
extern "C" __global__ void cross_entropy_forward(const float* logits, const u32* targets, float* losses, float* denominators,
                                                 u32 vocabulary, float smoothing) {
    __shared__ float scratch[WARP];
    u32 row = blockIdx.x;
    logits += (size_t)row * vocabulary;
    float largest = -LARGEST, sum = 0.0f, total = 0.0f;
    for (u32 token = threadIdx.x; token < vocabulary; token += blockDim.x) largest = fmaxf(largest, logits[token]);
    largest = block_max(largest, scratch);
    for (u32 token = threadIdx.x; token < vocabulary; token += blockDim.x) {
        sum += expf(logits[token] - largest);
        total += logits[token] - largest;
    }
    sum = block_sum(sum, scratch);
    total = block_sum(total, scratch);
    if (threadIdx.x > 0) return;
    float log_sum = logf(sum);
    float chosen = logits[targets[row]] - largest - log_sum, mean = total / vocabulary - log_sum;
    losses[2 * row] = (smoothing - 1.0f) * chosen - smoothing * mean;
    losses[2 * row + 1] = -chosen;
    denominators[row] = largest + log_sum;
}

// Derivative of cross_entropy_forward with respect to the logits. One block per row.
extern "C" __global__ void cross_entropy_backward(const float* logits, const u32* targets, const float* denominators,
                                                  const float* d_losses, float* d_logits, u32 vocabulary, float smoothing) {
    u32 row = blockIdx.x, target = targets[row];
    logits += (size_t)row * vocabulary;
    d_logits += (size_t)row * vocabulary;
    float d_loss = d_losses[2 * row], d_likelihood = d_losses[2 * row + 1];
    float d_sum = d_loss + d_likelihood, d_each = d_loss * smoothing / vocabulary;
    float d_chosen = d_loss * (1.0f - smoothing) + d_likelihood;
    for (u32 token = threadIdx.x; token < vocabulary; token += blockDim.x) {
        float d = d_sum * expf(logits[token] - denominators[row]) - d_each;
        d_logits[token] = token == target ? d - d_chosen : d;
    }
}

// Sum of squares of each block's share.
extern "C" __global__ void sum_of_squares(const float* input, float* sums, u32 count) {
    __shared__ float scratch[WARP];
    float sum = 0.0f;
    for (u32 index = blockIdx.x * blockDim.x + threadIdx.x; index < count; index += gridDim.x * blockDim.x) {
        sum += input[index] * input[index];
    }
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// One Adam step in place; `rate` and `correction` are η / (1 − β₁ᵗ) and 1 / (1 − β₂ᵗ).
extern "C" __global__ void adam(float* parameter, float* first, float* second, const float* gradient, u32 count, float scale,
                                float beta_1, float beta_2, float epsilon, float rate, float correction) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count) return;
    float g = scale * gradient[index];
    float m = beta_1 * first[index] + (1.0f - beta_1) * g;
    float v = beta_2 * second[index] + (1.0f - beta_2) * g * g;
    first[index] = m;
    second[index] = v;
    parameter[index] -= rate * m / (sqrtf(v * correction) + epsilon);
}

// Moves an exponential moving average toward a parameter, in place.
extern "C" __global__ void moving_average(float* average, const float* parameter, u32 count, float decay) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) average[index] = decay * average[index] + (1.0f - decay) * parameter[index];
}
