// The trace of a text from those of its sentences: src/translator/trace/joined.rs.

/** Traces of the sentences of a text so far. */
export class JoinedTrace {
  constructor(sources) {
    this.read = emptySide();
    for (const source of sources) extend(this.read, source);
    this.sourceTokens = this.read.tokens.length;
    Object.assign(this, { source: emptySide(), target: emptySide(), text: "", steps: [], beam: [], sentences: [], isBegun: false });
  }

  /** The translation of the text so far, with that of the next sentence in progress. The first one has the source. */
  partial({ step, text, segmentation, first_changed: first, attention }) {
    const target = structuredClone(this.target);
    extend(target, segmentation);
    const source = this.isBegun ? {} : { source: this.read };
    this.isBegun = true;
    return {
      ...source, step: this.steps.length + step, text: `${this.text}${this.text === "" ? "" : " "}${text}`, target,
      first_changed: this.target.tokens.length + first,
      attention: attention.map((row) => this.widenedThousandths(row)),
    };
  }

  /** Adds the translation of the next sentence with its trace. */
  add({ text, source, target, trace: { steps, beam } }) {
    const [firstStep, firstNode] = [this.steps.length, this.beam.length];
    const last = this.beam.findLastIndex(({ best }) => best);
    const before = last < 0 ? 0 : this.beam[last].log_probability;
    this.beam.push(...beam.map((node) => ({
      ...node, parent: node.parent === null ? (last < 0 ? null : last) : firstNode + node.parent, step: firstStep + node.step,
      log_probability: before + node.log_probability,
    })));
    this.steps.push(...steps.map((step) => ({
      ...step, attention: this.widened(step.attention), heads: step.heads.map((row) => this.widened(row)),
    })));
    const [sources, targets] = [this.source.tokens.length, this.target.tokens.length];
    extend(this.source, source);
    extend(this.target, target);
    this.sentences.push({
      source: [sources, this.source.tokens.length], target: [targets, this.target.tokens.length],
      steps: [firstStep, this.steps.length],
    });
    this.text += `${this.text === "" ? "" : " "}${text}`;
  }

  finish() {
    const { source, target, steps, beam, sentences } = this;
    return { source, target, steps, beam, sentences };
  }

  /** Attention of the next sentence as that of the text. */
  widened(row) {
    const wide = new Array(this.sourceTokens + 1).fill(0);
    row.forEach((weight, index) => {
      wide[index === row.length - 1 ? this.sourceTokens : this.source.tokens.length + index] = weight;
    });
    return wide;
  }

  /** The largest weights of a row, in thousandths, each after its source token. */
  widenedThousandths(row) {
    const sparse = [];
    this.widened([...row]).forEach((weight, column) => {
      const thousandths = Math.floor(weight * 1000);
      if (thousandths >= 10) sparse.push([column, thousandths]);
    });
    return sparse;
  }
}

function emptySide() {
  return { tokens: [], words: [], word_of_token: [] };
}

/** Appends the tokens and words of the next sentence. */
function extend(side, { tokens, words, wordOfToken }) {
  side.word_of_token.push(...wordOfToken.map((word) => side.words.length + word));
  side.tokens.push(...tokens);
  side.words.push(...words);
}
