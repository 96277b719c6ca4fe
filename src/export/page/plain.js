// The plain page: text in, text out.

import { byId, html } from "../../render/page/dom.js";
import { problemOf } from "../../serve/page/engine.js";
import { showFacts } from "./about.js";
import { LocalEngine } from "./local.js";

/** Milliseconds without typing after which a text is translated. */
const REST = 200;

const local = new LocalEngine();
/** The translation in progress, the timer of the next one, and the translated text. */
const work = { running: null, timer: 0, text: "" };

function showPlainProblem(message) {
  byId("problem").textContent = message;
  byId("problem").hidden = message === "";
}

/** A text cut into elements for its words, and what stands between them. */
function partsOf(text, words, element) {
  const parts = [];
  let end = 0;
  words.forEach((word, index) => {
    const start = text.indexOf(word, end);
    if (start < 0) return;
    parts.push(text.slice(end, start), element(word, index));
    end = start + word.length;
  });
  return [...parts, text.slice(end)];
}

/** Shows the source sentence of a word, with the words that it comes from marked. */
function showOrigin(button, { source_text: text, source, links }, target) {
  for (const other of byId("output").querySelectorAll(".chosen")) other.classList.remove("chosen");
  button.classList.add("chosen");
  const linked = new Set(links.filter(([, t]) => t === target).map(([s]) => s));
  byId("origin").replaceChildren(...partsOf(text, source, (word, index) =>
    (linked.has(index) ? html("mark", {}, word) : word)));
}

function showTranslation(parts) {
  work.text = parts.map((part) => part.translation ?? part).join("");
  byId("output").replaceChildren(...parts.flatMap((part) => {
    if (typeof part === "string") return [part];
    return partsOf(part.translation, part.target, (word, index) => {
      const button = html("button", { type: "button" }, word);
      for (const event of ["click", "focus", "pointerenter"]) button.addEventListener(event, () => showOrigin(button, part, index));
      return button;
    });
  }));
  byId("origin").replaceChildren();
  byId("hint").hidden = parts.length === 0;
}

async function translatePlain() {
  work.running?.abort();
  work.running = new AbortController();
  const { signal } = work.running;
  try {
    const parts = await local.text(byId("source").value, { signal });
    if (signal.aborted || parts === null) return;
    showPlainProblem("");
    showTranslation(parts);
    performance.mark("translated");
  } catch (error) {
    if (!signal.aborted) showPlainProblem(problemOf(error));
  }
}

async function copyPlain() {
  try {
    await navigator.clipboard.writeText(work.text);
  } catch {
    const field = html("textarea", {}, work.text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  byId("kept").textContent = "Copied";
}

async function beginPlain() {
  showFacts((text) => {
    byId("source").value = text;
    translatePlain();
    byId("source").scrollIntoView({ block: "nearest" });
  });
  byId("copy").addEventListener("click", copyPlain);
  try {
    await local.models();
  } catch (error) {
    showPlainProblem(problemOf(error));
    return;
  }
  byId("source").addEventListener("input", () => {
    byId("kept").textContent = "";
    clearTimeout(work.timer);
    work.timer = setTimeout(translatePlain, REST);
  });
  if (byId("source").value) translatePlain();
  byId("source").focus({ preventScroll: true });
}

beginPlain();
