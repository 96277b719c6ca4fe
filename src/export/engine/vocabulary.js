// Text to token ids and back: src/text/vocabulary.rs, readable.rs, normalization.rs and composition.rs.

import { graphemes, isSpace, trimmed, wordOfPlace, wordSpans } from "./words.js";

export const BEGIN = 1;
export const END = 2;
export const UNKNOWN = 3;
export const PADDING = 0;
/** Number of special tokens. */
const SPECIALS = 4;
/** Maximum length of an HTML character reference. */
const MAX_REFERENCE = 12;
/** Mark of a space in tokens. */
const SPACE = "\u2581";

/** A text whose code points have places in another text: `characters` of `text`, `start` and `end`. */
export class PlacedText {
  constructor(characters) {
    this.characters = characters;
  }

  static of(text, start = 0) {
    const characters = [];
    let place = start;
    for (const character of text) {
      characters.push({ text: character, start: place, end: place + character.length });
      place += character.length;
    }
    return new PlacedText(characters);
  }

  get text() {
    this.joined ??= this.characters.map((one) => one.text).join("");
    return this.joined;
  }

  /** The range of the other text that a range of this one comes from. */
  otherRange(start, end) {
    if (!this.places) {
      this.places = this.characters.flatMap((one) => Array.from(one.text.split(""), () => one));
    }
    const last = end > 0 ? this.places[end - 1]?.end ?? 0 : 0;
    const first = start < this.places.length ? this.places[start].start : last;
    return { start: Math.min(first, last), end: last };
  }

  /** Each character replaced by those of a text, all at its place. */
  mapped(textOf) {
    return new PlacedText(this.characters.flatMap((one) =>
      Array.from(textOf(one.text), (text) => ({ ...one, text }))));
  }

  /** In a normal form. A composed character begins where the first of its parts does, and ends where the last one does. */
  normalized(form) {
    const result = [];
    for (let first = 0; first < this.characters.length;) {
      let end = first + 1;
      while (end < this.characters.length && mayCompose(this.characters[end].text)) end += 1;
      const run = this.characters.slice(first, end);
      const characters = [...run.map(({ text }) => text).join("").normalize(form)];
      characters.forEach((text, index) => {
        const place = index === 0 ? 0 : Math.max(run.length - (characters.length - index), 0);
        result.push({ ...run[place], text });
      });
      result[result.length - 1].end = run[run.length - 1].end;
      first = end;
    }
    return new PlacedText(result);
  }
}

/** True if a character may compose with one before it. */
function mayCompose(character) {
  return /^\p{M}/u.test(character) || /^[\u1160-\u11ff\ud7b0-\ud7ff]/u.test(character) ||
    (character > "\u007f" && `a${character}`.normalize("NFC") !== `a${character.normalize("NFC")}`);
}

/** Lower case of single characters, whatever stands around them. */
function lowercase(character) {
  return character.toLowerCase();
}

/** Characters that a vocabulary knows, with what it reads others as. */
class KnownCharacters {
  constructor(tokens, isLowercase, { replacements, references }) {
    this.references = new Map(Object.entries(references));
    this.known = new Set(tokens.flatMap((token) => [...token]));
    if (this.known.delete(SPACE)) this.known.add(" ");
    if (isLowercase) {
      for (const letter of [...this.known]) for (const capital of letter.toUpperCase()) this.known.add(capital);
    }
    this.replacements = new Map();
    for (const line of replacements.split("\n")) {
      const [character, ...read] = line;
      if (character !== undefined) this.replacements.set(character, read.join(""));
    }
  }

  /** True if all characters of a text, apart from white space, are known. */
  areIn(text) {
    return Array.from(text).every((one) => isSpace(one) || this.known.has(one));
  }

  replaced(character) {
    return this.replacements.get(character) ?? character;
  }

  /** Characters of a text with their places. An HTML character reference is one if `&` is unknown. */
  placedCharacters(text, start) {
    const { characters } = PlacedText.of(text, start);
    if (this.known.has("&") || !text.includes("&")) return characters;
    const placed = [];
    for (let index = 0; index < characters.length; index += 1) {
      const found = characters[index].text === "&" ? characterReference(text.slice(characters[index].start - start), this.references) : null;
      if (found && (isSpace(found.character) || this.areIn(this.replaced(found.character)))) {
        const one = characters[index];
        placed.push({ text: found.character, start: one.start, end: one.start + found.length });
        index += found.length - 1;
      } else placed.push(characters[index]);
    }
    return placed;
  }

  /** A text as the vocabulary reads it, with the places of its characters. */
  readable(given) {
    const text = trimmed(given);
    const start = given.length - given.replace(/^\p{White_Space}+/u, "").length;
    const characters = [];
    let space = null;
    for (const one of this.placedCharacters(text, start)) {
      if (isSpace(one.text) && !(this.known.has(one.text) && one.text !== " ")) {
        space = { text: " ", start: space?.start ?? one.start, end: one.end };
        continue;
      }
      const read = this.replaced(one.text);
      if (read === "") continue;
      if (space && characters.length > 0) characters.push(space);
      space = null;
      for (const character of read) characters.push({ ...one, text: character });
    }
    return new PlacedText(characters);
  }

  /** Ranges of signs that have no known equivalent, such as emoji, except within words and numbers. */
  unknownSigns(text) {
    const found = [];
    if (this.areIn(text)) return found;
    const references = this.placedCharacters(text, 0).filter((one) => one.end - one.start > one.text.length);
    for (const { segment, index } of graphemes(text)) {
      const [first] = segment;
      const isReference = references.some(({ start, end }) => start <= index && index < end);
      if (isReference || !isSign(first) || this.areIn(this.replaced(first))) continue;
      const last = found[found.length - 1];
      if (last && last.end === index) last.end = index + segment.length;
      else found.push({ start: index, end: index + segment.length });
    }
    return found.filter(({ start, end }) =>
      !(/[\p{Alphabetic}\p{N}]$/u.test(text.slice(0, start)) && /^[\p{Alphabetic}\p{N}]/u.test(text.slice(end))));
  }
}

/** True for signs, which are neither letters, marks, digits, white space nor invisible. */
function isSign(character) {
  return /^\p{Lm}$/u.test(character) || !/^[\p{Alphabetic}\p{N}\p{M}\p{White_Space}\p{Cf}\p{Cc}\u034f\u115f\u1160\u3164\uffa0]$/u.test(character);
}

/** The HTML character reference at the beginning of a text, if it is a number or one of `references`. */
function characterReference(text, references) {
  const match = /^&(?:#(\d+)|#[xX]([\da-fA-F]+)|(\w+));/.exec(text.slice(0, MAX_REFERENCE));
  if (!match) return null;
  const [whole, decimal, hexadecimal, name] = match;
  const character = name ? references.get(name) : numbered(decimal ? parseInt(decimal, 10) : parseInt(hexadecimal, 16));
  return character === undefined ? null : { character, length: whole.length };
}

/** The character with a number, unless it is none or a control character. */
function numbered(code) {
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && (code > 31 || [9, 10, 12, 13].includes(code));
  return isCharacter ? String.fromCodePoint(code) : undefined;
}

/** Vocabulary of tokens with its rules. */
export class Vocabulary {
  constructor({ tokens, merges, pattern, ...read }, tokenization, normalization, protectedTokens) {
    Object.assign(this, { tokens, tokenization, normalization, protectedTokens });
    this.ids = new Map(tokens.map((token, id) => [token, id]));
    this.pattern = new RegExp(pattern, "gu");
    this.hasCharacters = tokenization === "char" || tokenization === "letter";
    this.wordSplitting = this.hasCharacters ? "characters" : "script";
    this.merges = new Map(merges.map(([first, second], rank) =>
      [first * tokens.length + second, { rank, id: this.ids.get(tokens[first] + tokens[second]) }]));
    this.known = new KnownCharacters(tokens.slice(SPECIALS), normalization.lowercase, read);
    this.cache = new Map();
  }

  /** A placed text in the normal form and case of the training data. */
  inForm(text) {
    const { form, lowercase: isLowercase } = this.normalization;
    const normal = (given) => (form === "none" ? given : given.normalized(form.toUpperCase()));
    return isLowercase ? normal(normal(text).mapped(lowercase)) : normal(text);
  }

  /** Normalized characters of a readable text, with spaces as tokens write them. */
  normalizedText(readable) {
    if (readable.characters.length === 0) return readable;
    let text = this.inForm(readable);
    if (this.tokenization === "letter") text = text.normalized("NFD");
    text = text.mapped((one) => (one === SPACE ? "\ufffd" : one === " " ? SPACE : one));
    if (!this.hasCharacters) {
      const [{ start, end }] = text.characters;
      text.characters.unshift({ text: SPACE, start, end });
    }
    return text;
  }

  /** Tokens of a text: ids, and places, which extend to the next token and so include marks composed with the last character. */
  placedTokens(given) {
    const readable = this.known.readable(given);
    const { characters } = this.normalizedText(readable);
    const text = characters.map((one) => one.text).join("");
    const placed = [];
    let [index, end] = [0, 0];
    const addPiece = (piece) => {
      for (const { id, length } of this.pieceTokens(piece)) {
        placed.push({ id, start: characters[index].start });
        index += length;
      }
    };
    for (const match of text.matchAll(this.pattern)) {
      if (match.index > end) addPiece(text.slice(end, match.index));
      if (match[0] !== "") addPiece(match[0]);
      end = match.index + match[0].length;
    }
    if (end < text.length) addPiece(text.slice(end));
    const read = readable.characters;
    let last = 0;
    return placed.map(({ id, start }, token) => {
      const next = placed[token + 1]?.start ?? Infinity;
      while (last + 1 < read.length && read[last + 1].start < next) last += 1;
      return { id, start, end: read[last].end };
    });
  }

  /** Tokens of a piece: ids, and lengths in code points. */
  pieceTokens(piece) {
    let found = this.cache.get(piece);
    if (!found) {
      if (this.cache.size > 1000) this.cache.clear();
      found = this.tokenization === "bpe" ? this.mergedTokens(piece)
        : [{ id: this.ids.get(piece) ?? UNKNOWN, length: [...piece].length }];
      this.cache.set(piece, found);
    }
    return found;
  }

  /** Byte-pair encoding: the pair of the best rank, the first of equals, is merged until there is none. */
  mergedTokens(piece) {
    const characters = [...piece];
    // With protected tokens, whole pieces that are tokens are not merged.
    if (this.protectedTokens.length > 0 && this.ids.has(piece)) return [{ id: this.ids.get(piece), length: characters.length }];
    const tokens = characters.map((one) => ({ id: this.ids.get(one) ?? UNKNOWN, length: 1 }));
    for (;;) {
      let best = null;
      for (let index = 0; index + 1 < tokens.length; index += 1) {
        const merge = this.merges.get(tokens[index].id * this.tokens.length + tokens[index + 1].id);
        if (merge && (best === null || merge.rank < best.rank)) best = { ...merge, index };
      }
      if (best === null) return tokens;
      const { id, index } = best;
      tokens.splice(index, 2, { id, length: tokens[index].length + tokens[index + 1].length });
    }
  }

  /** Ids of the tokens of a text. */
  encode(text) {
    return this.placedTokens(text).map(({ id }) => id);
  }

  /**
   * Segments a text: ids, tokens, words, the word of each token. It may be read as another one, `read`, which has its places in
   * the text.
   */
  segment(given, { splitting = this.wordSplitting, maxTokens = Infinity, read = null } = {}) {
    const text = trimmed(given) === "" ? "" : given;
    let placed = this.placedTokens(read && text ? read.text : text);
    if (placed.length === 0) return { ids: [], tokens: [], words: [], wordOfToken: [], isCut: false };
    if (read) placed = placed.map(({ id, start, end }) => ({ id, ...read.otherRange(start, end) }));
    const spans = wordSpans(text, splitting);
    if (this.hasCharacters) joinComposed(spans, placed);
    let words = spans.map(({ start, end }) => text.slice(start, end));
    if (words.length === 0) words = [text];
    const tokens = placed.map(({ id, start, end }) => (id !== UNKNOWN ? this.tokens[id] : text.slice(start, end).replaceAll(" ", SPACE)));
    let wordOfToken = placed.map(({ start }) => wordOfPlace(spans, start));
    const isCut = placed.length > maxTokens;
    if (isCut) {
      placed = placed.slice(0, maxTokens);
      tokens.length = maxTokens;
      wordOfToken = wordOfToken.slice(0, maxTokens);
      words = words.slice(0, wordOfToken[maxTokens - 1] + 1);
    }
    return { ids: placed.map(({ id }) => id), tokens, words, wordOfToken, isCut };
  }

  /** Joins tokens to text and maps them to its words, with other texts for the tokens at some positions. */
  join(ids, replacements = new Map(), splitting = this.wordSplitting) {
    let text = "";
    let starts = [];
    ids.forEach((id, index) => {
      let surface = replacements.get(index) ?? this.tokens[id].replaceAll(SPACE, " ");
      if (this.tokenization === "word" && id === UNKNOWN && surface !== "") surface = ` ${surface}`;
      if (index === 0 && !this.hasCharacters && surface.startsWith(" ")) surface = surface.slice(1);
      starts.push(text.length);
      text += surface;
    });
    if (this.tokenization === "letter") [text, starts] = composed(text, starts);
    const spans = wordSpans(text, splitting);
    let words = spans.map(({ start, end }) => text.slice(start, end));
    if (words.length === 0 && ids.length > 0) words = [text];
    const wordOfToken = starts.map((start) => wordOfPlace(spans, start));
    return { text, segmentation: { ids, tokens: ids.map((id) => this.tokens[id]), words, wordOfToken, isCut: false } };
  }

  /** True if it knows none of the letters of a text, in any case, as in another script. */
  knowsNoLetter(text) {
    const forms = Array.from(text).filter((one) => /\p{Alphabetic}/u.test(one)).flatMap((one) => [one, ...one.toLowerCase()]);
    return forms.every((one) => !this.known.areIn(one));
  }

  /** A text in the normal form and case of the training data. */
  normalized(text) {
    return this.inForm(PlacedText.of(text)).text;
  }

  /** Text that a token adds to a translation; empty for special tokens. */
  surface(id) {
    return id < SPECIALS ? "" : this.tokens[id].replaceAll(SPACE, " ");
  }
}

/** Composes a text, and moves places with it. */
function composed(text, starts) {
  const moved = new Map();
  let [result, run, runStart] = ["", "", 0];
  const places = [];
  let place = 0;
  const endRun = () => {
    for (const one of places) moved.set(one, result.length);
    result += run.normalize("NFC");
    places.length = 0;
  };
  for (const character of text) {
    if (run !== "" && !mayCompose(character)) {
      endRun();
      [run, runStart] = ["", place];
    }
    run += character;
    places.push(place);
    place += character.length;
  }
  if (run !== "" || runStart < place) endRun();
  moved.set(place, result.length);
  return [result, starts.map((start) => moved.get(start))];
}

/** Joins characters in which no token begins to the previous one, since normalization composed them. */
function joinComposed(spans, placed) {
  for (let index = 1; index < spans.length;) {
    const [before, next] = [spans[index - 1], spans[index]];
    const first = placed.find(({ start }) => start >= next.start);
    if (before.end === next.start && (first === undefined || first.start >= next.end)) {
      before.end = next.end;
      spans.splice(index, 1);
    } else index += 1;
  }
}

/** Share of tokens that a vocabulary does not cover. */
export function unknownShare({ ids, tokens }) {
  const unknown = ids.filter((id) => id === UNKNOWN).length;
  return unknown / Math.max(tokens.filter((token) => token !== SPACE).length, 1);
}
