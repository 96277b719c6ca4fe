// The engine in the page.

import { byId } from "../../render/page/dom.js";
import { EngineError } from "../../serve/page/engine.js";

/** Message for a file whose end is missing. */
const INCOMPLETE = "This file is damaged or incomplete. Please get it again.";

/** Engine over the model in the page, in a worker where the browser permits it, else in the page itself. */
export class LocalEngine {
  constructor() {
    Object.assign(this, { waiting: new Map(), last: 0, send: null });
  }

  /** Loads the model and returns its description. */
  async models() {
    const [script, model] = [byId("engine"), byId("packed-model")];
    if (!script || !model) throw new EngineError(INCOMPLETE);
    await this.start(script.textContent);
    const packed = model.textContent;
    // The engine keeps the model as numbers; megabytes of text need not stay.
    model.remove();
    return this.request("load", { packed, digest: model.dataset.digest });
  }

  /** Starts the engine's script. */
  start(script) {
    const onMessage = (answer) => this.onAnswer(answer);
    return new Promise((resolve) => {
      const startInPage = () => {
        document.head.append(Object.assign(document.createElement("script"), { textContent: script }));
        this.send = (message) => globalThis.softalignEngine(message, onMessage);
        resolve();
      };
      try {
        const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
        worker.addEventListener("message", ({ data }) => onMessage(data));
        worker.addEventListener("error", startInPage, { once: true });
        this.send = (message) => worker.postMessage(message);
        // A worker that cannot start tells so by an error; one that runs answers.
        this.request("ping").then(resolve, resolve);
      } catch {
        startInPage();
      }
    });
  }

  onAnswer({ number, type, step, result, error }) {
    const { onStep, resolve, reject } = this.waiting.get(number) ?? {};
    if (!resolve) return;
    if (type === "step") {
      onStep(step);
      return;
    }
    this.waiting.delete(number);
    if (type === "error") reject(new EngineError(error));
    else resolve(result);
  }

  request(type, message = {}, { signal, onStep } = {}) {
    this.last += 1;
    const number = this.last;
    signal?.addEventListener("abort", () => this.send({ type: "stop", number }));
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { onStep, resolve, reject });
      this.send({ type, number, ...message });
    });
  }

  /** Translates a sentence, as the server does. */
  steps(body, options) {
    return this.request("steps", { body }, options);
  }

  /** Translates a text of any number of sentences. */
  text(text, options) {
    return this.request("text", { body: { text } }, options);
  }
}
