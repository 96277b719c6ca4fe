// Requests of the page, and the matrices of their answers.

/** Reads server-sent events of an answer and calls `onEvent(name, data)` for each. */
async function readEvents(answer, onEvent) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const name = /^event: ?(.*)$/m.exec(event)?.[1];
      const data = /^data: ?(.*)$/m.exec(event)?.[1];
      if (name && data) onEvent(name, JSON.parse(data));
    }
  }
}

/** Error that can be told to the user. */
class ServerError extends Error {}

const NO_ANSWER = "The server does not answer. Is softalign serve still running?";

/** Sends JSON to the server and returns its answer. */
async function post(path, body, { key, signal } = {}) {
  const headers = { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal }).catch((error) => {
    throw error.name === "AbortError" ? error : new ServerError(NO_ANSWER);
  });
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw new ServerError(error ?? `The server answered with status ${answer.status}.`);
}

/** Translations with their steps, of which only the latest counts. */
class StepsClient {
  constructor() {
    this.running = null;
  }

  /** Translates, and returns the result, or null if a later request replaced this one. */
  async translate(body, key, onStep) {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    let result = null;
    try {
      const answer = await post("v1/steps", body, { key, signal: running.signal });
      await readEvents(answer, (name, data) => {
        if (running.signal.aborted) return;
        if (name === "error") throw new ServerError(data.error);
        if (name === "result") result = data;
        else onStep(data);
      });
    } catch (error) {
      if (running.signal.aborted) return null;
      throw error;
    }
    if (!result && !running.signal.aborted) throw new ServerError("The server ended the answer early.");
    return running.signal.aborted ? null : result;
  }

  stop() {
    this.running?.abort();
  }
}

/** Translation in progress, put together from the events of its steps. */
class PartialTranslation {
  constructor() {
    Object.assign(this, { source: null, target: null, text: "", rows: [] });
  }

  add({ source, target, text, first_changed: first, attention }) {
    this.source ??= source;
    Object.assign(this, { target, text });
    this.rows.length = first;
    this.rows.push(...attention);
  }

  /** Matrix between words, with a link for the largest weight of each target word. */
  matrix() {
    const { source, target, rows } = this;
    const columns = source.words.length + 1;
    const sums = new Array(target.words.length * columns).fill(0);
    const counts = new Array(target.words.length).fill(0);
    rows.forEach((row, token) => {
      const word = target.word_of_token[token];
      counts[word] += 1;
      for (const [column, weight] of row) sums[word * columns + (source.word_of_token[column] ?? columns - 1)] += weight;
    });
    const weights = sums.map((sum, cell) => Math.floor(sum / (counts[Math.floor(cell / columns)] || 1)));
    const links = target.words.flatMap((_, word) => {
      const row = weights.slice(word * columns, (word + 1) * columns);
      const largest = Math.max(...row);
      const column = row.indexOf(largest);
      return column < columns - 1 && largest > 0 ? [word * (columns - 1) + column, largest] : [];
    });
    return { source: source.words, target: target.words, weights, link_scores: links };
  }
}

/** First and last index of the words of `after` that are not in `before`, or null if there are none. */
function changedRange(before, after) {
  let first = 0;
  while (first < Math.min(before.length, after.length) && before[first] === after[first]) first += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - first;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return first < after.length - tail ? { first, last: after.length - tail - 1 } : null;
}

/** Weights with `share` at `index`; the others keep their proportions. */
function withShare(weights, index, share) {
  const rest = weights.reduce((sum, weight, place) => sum + (place === index ? 0 : weight), 0);
  const others = weights.length - 1;
  return weights.map((weight, place) => {
    if (place === index) return others > 0 ? share : 1;
    return rest > 0 ? (weight / rest) * (1 - share) : (1 - share) / others;
  });
}

/** Weights after all of `from` were moved to `to`, both lists of indices. */
function moved(weights, from, to) {
  const result = [...weights];
  const mass = from.reduce((sum, index) => sum + result[index], 0);
  for (const index of from) result[index] = 0;
  for (const index of to) result[index] += mass / to.length;
  return result;
}
