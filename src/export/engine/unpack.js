// The model in the page: base 128, digest, decompression, arrays.

import { RequestError } from "./errors.js";
import { gunzip } from "./inflate.js";

/** Message for a file of which a part is missing or changed. */
const DAMAGED = "This file is damaged or incomplete. Please get it again.";

/** Newest format of a model that this engine reads. */
const FORMAT = 1;

/** Characters that a page cannot contain as they are: the text has each of them and the next one as one letter from PAIRS on. */
const FORBIDDEN = [0, 13, 60];
const PAIRS = 0x100;
/** Code of the first forbidden character at the end of the text. */
const LAST = PAIRS + 128 * FORBIDDEN.length;

/** Bytes of a text whose characters are seven bits each; of a damaged text other bytes. */
function bytesOfBase128(text) {
  let characters = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= PAIRS && code < LAST) characters += 1;
  }
  const bytes = new Uint8Array(Math.floor(characters * 7 / 8));
  // The last `count` bits of `pending` are those that are not yet written.
  for (let [index, to, pending, count] = [0, 0, 0, 0]; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < PAIRS) {
      pending = (pending << 7) | (code & 127);
      count += 7;
    } else if (code < LAST) {
      pending = (pending << 14) | (FORBIDDEN[(code - PAIRS) >> 7] << 7) | (code & 127);
      count += 14;
    } else {
      pending = (pending << 7) | (FORBIDDEN[code - LAST] ?? 0);
      count += 7;
    }
    for (; count >= 8; to += 1) {
      count -= 8;
      bytes[to] = pending >>> count;
    }
  }
  return bytes;
}

function rotated(value, by) {
  return (value >>> by) | (value << (32 - by));
}

/** Fractional bits of roots of the first primes, the constants of SHA-256. */
function rootBits(count, root) {
  const bits = [];
  for (let number = 2; bits.length < count; number += 1) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= number; divisor += 1) isPrime &&= number % divisor !== 0;
    if (isPrime) bits.push(((number ** root) % 1) * 2 ** 32 | 0);
  }
  return bits;
}

/** SHA-256 (FIPS 180-4), for browsers without a digest of their own where a page is opened from a disk. */
function sha256(bytes) {
  const [state, constants] = [rootBits(8, 1 / 2), rootBits(64, 1 / 3)];
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const words = new Int32Array(64);
  for (let start = 0; start < padded.length; start += 64) {
    for (let t = 0; t < 16; t += 1) words[t] = view.getInt32(start + 4 * t);
    for (let t = 16; t < 64; t += 1) {
      const [w15, w2] = [words[t - 15], words[t - 2]];
      const s0 = rotated(w15, 7) ^ rotated(w15, 18) ^ (w15 >>> 3);
      const s1 = rotated(w2, 17) ^ rotated(w2, 19) ^ (w2 >>> 10);
      words[t] = words[t - 16] + s0 + words[t - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t += 1) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + constants[t] + words[t]) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, index) => {
      state[index] = (state[index] + value) | 0;
    });
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((value, index) => digest.setInt32(4 * index, value));
  return digest.buffer;
}

/** SHA-256 in hexadecimal. */
async function digestOf(bytes) {
  const digest = await globalThis.crypto?.subtle?.digest("SHA-256", bytes) ?? sha256(bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function decompressed(bytes) {
  if (typeof DecompressionStream === "undefined") return gunzip(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Number of the bits of a 16-bit float. */
function halfFloat(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const magnitude = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/** An array of the block, with `shape`; weights as 32-bit floats. */
function arrayAt(buffer, start, { type, shape }) {
  const count = shape.reduce((product, size) => product * size, 1);
  switch (type) {
    case "i8": return new Int8Array(buffer, start, count);
    case "u32": return new Uint32Array(buffer, start, count);
    case "f64": return new Float64Array(buffer, start, count);
    case "f16": return Float32Array.from(new Uint16Array(buffer, start, count), halfFloat);
    default: return new Float32Array(buffer, start, count);
  }
}

/** Arrays by name: `values` and `shape`. Rows of integers are multiplied by their scales. */
function arraysOf(buffer, first, entries) {
  const arrays = new Map(entries.map((entry) =>
    [entry.name, { shape: entry.shape, values: arrayAt(buffer, first + entry.offset, entry) }]));
  for (const { name, type } of entries) {
    if (type !== "i8") continue;
    const { shape: [rows, columns], values } = arrays.get(name);
    const scales = arrays.get(`${name}.scale`).values;
    const floats = new Float32Array(rows * columns);
    for (let index = 0; index < floats.length; index += 1) floats[index] = values[index] * scales[Math.floor(index / columns)];
    arrays.set(name, { shape: [rows, columns], values: floats });
  }
  return arrays;
}

/** Reads a model: its header, and its arrays by name. Throws an error to be told to the user. */
export async function unpack(text, digest) {
  const bytes = bytesOfBase128(text);
  if (await digestOf(bytes) !== digest) throw new RequestError(DAMAGED);
  const { buffer } = await decompressed(bytes);
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  if (header.format !== FORMAT) throw new RequestError(DAMAGED);
  return { header, arrays: arraysOf(buffer, 4 + length, header.arrays) };
}
