// Required terms of a translation: src/search/constraints.rs, constraint_state.rs and token_mask.rs.

import { isUnspaced } from "./words.js";

/** Probability from which on the model itself wants a token. */
const MIN_INTENDED = Math.log(0.1);
/** Lower bound of the attention on a term where its translation begins. */
const MIN_TERM_ATTENTION = 0.02;
/** Log penalty of a term that a hypothesis lacks. */
const REPLACED_BELOW = Math.log(0.01);

const NO_PROGRESS = { length: 0, met: [], partial: null, wordEnded: false, penalty: 0, text: "" };

/** True if a text begins with a character that forms words with its neighbors. */
function continuesWord(text) {
  return /^[\p{Alphabetic}\p{N}\p{M}]/u.test(text) && !isUnspaced(text);
}

function endsWithWord(text) {
  return continuesWord([...text.slice(-2)].pop() ?? "");
}

/** Constraints: a prefix, and terms `{ text, tokens, source }`, where `source` is the range of the source tokens. */
export class Constraints {
  constructor(prefix, terms, vocabulary) {
    Object.assign(this, { prefix, terms, vocabulary });
    this.requiredTokens = terms.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }

  get isEmpty() {
    return this.prefix.length === 0 && this.terms.length === 0;
  }

  start() {
    return NO_PROGRESS;
  }

  unmet({ met }) {
    return this.terms.map((_, index) => index).filter((index) => !met.includes(index));
  }

  /** Number of tokens of terms that a hypothesis has. */
  bank(state) {
    return state.met.reduce((sum, index) => sum + this.terms[index].tokens.length, 0) + (state.partial?.tokens ?? 0);
  }

  /** Log penalty of a complete hypothesis. */
  penalty(state) {
    return state.penalty + this.unmet(state).length * REPLACED_BELOW;
  }

  /** Unmet terms that extend the one in progress, or all, each with its next token. */
  continuations(state) {
    const begun = state.partial ? this.terms[state.partial.term].tokens.slice(0, state.partial.tokens) : [];
    return this.unmet(state).flatMap((term) => {
      const { tokens } = this.terms[term];
      const fits = tokens.length > begun.length && begun.every((token, index) => tokens[index] === token);
      return fits ? [{ term, token: tokens[begun.length] }] : [];
    });
  }

  attentionOn(term, attention) {
    const { source: [first, end] } = this.terms[term];
    let sum = 0;
    for (let token = first; token < end; token += 1) sum += attention[token] ?? 0;
    return sum;
  }

  /** The term with the most attention, the first of equals; null if there are none. */
  mostAttended(terms, attention) {
    return terms.reduce((best, term) =>
      (best === null || this.attentionOn(term, attention) > this.attentionOn(best, attention) ? term : best), null);
  }

  /** The state after one more token. */
  advance(state, token, attention) {
    if (this.terms.length === 0) return { ...NO_PROGRESS, length: state.length + 1 };
    const surface = this.vocabulary.surface(token);
    const next = { ...state, length: state.length + 1, text: state.text + surface, partial: null, wordEnded: false };
    if (state.partial) {
      const matching = this.continuations(state).filter((one) => one.token === token).map(({ term }) => term);
      const term = matching.includes(state.partial.term) ? state.partial.term : matching[0];
      if (term !== undefined) next.partial = { term, tokens: state.partial.tokens + 1 };
    }
    if (next.partial === null) {
      const begun = this.mostAttended(this.unmet(state).filter((term) => this.terms[term].tokens[0] === token), attention);
      if (begun !== null) {
        next.penalty += Math.log(Math.min(Math.max(this.attentionOn(begun, attention), MIN_TERM_ATTENTION), 1));
        next.partial = { term: begun, tokens: 1 };
      }
    }
    const completed = this.completed(next, surface, attention);
    return completed === null ? next : { ...next, partial: null, met: [...next.met, completed], wordEnded: true };
  }

  /** The term that ends with the last token: the one in progress, or one that stands there in other tokens. */
  completed(state, surface, attention) {
    if (state.partial) {
      return state.partial.tokens === this.terms[state.partial.term].tokens.length ? state.partial.term : null;
    }
    if (surface === "") return null;
    const atEnd = this.unmet(state).filter((term) => {
      const { text } = this.terms[term];
      const before = state.text.slice(0, state.text.length - text.length);
      return state.text.endsWith(text) && !(endsWithWord(before) && continuesWord(text));
    });
    return this.mostAttended(atEnd, attention);
  }

  /** Candidates of a hypothesis: the best ones that the constraints allow, and those that advance terms. */
  candidates(state, prediction, width, onlyAgreeing) {
    const forced = this.prefix[state.length];
    if (forced !== undefined) return [prediction.candidate(forced)].filter(({ logProbability }) => logProbability > -Infinity);
    if (this.terms.length === 0) return prediction.best(width);
    const proposals = [...new Set(this.continuations(state).map(({ token }) => token))].sort((a, b) => a - b);
    const intended = prediction.best(1)[0]?.token;
    const continues = (token) => continuesWord(this.vocabulary.surface(token));
    const allows = (token) => !(state.wordEnded && continues(token));
    const agrees = (token) => {
      const splits = state.partial === null && proposals.includes(token) && continues(intended) && !continues(token);
      return !splits || prediction.candidate(token).logProbability >= MIN_INTENDED;
    };
    const found = prediction.best(width, (token) => allows(token) && (!onlyAgreeing || agrees(token)));
    const further = proposals.filter((token) => allows(token) && agrees(token) && found.every((one) => one.token !== token));
    return [...found, ...further.map((token) => prediction.candidate(token))];
  }
}

/** Dynamic beam allocation: selects at most `width` of sorted extensions, an equal share for each bank up to `last`. */
export function allocated(extensions, width, last) {
  if (last === 0) return extensions.slice(0, width);
  const available = new Array(last + 1).fill(0);
  for (const { bank } of extensions) available[bank] += 1;
  const slots = available.map((count) => Math.min(count, Math.floor(width / (last + 1))));
  let free = width - slots.reduce((sum, one) => sum + one, 0);
  for (let bank = last; bank >= 0; bank -= 1) {
    const more = Math.min(free, available[bank] - slots[bank]);
    slots[bank] += more;
    free -= more;
  }
  return extensions.filter(({ bank }) => {
    slots[bank] -= 1;
    return slots[bank] >= 0;
  });
}
