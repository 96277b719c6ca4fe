// Translations with their traces and links, as the server's /v1/steps answers: src/translator/prepared_translator.rs.

import { WordAligner } from "./aligner.js";
import { Alignment, linkedWords, linkScores, matrixData } from "./alignment.js";
import { estimateQuality, KnownWords } from "./confidence.js";
import { RequestError } from "./errors.js";
import { casedText, inCase, Truecaser } from "./letter_case.js";
import { Model } from "./model.js";
import { BeamRecorder } from "./recorder.js";
import { search } from "./search.js";
import { linesOf, SentenceSplitter } from "./sentences.js";
import { UNKNOWN, unknownShare, Vocabulary } from "./vocabulary.js";
import { wordsOf } from "./words.js";

/** Maximum tokens of a sentence; longer ones are truncated. */
const MAX_SENTENCE_TOKENS = 500;
/** Maximum tokens of a sentence whose steps are shown. */
const MAX_SHOWN_TOKENS = 200;
const CANDIDATES = 10;

/** Translator over an unpacked model. */
export class Translator {
  constructor({ header, arrays }) {
    const { architecture, text, vocabularies } = header;
    this.header = header;
    this.model = new Model(architecture, arrays);
    this.source = new Vocabulary(vocabularies[0], text.source_tokenization, text.normalization, text.source_protected_tokens ?? []);
    this.target = new Vocabulary(vocabularies[1], text.target_tokenization, text.normalization, text.target_protected_tokens ?? []);
    this.truecaser = new Truecaser(text.truecaser);
    this.splitter = this.source.hasCharacters ? null : new SentenceSplitter(text.sentences);
    this.aligner = header.aligner ? new WordAligner(header.aligner, arrays) : null;
    this.knownWords = header.aligner ? new KnownWords(header.aligner.words[1]) : null;
    this.copiesLetters = architecture.lexicon && this.source.hasCharacters && this.target.hasCharacters;
  }

  /** The models, as the server describes them. */
  description() {
    const { name, attention, fixed, heads } = this.header;
    return { models: [{ name, attention, fixed, heads, pairs: [] }], collects: false, needs_key: false, char_limit: 20000 };
  }

  /**
   * Translates a sentence. `request` is a body of /v1/steps; `onStep` receives the best hypothesis after each step; the search
   * ends without a result once `pause`, which is awaited after each step, returns true.
   */
  async steps(request, onStep, pause) {
    const { text: given, prefix_tokens: prefix = [], candidates = CANDIDATES } = request;
    const cased = this.source.hasCharacters ? null : casedText(given, this.source, this.truecaser);
    const source = this.source.segment(cased?.text ?? given, undefined, MAX_SENTENCE_TOKENS);
    if (source.ids.length > MAX_SHOWN_TOKENS) {
      throw new RequestError(`the steps of at most ${MAX_SHOWN_TOKENS} tokens can be shown, not of ${source.ids.length}`);
    }
    const options = searchOptions(request);
    const attention = { temperature: request.attention_temperature ?? undefined, isHard: request.hard_attention === true };
    let side = sideOf(source);
    const recorder = new BeamRecorder({
      candidates, options, pause,
      onReport: ({ tokens, ...report }) => {
        const { text, segmentation } = this.target.join(tokens);
        onStep({ ...report, ...(side ? { source: side } : {}), text, target: sideOf(segmentation) });
        side = null;
      },
    });
    let hypothesis = { steps: [], tokens: [], attention: [], tokenLogProbabilities: [], score: 0, logProbability: 0, isFinished: true };
    let memory = null;
    if (source.ids.length > 0) {
      memory = this.model.memory(source.ids);
      const intervention = request.intervention ? this.checkedIntervention(request.intervention, memory.length) : null;
      const decoder = this.model.decoder(memory, { ...attention, isRestricted: prefix.length === 0 });
      hypothesis = await search(decoder, { options, prefix, intervention }, recorder);
      if (hypothesis === null) return null;
    }
    const trace = recorder.trace(hypothesis, (id) => ({ id, token: this.target.tokens[id], text: this.target.surface(id) }));
    return this.answer({ given, cased, source, memory, hypothesis, trace, attention });
  }

  /**
   * Translates a text sentence by sentence. Returns its parts in order: texts that stay as they are, and alignments of
   * sentences as the server's JSON has them; null once `pause` returns true.
   */
  async translateText(text, pause) {
    const parts = [];
    let end = 0;
    const spans = this.splitter ? this.splitter.sentences(text) : linesOf(text);
    for (const span of spans) {
      const found = await this.steps({ text: text.slice(span.start, span.end) }, () => {}, pause);
      if (found === null) return null;
      if (span.start > end) parts.push(text.slice(end, span.start));
      parts.push(found.alignment);
      ({ end } = span);
    }
    return end < text.length ? [...parts, text.slice(end)] : parts;
  }

  /** Weights of each head, scaled to a sum of 1. */
  checkedIntervention({ step, weights }, length) {
    const rows = weights.map((row) => {
      const sum = row.reduce((total, weight) => total + weight, 0);
      if (row.length !== length || !(sum > 0) || row.some((weight) => weight < 0)) {
        throw new RequestError("attention weights must be at least 0, and one of them above 0");
      }
      return Float32Array.from(row, (weight) => weight / sum);
    });
    const { heads } = this.model.attention;
    return { step, weights: rows.length === heads ? rows : Array.from({ length: heads }, () => rows[0]) };
  }

  answer({ given, cased, source, memory, hypothesis, trace, attention }) {
    const { tokens, tokenLogProbabilities } = hypothesis;
    const replacements = this.copiesLetters ? this.copiedLetters(given, hypothesis) : new Map();
    const joined = this.target.join(tokens, replacements);
    const target = joined.segmentation;
    let { text } = joined;
    const posteriors = this.posteriors(source, target, memory, hypothesis, attention);
    if (cased) {
      text = inCase(text, cased.letterCase);
      const words = [wordsOf(given, this.source.wordSplitting), wordsOf(text, this.target.wordSplitting)];
      if (words[0].length >= source.words.length) source.words = words[0].slice(0, source.words.length);
      if (words[1].length === target.words.length) [, target.words] = words;
    }
    const byTokens = Alignment.fromRows(source.tokens, target.tokens, hypothesis.attention);
    const byWords = byTokens.merged(source, target);
    const { isFixed } = this.model.attention;
    const { scores, links } = linkedWords((posteriors ?? byTokens).merged(source, target), isFixed, this.aligner);
    const quality = estimateQuality(this.header.confidence, this.knownWords, source, target, tokenLogProbabilities);
    const alignment = {
      schema: 1, id: 0, rank: 1, translation: text, source_text: given, source: source.words, target: target.words,
      attention: target.words.map((_, t) => [...byWords.row(t)]), eos: [...byWords.ends], links,
      link_scores: links.map(([s, t]) => scores[t * source.words.length + s]), score: hypothesis.score,
      unknown: unknownShare(source), ...(quality ?? {}),
    };
    const drawing = {
      id: 0, rank: 1, translation: text, ...matrixData(byWords, scores), score: Math.round(hypothesis.score * 1e4) / 1e4,
      tokens: {
        ...matrixData(byTokens, linkScores(byTokens.directions())), source_words: source.wordOfToken, target_words: target.wordOfToken,
      },
    };
    return { alignment, drawing, trace: { source: sideOf(source), target: sideOf(target), ...trace } };
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
    const { words, wordOfToken } = this.source.segment(given, "codepoints");
    tokens.forEach((token, position) => {
      if (token !== UNKNOWN) return;
      const sums = words.map(() => 0);
      wordOfToken.forEach((word, index) => { sums[word] += attention[position][index]; });
      replacements.set(position, sums.length > 0 ? words[sums.indexOf(Math.max(...sums))] : "");
    });
    return replacements;
  }
}

function sideOf({ tokens, words, wordOfToken }) {
  return { tokens, words, word_of_token: wordOfToken };
}

function searchOptions({ beam = 5, length_penalty: lengthPenalty = 0.8, coverage_penalty: coveragePenalty = 0.2 }) {
  return { beam, lengthPenalty, coveragePenalty };
}
