// Data model: pairs, links, measures. Uses the document only to read the data block.

import { linksOf, weightOf } from "./alignment.js";

/** Data of the page: `title`, `threshold`, `pairs`. All weights are in thousandths. */
export const DATA = JSON.parse(document.getElementById("data").textContent);

/** Set of keys `s-t` from a flat list `[s, t, s, t, …]`. */
function linkKeys(flat) {
  const keys = new Set();
  for (let index = 0; index < flat.length; index += 2) keys.add(`${flat[index]}-${flat[index + 1]}`);
  return keys;
}

/**
 * Links beside gold ones, each with its `state`: `hit` (sure), `hit-possible`, `extra` (in no gold), `missed` (sure and not
 * proposed), `possible` (neither sure nor proposed).
 */
export function linksAgainstGold(matrix, links, gold) {
  const sure = linkKeys(gold.sure);
  const possible = linkKeys(gold.possible);
  const compared = links.map((link) => {
    const key = `${link.s}-${link.t}`;
    const state = sure.has(key) ? "hit" : possible.has(key) ? "hit-possible" : "extra";
    return { ...link, state };
  });
  const proposed = new Set(links.map((link) => `${link.s}-${link.t}`));
  for (const [keys, state] of [[sure, "missed"], [possible, "possible"]]) {
    for (const key of keys) {
      const [s, t] = key.split("-").map(Number);
      const inside = s < matrix.source.length && t < matrix.target.length;
      if (inside && !proposed.has(key)) compared.push({ s, t, weight: weightOf(matrix, s, t), state });
    }
  }
  return compared;
}

/** |A|, |S|, |A ∩ S| and |A ∩ P| of a pair; unlike P, `possible` in the data excludes sure links. */
function agreementCounts(pair, threshold) {
  const links = linksOf(pair, threshold);
  const sure = linkKeys(pair.gold.sure);
  const possible = linkKeys(pair.gold.possible);
  const counts = { proposed: links.length, sure: sure.size, sureHits: 0, possibleHits: 0 };
  for (const { s, t } of links) {
    const key = `${s}-${t}`;
    if (sure.has(key)) counts.sureHits += 1;
    if (sure.has(key) || possible.has(key)) counts.possibleHits += 1;
  }
  return counts;
}

/** Alignment error rate: 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|). */
function errorRate(counts) {
  const all = counts.proposed + counts.sure;
  return all === 0 ? 0 : 1 - (counts.sureHits + counts.possibleHits) / all;
}

/** Error rate of the summed counts of all pairs with gold alignments; null without any. */
export function corpusErrorRate(pairs, threshold) {
  const total = { proposed: 0, sure: 0, sureHits: 0, possibleHits: 0 };
  const withGold = pairs.filter((pair) => pair.gold);
  for (const pair of withGold) {
    const counts = agreementCounts(pair, threshold);
    for (const name in total) total[name] += counts[name];
  }
  return withGold.length ? errorRate(total) : null;
}

/** Mean attention entropy of the target words, the source's end included, in nats; null without target words. */
function entropy(matrix) {
  const columns = matrix.source.length + 1;
  const rows = matrix.target.length;
  if (rows === 0) return null;
  let nats = 0;
  for (let t = 0; t < rows; t += 1) {
    const row = matrix.weights.slice(t * columns, (t + 1) * columns);
    const sum = row.reduce((total, weight) => total + weight, 0);
    for (const weight of row) if (weight > 0) nats -= (weight / sum) * Math.log(weight / sum);
  }
  return nats / rows;
}

/** Number of source words without a link. */
function uncovered(pair, threshold) {
  const reached = new Set(linksOf(pair, threshold).map((link) => link.s));
  return pair.source.length - reached.size;
}

/** True if a pair has a gold alignment. */
export const HAS_GOLD = DATA.pairs.some((pair) => pair.gold);
/** True if a pair has attention between tokens. */
export const HAS_TOKENS = DATA.pairs.some((pair) => pair.tokens);

/** Measures for sorting and filtering. `of` returns a number, or null if a pair has none; `about` describes it. */
export const MEASURES = [
  { name: "length", label: "Words, both sides", short: "words, both sides", digits: 0, about: "Words of both sides together",
    of: (pair) => pair.source.length + pair.target.length },
  { name: "score", label: "Score, nats", short: "score", digits: 2, of: (pair) => pair.score,
    about: "Mean log-probability of a target token, in nats: closer to 0 is more likely" },
  { name: "entropy", label: "Entropy, nats", short: "entropy", digits: 2, of: (pair) => entropy(pair),
    about: "Mean attention entropy of the target words, in nats: 0 is all weight on one source word" },
  { name: "uncovered", label: "Uncovered source words", short: "uncovered", digits: 0, byLinks: true, of: uncovered,
    about: "Source words without a link at this threshold" },
  { name: "aer", label: "Alignment error rate", short: "AER", digits: 3, byLinks: true, gold: true,
    about: "Share of links that disagree with the gold alignment: 0 is full agreement",
    of: (pair, threshold) => (pair.gold ? errorRate(agreementCounts(pair, threshold)) : null) },
].filter((measure) => HAS_GOLD || !measure.gold);

/** Measures by name, cached for sorting. */
const measureCache = new Map();

/** Training steps of a training page; empty on other pages. */
export const STEPS = DATA.steps ?? [];

/** Switches every pair to its attention after one of the steps, given by its index. */
export function selectStep(step) {
  for (const pair of DATA.pairs) Object.assign(pair, pair.frames?.[step]);
  measureCache.clear();
}

/** The measure of a pair, given by its index in the file. */
export function measured(measure, pairIndex, threshold) {
  const basis = measure.byLinks ? threshold : null;
  if (measureCache.get(measure.name)?.basis !== basis) measureCache.set(measure.name, { basis, values: [] });
  const { values } = measureCache.get(measure.name);
  if (values[pairIndex] === undefined) values[pairIndex] = measure.of(DATA.pairs[pairIndex], threshold);
  return values[pairIndex];
}

/** Text in composed form (NFC) and lower case, for search. */
function folded(text) {
  return text.normalize("NFC").toLowerCase();
}

/** Texts of both sides of a pair. */
export function textsOf(pair) {
  return pair.texts ?? [pair.source.join(" "), pair.target.join(" ")];
}

/** Folded text of each pair that was searched. */
const searchable = [];

/** Both sides of a pair, folded. */
function searchText(pairIndex) {
  if (searchable[pairIndex] === undefined) {
    const pair = DATA.pairs[pairIndex];
    searchable[pairIndex] = folded([...textsOf(pair), pair.translation ?? ""].join("\n"));
  }
  return searchable[pairIndex];
}

/** True if a pair matches the search; `#12` is the twelfth sentence. */
function isFound(pairIndex, query) {
  const number = /^#(\d+)$/.exec(query);
  return number ? DATA.pairs[pairIndex].id + 1 === Number(number[1]) : searchText(pairIndex).includes(query);
}

/** True if a pair's measures lie in all ranges; missing values lie in none. */
function inRanges(pairIndex, ranges, threshold) {
  return MEASURES.every((measure) => {
    const { from = null, to = null } = ranges[measure.name] ?? {};
    if (from === null && to === null) return true;
    const value = measured(measure, pairIndex, threshold);
    return value !== null && (from === null || value >= from) && (to === null || value <= to);
  });
}

/** Indices of the pairs that match search and filters, in the chosen order. */
export function chosenPairs({ query, ranges, threshold, sort, descending }) {
  const wanted = folded(query.trim());
  const indices = DATA.pairs.map((_, pairIndex) => pairIndex);
  const chosen = indices.filter((pairIndex) => isFound(pairIndex, wanted) && inRanges(pairIndex, ranges, threshold));
  const measure = MEASURES.find(({ name }) => name === sort);
  const sign = descending ? -1 : 1;
  if (!measure) return descending ? chosen.reverse() : chosen;
  return chosen.sort((a, b) => {
    const [first, second] = [measured(measure, a, threshold), measured(measure, b, threshold)];
    // Missing values come last in both directions; ties keep their order.
    if (first === null || second === null) return (first === null) - (second === null) || a - b;
    return sign * (first - second) || a - b;
  });
}

/** A pair's number, from 1, with the rank of all translations but the best. */
export function numberOf(pair) {
  return pair.rank > 1 ? `${pair.id + 1}.${pair.rank}` : `${pair.id + 1}`;
}
