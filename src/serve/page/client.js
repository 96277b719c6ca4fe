// The server as the engine of the page.

import { EngineError } from "./engine.js";

/** Message for a server that cannot be reached. */
const NO_ANSWER = "The server does not answer. Is softalign serve still running?";

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

/** Sends JSON to the server and returns its answer. */
function post(path, body, options) {
  return send(path, JSON.stringify(body), { "Content-Type": "application/json" }, options);
}

/** Sends a form with a file to the server and returns its answer. */
export function postForm(path, form, options) {
  return send(path, form, {}, options);
}

async function send(path, body, kind, { key, signal } = {}) {
  const headers = { ...kind, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const answer = await fetch(path, { method: "POST", headers, body, signal }).catch((error) => {
    throw error.name === "AbortError" ? error : new EngineError(NO_ANSWER);
  });
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw new EngineError(error ?? `The server answered with status ${answer.status}.`);
}

/** The server that the page came from. */
export const SERVER = {
  async models() {
    const answer = await fetch("v1/models").catch(() => { throw new EngineError(NO_ANSWER); });
    return answer.json().catch(() => { throw new EngineError(NO_ANSWER); });
  },

  async steps(body, { key, signal, onStep }) {
    const answer = await post("v1/steps", body, { key, signal });
    let result = null;
    await readEvents(answer, (name, data) => {
      if (name === "error") throw new EngineError(data.error);
      if (name === "result") result = data;
      else onStep(data);
    });
    if (!result) throw new EngineError("The server ended the answer early.");
    return result;
  },

  async addPair(pair, key) {
    await post("v1/pairs", pair, { key });
  },
};
