// Decompression (RFC 1951) for browsers without `DecompressionStream`.

const LENGTH_BASES = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Canonical Huffman code from the lengths of its symbols' codes. */
class HuffmanCode {
  constructor(lengths) {
    this.counts = new Uint16Array(16);
    for (const length of lengths) this.counts[length] += 1;
    this.counts[0] = 0;
    const starts = new Uint16Array(17);
    for (let length = 1; length < 16; length += 1) starts[length + 1] = starts[length] + this.counts[length];
    this.symbols = new Uint16Array(lengths.length);
    lengths.forEach((length, symbol) => {
      if (length > 0) this.symbols[starts[length]++] = symbol;
    });
  }

  /** The next symbol of a stream of bits. */
  read(bits) {
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length < 16; length += 1) {
      code |= bits.take(1);
      const count = this.counts[length];
      if (code - first < count) return this.symbols[index + code - first];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error("invalid code");
  }
}

/** Bits of bytes, the lowest first. */
class BitReader {
  constructor(bytes, start) {
    Object.assign(this, { bytes, place: start, held: 0, count: 0 });
  }

  take(count) {
    while (this.count < count) {
      this.held |= this.bytes[this.place++] << this.count;
      this.count += 8;
    }
    const value = this.held & ((1 << count) - 1);
    this.held >>>= count;
    this.count -= count;
    return value;
  }
}

/** The codes of literals and of distances at the start of a block. */
function blockCodes(bits, isFixed) {
  if (isFixed) {
    const lengths = Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8));
    return [new HuffmanCode(lengths), new HuffmanCode(new Array(30).fill(5))];
  }
  const [literals, distances, count] = [bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4];
  const ofLengths = new Array(19).fill(0);
  for (let index = 0; index < count; index += 1) ofLengths[CODE_ORDER[index]] = bits.take(3);
  const code = new HuffmanCode(ofLengths);
  const lengths = [];
  while (lengths.length < literals + distances) {
    const symbol = code.read(bits);
    if (symbol < 16) lengths.push(symbol);
    else {
      const repeated = symbol === 16 ? lengths[lengths.length - 1] : 0;
      const times = symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
      for (let time = 0; time < times; time += 1) lengths.push(repeated);
    }
  }
  return [new HuffmanCode(lengths.slice(0, literals)), new HuffmanCode(lengths.slice(literals))];
}

/** Decompresses the bytes of a gzip file (RFC 1952) without a name and comments, as the program writes it. */
export function gunzip(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
  const output = new Uint8Array(size);
  const bits = new BitReader(bytes, 10);
  let end = 0;
  for (let isLast = 0; !isLast;) {
    isLast = bits.take(1);
    const type = bits.take(2);
    if (type === 0) {
      bits.place -= bits.count >> 3;
      const length = bytes[bits.place] | (bytes[bits.place + 1] << 8);
      output.set(bytes.subarray(bits.place + 4, bits.place + 4 + length), end);
      Object.assign(bits, { place: bits.place + 4 + length, held: 0, count: 0 });
      end += length;
      continue;
    }
    const [literals, distances] = blockCodes(bits, type === 1);
    for (;;) {
      const symbol = literals.read(bits);
      if (symbol === 256) break;
      if (symbol < 256) {
        output[end++] = symbol;
        continue;
      }
      const length = LENGTH_BASES[symbol - 257] + bits.take(LENGTH_BITS[symbol - 257]);
      const distanceCode = distances.read(bits);
      const extra = Math.max(0, (distanceCode >> 1) - 1);
      const base = distanceCode < 2 ? distanceCode + 1 : 1 + ((2 + (distanceCode & 1)) << extra);
      const distance = base + bits.take(extra);
      for (let copied = 0; copied < length; copied += 1, end += 1) output[end] = output[end - distance];
    }
  }
  return output;
}
