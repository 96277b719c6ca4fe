// Stand-ins for words to copy: src/translator/stand_ins.rs, src/translator/term_placement.rs and src/text/copied_words.rs.

import { areCapitals, isTitle } from "./letter_case.js";
import { PlacedText } from "./vocabulary.js";
import { isPunctuation, trimmed, wordOfPlace, wordSpans } from "./words.js";

const MIN_FOREIGN = 3;
const MAX_ENDING = 2;
const MIN_STEM = 3;
/** Minimum attention on a term of a word that it replaces, and of that word's neighbors. */
const MIN_ATTENTION = 0.3;
const MIN_NEIGHBOR_ATTENTION = 0.5;
const CLOSING = /^[.,;:!?)\]}\u2026]/;
const NUMERAL = /^\p{N}(?:\p{N}|[.,:/\-\u2013'\u2019\u066b\u066c](?=\p{N}))*/u;
const ALPHANUMERIC = /^[\p{Alphabetic}\p{N}]/u;

/** The first place of a word in a text as a word, or as the beginning of one with an ending, unless it is a number; or −1. */
function findCopy(text, word) {
  if (word === "") return -1;
  const isNumber = /\p{N}$/u.test(word);
  for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + word.length)) {
    const goesOn = isNumber && /^\p{N}/u.test(text.slice(start + word.length));
    if (!goesOn && !/[\p{Alphabetic}\p{N}]$/u.test(text.slice(0, start))) return start;
  }
  return -1;
}

/** Length of a name without an ending after an apostrophe. */
function nameEnd(word) {
  const at = Math.max(word.lastIndexOf("'"), word.lastIndexOf("\u2019"));
  return at > 0 && [...word.slice(at)].length - 1 <= MAX_ENDING ? at : word.length;
}

/** What a model knows of the words of its sources: `copied` settings, truecaser, vocabulary, and known words or null. */
export class KnownSources {
  constructor(copied, truecaser, vocabulary, words) {
    Object.assign(this, { truecaser, vocabulary, words });
    this.numbers = copied.numbers ?? [];
    this.names = copied.names ?? [];
    this.knownNumbers = new Set(copied.known_numbers ?? []);
    this.copiesNumbers = copied.copies_numbers === true;
    this.copiesNames = copied.copies_names === true;
  }

  /** Kind and length of a word to copy; null for other words. `place` is `first`, `within` or `capitals`. */
  item(word, place) {
    const numeral = NUMERAL.exec(word)?.[0] ?? "";
    if (numeral !== "") {
      const isCopied = (this.copiesNumbers && !this.knownNumbers.has(numeral)) || this.numbers.includes(numeral);
      return isCopied ? { kind: "number", length: numeral.length } : null;
    }
    if (!this.copiesNames || !/\p{Alphabetic}/u.test(word)) return null;
    const length = nameEnd(word);
    const [whole, name] = [word, word.slice(0, length)].map((text) => this.vocabulary.normalized(text));
    const isCapitalized = /^\p{Uppercase}/u.test(whole);
    const mayBeName = /\p{N}/u.test(whole) || (place === "within" && isCapitalized) ||
      (place === "first" && isCapitalized && !this.knowsBeginning(name));
    const isName = this.vocabulary.knowsNoLetter(whole) || (mayBeName && !this.knows(whole) && !this.knows(name));
    return isName ? { kind: "name", length } : null;
  }

  knows(word) {
    return this.truecaser.has(word) || (this.words?.hasWord(word) ?? false);
  }

  isEmphasized(word) {
    return /^\p{Uppercase}/u.test(word) && !this.truecaser.has(word) && (this.words?.hasWord(word) ?? false);
  }

  /** True if a known word begins with most of another one, which can be a form of it. */
  knowsBeginning(word) {
    const length = Math.max(Math.ceil([...word].length * 3 / 5), MIN_STEM);
    const beginning = [...word.toLowerCase()].slice(0, length).join("");
    return this.words?.hasBeginning(beginning) ?? true;
  }

  /** Words to copy of a text as the vocabulary reads it, in order. */
  items(text) {
    const tokens = this.vocabulary.protectedTokens.flatMap((token) => placesOf(text, token));
    const isProtected = ({ start, end }) => tokens.some((token) => token.start < end && start < token.end);
    const spans = wordSpans(text, "terms");
    const words = spans.map(({ start, end }) => text.slice(start, end));
    const inCapitals = areCapitals(text) || (isTitle(text) && words.slice(1).some((word) => this.isEmphasized(word)));
    const first = words.findIndex((word) => ALPHANUMERIC.test(word));
    let items = [];
    let isBeforeName = false;
    // From the last on, since a name tells of the word before it.
    for (let index = words.length - 1; index >= 0; index -= 1) {
      const place = inCapitals ? "capitals" : index === first && !isBeforeName ? "first" : "within";
      const item = isProtected(spans[index]) ? null : this.item(words[index], place);
      isBeforeName = item?.kind === "name";
      if (item) items.unshift({ kind: item.kind, start: spans[index].start, end: spans[index].start + item.length });
    }
    const names = items.filter(({ kind }) => kind === "name").length;
    if (names >= MIN_FOREIGN && names * 2 > words.filter((word) => !isPunctuation(word)).length) {
      items = items.filter(({ kind }) => kind === "number");
    }
    const signs = this.vocabulary.known.unknownSigns(text).filter((sign) => !isProtected(sign));
    return joinedItems(text, withSigns(items, signs));
  }
}

/** Places of a word in a text, which do not overlap. */
function placesOf(text, word) {
  const places = [];
  for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + word.length)) {
    places.push({ start, end: start + word.length });
  }
  return places;
}

/** Adds signs to the words that they touch, or between words. */
function withSigns(items, signs) {
  const all = [...items, ...signs.map((span) => ({ kind: "sign", ...span }))].sort((one, other) => one.start - other.start);
  const merged = [];
  for (const item of all) {
    const last = merged[merged.length - 1];
    if (last && last.end >= item.start) {
      last.end = Math.max(last.end, item.end);
      if (last.kind === "sign") last.kind = item.kind;
    } else merged.push({ ...item });
  }
  return merged;
}

/** Joins words to copy of a kind with only a space between them. */
function joinedItems(text, items) {
  const joined = [];
  for (const item of items) {
    const last = joined[joined.length - 1];
    if (last && last.kind === item.kind && trimmed(text.slice(last.end, item.start)) === "") last.end = item.end;
    else joined.push({ ...item });
  }
  return joined;
}

/** Words of a sentence to copy, with what stands in for them. */
export class StandIns {
  constructor(given, known) {
    Object.assign(this, { all: [], isWholeSentence: false });
    const readable = known.vocabulary.known.readable(given);
    const { text } = readable;
    const items = known.items(text);
    if (items.length === 0) return;
    const unused = { number: known.numbers, name: known.names };
    for (const kind of Object.keys(unused)) unused[kind] = unused[kind].filter((word) => findCopy(text, word) < 0);
    let [outside, end] = ["", 0];
    for (const { kind, start, end: itemEnd } of items) {
      outside += text.slice(end, start);
      end = itemEnd;
      const copied = text.slice(start, end);
      const standIn = kind === "sign" ? "" : known.numbers.includes(copied) ? copied : unused[kind].shift() ?? "";
      const range = readable.otherRange(start, end);
      this.all.push({
        ...range, text: standIn, copied: kind === "sign" ? given.slice(range.start, range.end) : known.vocabulary.normalized(copied),
        joinsBefore: /\P{White_Space}$/u.test(text.slice(0, start)),
        joinsAfter: /^\P{White_Space}/u.test(text.slice(end)) && !CLOSING.test(text.slice(end)),
      });
    }
    this.isWholeSentence = !/[\p{Alphabetic}\p{N}]/u.test(outside + text.slice(end));
  }

  /** A text with the stand-ins in place of the words to copy. */
  putIn(text) {
    const characters = [];
    const push = (from, to) => characters.push(...PlacedText.of(text.slice(from, to), from).characters);
    let end = 0;
    for (const { start, end: rangeEnd, text: standIn } of this.all) {
      const from = Math.min(end, start);
      // Punctuation after words that are left out stands after the word before them.
      const isLeftOut = standIn === "" && CLOSING.test(text.slice(rangeEnd));
      push(from, isLeftOut ? from + text.slice(from, start).replace(/\p{White_Space}+$/u, "").length : start);
      for (const character of standIn) characters.push({ text: character, start, end: rangeEnd });
      end = rangeEnd;
    }
    push(end, text.length);
    return new PlacedText(characters);
  }

  /** Range of the source tokens of each stand-in, by the words of the given text; null if they are cut off. */
  sources(source, spans) {
    return this.all.map(({ start }) => {
      const word = wordOfPlace(spans, start);
      const first = source.wordOfToken.filter((ofToken) => ofToken < word).length;
      const end = source.wordOfToken.filter((ofToken) => ofToken <= word).length;
      return !source.isCut || first < end ? [first, end] : null;
    });
  }

  /** Terms that a translation should have. A model writes words that stand for themselves well enough. */
  terms(sources, target) {
    return this.all.flatMap(({ text, copied }, index) => {
      const source = sources[index];
      const isRequired = source && source[0] < source[1] && text !== copied && text !== "";
      return isRequired ? [{ text, tokens: target.encode(text), source }] : [];
    });
  }

  /** Puts the copied words in the place of the stand-ins of a hypothesis, or where its attention is beside them. */
  putBack(sources, hypothesis, target, replacements) {
    if (this.all.length === 0 || hypothesis.tokens.length === 0) return;
    const texts = new TokenTexts(hypothesis, target, replacements);
    const [found, lacking] = [[], []];
    this.all.forEach((standIn, index) => {
      const place = findCopy(texts.given, standIn.text);
      if (place >= 0) found.push({ place, ...standIn });
      else if (sources[index]) lacking.push({ standIn, source: sources[index] });
    });
    found.sort((one, other) => other.place - one.place);
    for (const { place, text, copied } of found) texts.replace(place, text.length, copied);
    for (const { standIn, source } of lacking) texts.insert(standIn, source, hypothesis.attention);
  }
}

/** The target token with the most attention on a source token, the last of equals. */
function mostAttentive(source, attention) {
  const weight = (row) => row[source] ?? 0;
  return attention.reduce((best, row, index) => (best < 0 || weight(row) >= weight(attention[best]) ? index : best), -1);
}

/** Texts of the tokens of a hypothesis; changes go to the replacements. */
class TokenTexts {
  constructor({ tokens }, target, replacements) {
    this.replacements = replacements;
    this.texts = tokens.map((token, index) => replacements.get(index) ?? target.surface(token));
    this.given = this.texts.join("");
    this.ends = [];
    this.texts.reduce((end, text, index) => { this.ends[index] = end + text.length; return this.ends[index]; }, 0);
  }

  set(token, text) {
    this.texts[token] = text;
    this.replacements.set(token, text);
  }

  /** Replaces a range of the given text. All that is after it may have changed. */
  replace(place, length, text) {
    const first = this.ends.findIndex((end) => end > place);
    const last = this.ends.findIndex((end) => end >= place + length);
    const start = place - (first > 0 ? this.ends[first - 1] : 0);
    const joined = this.texts.slice(first, last + 1).join("");
    this.set(first, joined.slice(0, start) + text + joined.slice(start + length));
    for (let token = first + 1; token <= last; token += 1) this.set(token, "");
  }

  /** Inserts words that a hypothesis lacks beside the translation of the word that they touch, or of the word before them. */
  insert({ copied, joinsBefore, joinsAfter }, [first, end], attention) {
    const source = joinsBefore && first < end ? first : first - 1;
    const before = source >= 0 ? mostAttentive(source, attention) : -1;
    const after = joinsAfter && !joinsBefore ? mostAttentive(first, attention) : -1;
    if (after >= 0) {
      const token = this.firstOfWord(after);
      const text = this.texts[token];
      const spaces = text.length - text.replace(/^\p{White_Space}+/u, "").length;
      this.set(token, text.slice(0, spaces) + copied + text.slice(spaces));
    } else if (before >= 0) {
      const token = this.lastOfWord(before);
      this.set(token, `${this.texts[token]}${joinsBefore ? "" : " "}${copied}`);
    } else this.set(0, ` ${copied}${this.texts[0].startsWith(" ") ? "" : " "}${this.texts[0]}`);
  }

  firstOfWord(token) {
    let first = Math.min(token, this.texts.length - 1);
    while (first > 0 && ALPHANUMERIC.test(this.texts[first])) first -= 1;
    return first;
  }

  lastOfWord(token) {
    let last = Math.min(token, this.texts.length - 1);
    while (last + 1 < this.texts.length && ALPHANUMERIC.test(this.texts[last + 1])) last += 1;
    return last;
  }
}

/** Places terms that a hypothesis lacks where its attention is on them, as texts of tokens. */
export function placeTerms(constraints, hypothesis, target, replacements) {
  const unmet = constraints.terms.length === 0 || !hypothesis.state ? [] : constraints.unmet(hypothesis.state);
  if (unmet.length === 0) return;
  const { tokens, attention } = hypothesis;
  const { wordOfToken } = target.join(tokens, new Map(), "punctuation").segmentation;
  const kept = keptTokens(constraints, unmet, tokens, target);
  for (const term of unmet) {
    const [first, end] = replacedTokens(constraints, term, attention, wordOfToken, kept);
    if (first === end) continue;
    const space = target.surface(tokens[first]).startsWith(" ") ? " " : "";
    for (let token = first; token < end; token += 1) {
      replacements.set(token, token === first ? `${space}${constraints.terms[term].text}` : "");
      kept[token] = true;
    }
  }
}

/** True for each token of the prefix, and of terms that the hypothesis has. */
function keptTokens(constraints, unmet, tokens, target) {
  const texts = tokens.map((token) => target.surface(token));
  const text = texts.join("");
  const spans = constraints.terms.flatMap(({ text: word }, index) => {
    if (unmet.includes(index)) return [];
    const found = [];
    for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + 1)) {
      const isWord = !/[\p{Alphabetic}\p{N}\p{M}]$/u.test(text.slice(0, start)) &&
        !/^[\p{Alphabetic}\p{N}\p{M}]/u.test(text.slice(start + word.length));
      if (isWord) found.push({ start, end: start + word.length });
    }
    return found;
  });
  let end = 0;
  return texts.map((one, index) => {
    const start = end;
    end += one.length;
    return index < constraints.prefix.length || spans.some((span) => span.start < end && start < span.end);
  });
}

/** Range of the tokens that a term replaces: those of the word with the most attention on it and of its neighbors with enough. */
function replacedTokens(constraints, term, attention, wordOfToken, kept) {
  const words = [];
  wordOfToken.forEach((word, token) => {
    if (token === 0 || word !== wordOfToken[token - 1]) words.push({ first: token, end: token, sum: 0, isKept: false });
    const last = words[words.length - 1];
    last.end = token + 1;
    last.sum += constraints.attentionOn(term, attention[token]);
    last.isKept ||= kept[token];
  });
  for (const word of words) word.attention = word.sum / (word.end - word.first);
  const most = words.reduce((best, word, index) =>
    (!word.isKept && (best < 0 || word.attention > words[best].attention) ? index : best), -1);
  if (most < 0 || words[most].attention < MIN_ATTENTION) return [0, 0];
  // All words attend to the only word of the term, so that none before the first is replaced.
  let after = most;
  while (after + 1 < words.length && words[after + 1].attention >= MIN_NEIGHBOR_ATTENTION && !words[after + 1].isKept) after += 1;
  return [words[most].first, words[after].end];
}
