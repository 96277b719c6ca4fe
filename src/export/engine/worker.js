// The engine: a worker that answers messages, or a function of the page where it may not have a worker.

import { RequestError } from "./errors.js";
import { Translator } from "./translator.js";
import { unpack } from "./unpack.js";

/** The loaded translator, a promise. */
const loaded = { translator: null };
/** Numbers of the requests that are not wanted any more. */
const stopped = new Set();

/** Milliseconds of work after which messages are read. */
const PAUSE_AFTER = 25;

/** A function to be awaited during long work, which lets messages come in; it returns true once the request is stopped. */
function pauseOf(number) {
  let last = performance.now();
  return async () => {
    if (performance.now() - last > PAUSE_AFTER) {
      await new Promise((resolve) => { setTimeout(resolve); });
      last = performance.now();
    }
    return stopped.has(number);
  };
}

/** Result of a request: `ping`, `load`, `steps` of a sentence, or `text`, the translation of a text. */
async function resultOf({ type, number, body, packed, digest }, onStep) {
  if (type === "ping") return null;
  if (type === "load") {
    loaded.translator = unpack(packed, digest).then((model) => new Translator(model));
    return (await loaded.translator).description();
  }
  const translator = await loaded.translator;
  const pause = pauseOf(number);
  return type === "text" ? translator.translateText(body.text, pause) : translator.steps(body, onStep, pause);
}

/** Answers a request by messages that are given to `send`: its steps, and its result or an error. */
async function onRequest(request, send) {
  const { type, number } = request;
  if (type === "stop") {
    stopped.add(number);
    return;
  }
  try {
    const result = await resultOf(request, (step) => send({ number, type: "step", step }));
    send({ number, type: "result", result });
  } catch (error) {
    if (!(error instanceof RequestError)) console.error(error);
    send({ number, type: "error", error: error.message });
  }
  stopped.delete(number);
}

if (typeof WorkerGlobalScope === "undefined") globalThis.softalignEngine = onRequest;
else globalThis.addEventListener("message", ({ data }) => onRequest(data, (answer) => globalThis.postMessage(answer)));
