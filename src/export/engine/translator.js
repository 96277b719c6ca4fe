// Translations with their traces and links, as the server's /v1/steps answers: src/translator/prepared_translator.rs,
// read_sentence.rs and trace.rs.

import { WordAligner } from "./aligner.js";
import { Alignment, linkedWords, linkScores, matrixData } from "./alignment.js";
import { doubtsOf, estimateQuality, KnownWords } from "./confidence.js";
import { Constraints } from "./constraints.js";
import { RequestError } from "./errors.js";
import { casedText, inCase, Truecaser } from "./letter_case.js";
import { Model } from "./model.js";
import { BeamRecorder } from "./recorder.js";
import { ExpectedLength, search } from "./search.js";
import { linesOf, SentenceSplitter } from "./sentences.js";
import { KnownSources, placeTerms, StandIns } from "./stand_ins.js";
import { JoinedTrace } from "./trace.js";
import { END, PlacedText, UNKNOWN, unknownShare, Vocabulary } from "./vocabulary.js";
import { wordSpans, wordsOf } from "./words.js";

/** Maximum tokens of a sentence; longer ones are truncated. */
const MAX_SENTENCE_TOKENS = 500;
/** Maximum tokens of a text whose steps are shown. */
const MAX_SHOWN_TOKENS = 200;
const CANDIDATES = 10;
const NOTHING_FOUND = {
  steps: [], tokens: [], attention: [], tokenLogProbabilities: [], score: 0, logProbability: 0, isFinished: true, state: null,
};

/** Translator over an unpacked model. */
export class Translator {
  constructor({ header, arrays }) {
    const { architecture, text, vocabularies, aligner } = header;
    this.header = header;
    this.model = new Model(architecture, arrays);
    this.source = new Vocabulary(vocabularies[0], text.source_tokenization, text.normalization, text.source_protected_tokens ?? []);
    this.target = new Vocabulary(vocabularies[1], text.target_tokenization, text.normalization, text.target_protected_tokens ?? []);
    this.truecaser = new Truecaser(text.truecaser);
    this.splitter = this.source.hasCharacters ? null : new SentenceSplitter(text.sentences);
    this.aligner = aligner ? new WordAligner(aligner, arrays) : null;
    this.knownWords = [0, 1].map((side) => (aligner ? new KnownWords(aligner.words[side]) : null));
    this.copied = text.copied ? new KnownSources(text.copied, this.truecaser, this.source, this.knownWords[0]) : null;
    this.copiesLetters = architecture.lexicon && this.source.hasCharacters && this.target.hasCharacters;
  }

  /** The models, as the server describes them. */
  description() {
    const { name, attention, fixed, heads } = this.header;
    return { models: [{ name, attention, fixed, heads, pairs: [] }], collects: false, needs_key: false, char_limit: 20000 };
  }

  /** Spans of the sentences of a text; the whole text if there are none. */
  sentenceSpans(text) {
    const spans = this.splitter?.sentences(text) ?? [];
    return spans.length > 0 ? spans : [{ start: 0, end: text.length }];
  }

  /** A sentence as the model reads it: segmented, with the case and the stand-ins of its translation. */
  read(given) {
    let [read, cased, standIns] = [null, null, null];
    if (!this.source.hasCharacters) {
      standIns = this.copied ? new StandIns(given, this.copied) : null;
      if (standIns?.all.length > 0) read = standIns.putIn(given);
      const text = read?.text ?? given;
      cased = casedText(text, this.source, this.truecaser);
      const recased = cased && inOtherCase(text, cased.text, read);
      if (recased) {
        const inCapitals = cased.inCapitals.map(({ start, end }) => read?.otherRange(start, end) ?? { start, end });
        [cased, read] = [{ ...cased, inCapitals }, recased];
      } else cased = null;
    }
    // A sentence of nothing but words to copy is its own translation.
    const isCopied = standIns?.isWholeSentence ?? false;
    const source = this.source.segment(given, { maxTokens: MAX_SENTENCE_TOKENS, read: isCopied ? null : read });
    const spans = wordSpans(given, this.source.wordSplitting);
    return { given, isCopied, source, cased, standIns, spans, standInSources: standIns?.sources(source, spans) ?? [] };
  }

  /**
   * Translates a text, sentence by sentence. `request` is a body of /v1/steps; `onStep` receives the best hypothesis after each
   * step; the search ends without a result once `pause`, which is awaited after each step, returns true.
   */
  async steps(request, onStep, pause) {
    const spans = this.sentenceSpans(request.text);
    const read = spans.map(({ start, end }) => this.read(request.text.slice(start, end)));
    const length = read.reduce((sum, { source }) => sum + source.ids.length, 0);
    if (length > MAX_SHOWN_TOKENS) {
      throw new RequestError(`the steps of at most ${MAX_SHOWN_TOKENS} tokens can be shown, not of ${length}`);
    }
    const steering = this.steeringOf(request, read);
    const joined = new JoinedTrace(read.map(({ source }) => source));
    const parts = [];
    for (const [index, sentence] of read.entries()) {
      const found = await this.translateSentence(sentence, { request, ...steering[index] }, (step) => onStep(joined.partial(step)), pause);
      if (found === null) return null;
      joined.add(found);
      parts.push(found);
    }
    return this.answer(request, spans, parts, joined);
  }

  /** Prefix and intervention of each sentence. Those that are copied have no steps. */
  steeringOf({ prefix_tokens: prefix = [], intervention = null }, read) {
    const sentences = read.map(() => ({ prefix: [], intervention: null }));
    const lengths = read.map(({ source }) => source.ids.length);
    const searched = [...read.keys()].filter((index) => !read[index].isCopied);
    let ended = 0;
    for (const id of prefix) {
      if (ended >= searched.length) throw new RequestError("the prefix goes on after the end of the text");
      sentences[searched[ended]].prefix.push(id);
      if (id === END) ended += 1;
    }
    if (intervention) {
      if (searched.length === 0) throw new RequestError("the text is copied, so that no step has attention to replace");
      const before = prefix.slice(0, intervention.step);
      const own = searched[Math.min(before.filter((id) => id === END).length, searched.length - 1)];
      const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
      const first = sum(lengths.slice(0, own));
      const stepsBefore = sum(sentences.slice(0, own).map((sentence) => sentence.prefix.length));
      const weights = intervention.weights.map((row) => this.checkedRow(row, [first, first + lengths[own]], sum(lengths) + 1));
      const { heads } = this.model.attention;
      sentences[own].intervention = {
        step: intervention.step - stepsBefore,
        weights: weights.length === heads ? weights : Array.from({ length: heads }, () => weights[0]),
      };
    }
    return sentences;
  }

  /** A sentence's part of attention weights, scaled to a sum of 1. */
  checkedRow(row, [first, end], length) {
    const own = [...row.slice(first, end), row[length - 1]];
    const sum = own.reduce((total, weight) => total + weight, 0);
    if (row.length !== length || !(sum > 0) || own.some((weight) => weight < 0)) {
      throw new RequestError("attention weights must be at least 0, and one of them above 0");
    }
    return Float32Array.from(own, (weight) => weight / sum);
  }

  /** Translates or copies a sentence that was read; null if it was stopped. */
  async translateSentence(read, { request, prefix, intervention }, onStep, pause) {
    const { source, standIns, standInSources } = read;
    if (read.isCopied) return copiedSentence(read);
    const options = this.searchOptions(request, source);
    const attention = { temperature: request.attention_temperature ?? undefined, isHard: request.hard_attention === true };
    const constraints = new Constraints(prefix, standIns?.terms(standInSources, this.target) ?? [], this.target);
    const recorder = new BeamRecorder({
      candidates: request.candidates ?? CANDIDATES, options, pause,
      onReport: ({ tokens, ...report }) => onStep({ ...report, ...this.target.join(tokens) }),
    });
    let [hypothesis, memory] = [NOTHING_FOUND, null];
    if (source.ids.length > 0) {
      memory = this.model.memory(source.ids);
      const decoder = this.model.decoder(memory, { ...attention, isRestricted: constraints.isEmpty });
      hypothesis = await search(decoder, { options, constraints, intervention }, recorder);
      if (hypothesis === null) return null;
    }
    const trace = recorder.trace(hypothesis, (id) => ({ id, token: this.target.tokens[id], text: this.target.surface(id) }));
    return { ...this.translation(read, hypothesis, constraints, { memory, attention }), trace };
  }

  /** Options of the search for the translation of a source. */
  searchOptions(request, { ids }) {
    const { beam = 5, length_penalty: lengthPenalty = 0.8, coverage_penalty: coveragePenalty = 0.2, brevity_penalty: brevityPenalty = 2 } = request;
    const characters = ids.reduce((sum, id) => sum + [...this.source.surface(id)].length, 0);
    const mean = characters * (this.header.length_ratio ?? 0);
    return { beam, lengthPenalty, coveragePenalty, brevityPenalty, expectedLength: mean > 0 ? new ExpectedLength(mean, this.target) : null };
  }

  /** Text, segments, attention and doubts of the translation that a hypothesis describes. */
  translation({ given, source, cased, standIns, spans, standInSources }, hypothesis, constraints, { memory, attention }) {
    const replacements = this.copiesLetters ? this.copiedLetters(given, hypothesis) : new Map();
    placeTerms(constraints, hypothesis, this.target, replacements);
    standIns?.putBack(standInSources, hypothesis, this.target, replacements);
    const { text: written, segmentation: target } = this.target.join(hypothesis.tokens, replacements);
    const byTokens = Alignment.fromRows(source.tokens, target.tokens, hypothesis.attention);
    const posteriors = this.posteriors(source, target, memory, hypothesis, attention);
    const byWords = byTokens.merged(source, target);
    const { isFixed } = this.model.attention;
    const calibration = this.header.confidence;
    const quality = estimateQuality(calibration, this.knownWords[1], source, target, hypothesis.tokenLogProbabilities);
    const doubts = doubtsOf({ calibration, quality, byWords, isFixed, source, target });
    let text = written;
    if (cased) {
      text = inCase(text, cased.letterCase, cased.letterCase === "words" ? wordsInCapitals(text, byWords, cased.inCapitals, spans) : []);
      const words = wordsOf(text, this.target.wordSplitting);
      if (words.length === target.words.length) target.words = words;
    }
    return { text, source, target, byTokens, posteriors, doubts, hypothesis };
  }

  /** The answer for a text from its sentences. */
  answer({ text: given }, spans, parts, joined) {
    const [source, target] = ["source", "target"].map((side) => joinedSegments(parts.map((part) => part[side])));
    const text = textOf(given, spans, parts);
    const byTokens = Alignment.joined(parts.map((part) => part.byTokens));
    const posteriors = parts.every((part) => part.posteriors) ? Alignment.joined(parts.map((part) => part.posteriors)) : byTokens;
    const byWords = byTokens.merged(source, target);
    const { scores, links } = linkedWords(posteriors.merged(source, target), this.model.attention.isFixed, this.aligner);
    const logProbabilities = parts.flatMap(({ hypothesis, target: { ids } }, index) =>
      (index < parts.length - 1 || parts.length > 1 ? hypothesis.tokenLogProbabilities.slice(0, ids.length) : hypothesis.tokenLogProbabilities));
    const quality = estimateQuality(this.header.confidence, this.knownWords[1], source, target, logProbabilities);
    const score = parts.reduce((sum, { hypothesis }) => sum + hypothesis.score, 0) / parts.length;
    const alignment = {
      schema: 1, id: 0, rank: 1, translation: text, source_text: given, source: source.words, target: target.words,
      attention: target.words.map((_, t) => [...byWords.row(t)]), eos: [...byWords.ends], links,
      link_scores: links.map(([s, t]) => scores[t * source.words.length + s]), score,
      unknown: unknownShare(source), ...(quality ?? {}), ...joinedDoubts(parts),
    };
    const drawing = {
      id: 0, rank: 1, translation: text, ...matrixData(byWords, scores), score: Math.round(score * 1e4) / 1e4,
      tokens: {
        ...matrixData(byTokens, linkScores(byTokens.directions())), source_words: source.wordOfToken, target_words: target.wordOfToken,
      },
    };
    return { alignment, drawing, trace: joined.finish() };
  }

  /**
   * Translates a text of any length. Returns its parts in order: texts that stay as they are, and alignments of sentences as the
   * server's JSON has them; null once `pause` returns true.
   */
  async translateText(text, pause) {
    const parts = [];
    let end = 0;
    for (const { start, end: spanEnd } of this.splitter?.sentences(text) ?? linesOf(text)) {
      const sentence = text.slice(start, spanEnd);
      const read = this.read(sentence);
      if (start > end) parts.push(text.slice(end, start));
      end = spanEnd;
      const span = [{ start: 0, end: sentence.length }];
      const joined = new JoinedTrace([read.source]);
      const found = await this.translateSentence(read, { request: {}, prefix: [], intervention: null }, () => {}, pause);
      if (found === null) return null;
      joined.add(found);
      parts.push(this.answer({ text: sentence }, span, [found], joined).alignment);
    }
    return end < text.length ? [...parts, text.slice(end)] : parts;
  }

  /** Posterior attention between tokens; null where it is not defined. */
  posteriors(source, target, memory, { tokens }, attention) {
    const { mode, isFixed } = this.model.attention;
    const isHard = attention.isHard || mode === "hardest" || mode === "sampled";
    if (memory === null || isHard || isFixed) return null;
    return Alignment.fromRows(source.tokens, target.tokens, this.model.posteriorAttention(memory, tokens, attention));
  }

  /** The source character with the most attention in place of each unknown one. */
  copiedLetters(given, { tokens, attention }) {
    const replacements = new Map();
    const { words, wordOfToken } = this.source.segment(given, { splitting: "codepoints" });
    tokens.forEach((token, position) => {
      if (token !== UNKNOWN) return;
      const sums = words.map(() => 0);
      wordOfToken.forEach((word, index) => { sums[word] += attention[position][index]; });
      replacements.set(position, sums.length > 0 ? words[sums.indexOf(Math.max(...sums))] : "");
    });
    return replacements;
  }
}

/** A sentence as its own translation, which no search found. */
function copiedSentence({ given, source }) {
  const { tokens } = source;
  const rows = tokens.map((_, token) => Float32Array.from({ length: tokens.length + 1 }, (__, index) => Number(index === token)));
  return {
    text: given, source, target: { ...source }, byTokens: Alignment.fromRows(tokens, tokens, rows), posteriors: null,
    doubts: { reasons: [], uncovered: [] }, hypothesis: NOTHING_FOUND, trace: { steps: [], beam: [] },
  };
}

/** A text with the translations of its sentences in their places. */
function textOf(given, spans, parts) {
  if (parts.length === 1) return parts[0].text;
  let [text, end] = ["", 0];
  parts.forEach((part, index) => {
    text += given.slice(end, spans[index].start) + part.text;
    ({ end } = spans[index]);
  });
  return text + given.slice(end);
}

/** The segments of consecutive sentences in one. */
function joinedSegments(parts) {
  const joined = { ids: [], tokens: [], words: [], wordOfToken: [] };
  for (const { ids, tokens, words, wordOfToken } of parts) {
    joined.wordOfToken.push(...wordOfToken.map((word) => joined.words.length + word));
    joined.ids.push(...ids);
    joined.tokens.push(...tokens);
    joined.words.push(...words);
  }
  return joined;
}

/** Reasons to doubt a text, with the indices of its words; empty where there are none. */
function joinedDoubts(parts) {
  const order = ["confidence", "uncovered", "repetition", "nonwords"];
  const reasons = order.filter((reason) => parts.some(({ doubts }) => doubts.reasons.includes(reason)));
  let before = 0;
  const uncovered = parts.flatMap(({ doubts, source }) => {
    const own = doubts.uncovered.map((word) => before + word);
    before += source.words.length;
    return own;
  });
  return { ...(reasons.length > 0 ? { doubts: reasons } : {}), ...(uncovered.length > 0 ? { uncovered } : {}) };
}

/** A text in another case, with the places of the text that it is read in place of; null if its words are others. */
function inOtherCase(text, cased, read) {
  const [spans, casedSpans] = [text, cased].map((one) => wordSpans(one, "terms"));
  if (spans.length !== casedSpans.length) return null;
  const characters = [];
  const push = (range, casedRange) => {
    const place = read?.otherRange(range.start, range.end) ?? range;
    for (const character of cased.slice(casedRange.start, casedRange.end)) characters.push({ text: character, ...place });
  };
  let [end, casedEnd] = [0, 0];
  spans.forEach((span, index) => {
    push({ start: end, end: span.start }, { start: casedEnd, end: casedSpans[index].start });
    push(span, casedSpans[index]);
    [end, casedEnd] = [span.end, casedSpans[index].end];
  });
  push({ start: end, end: text.length }, { start: casedEnd, end: cased.length });
  return new PlacedText(characters);
}

/** Spans of the target words with the most attention on source words in capitals. */
function wordsInCapitals(text, byWords, inCapitals, spans) {
  const named = [];
  let end = 0;
  byWords.target.forEach((word, t) => {
    const found = text.indexOf(word, end);
    const place = found < 0 ? { start: end, end } : { start: found, end: found + word.length };
    ({ end } = place);
    const row = byWords.row(t);
    const most = row.reduce((best, weight, index) => (best < 0 || weight >= row[best] ? index : best), -1);
    const source = spans[most];
    if (source && inCapitals.some((range) => range.start < source.end && source.start < range.end)) named.push(place);
  });
  return named;
}
