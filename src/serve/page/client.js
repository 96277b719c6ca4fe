// Requests to the server.

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

/** Message for a server that cannot be reached. */
export const NO_ANSWER = "The server does not answer. Is softalign serve still running?";

/** The message of an error from the server; all others are defects of this page. */
export function problemOf(error) {
  if (!(error instanceof ServerError)) throw error;
  return error.message;
}

/** Sends JSON to the server and returns its answer. */
export function post(path, body, options) {
  return send(path, JSON.stringify(body), { "Content-Type": "application/json" }, options);
}

/** Sends a form with a file to the server and returns its answer. */
export function postForm(path, form, options) {
  return send(path, form, {}, options);
}

async function send(path, body, kind, { key, signal } = {}) {
  const headers = { ...kind, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const answer = await fetch(path, { method: "POST", headers, body, signal }).catch((error) => {
    throw error.name === "AbortError" ? error : new ServerError(NO_ANSWER);
  });
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw new ServerError(error ?? `The server answered with status ${answer.status}.`);
}

/** Translations with their steps, of which only the latest counts. */
export class StepsClient {
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

  /** Ends the translation in progress. */
  stop() {
    this.running?.abort();
  }
}
