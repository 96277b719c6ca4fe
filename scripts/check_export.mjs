// Compares the engine of an exported page with the program, line by line: translations, links, attention and confidence with
// `softalign translate`; with `/v1/steps` of `softalign serve`, the steps with their candidates, and the beam.
//
//     node scripts/check_export.mjs target/release/softalign checkpoints lines.txt f32
//
// Prints the differences and fails if there are any beside ties: translations whose scores differ by less than 1e-5. With other
// weights than f32, which are `int8` or `f16`, it prints instead how many translations are others.

import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const TIE = 1e-5;
const DISTANCE = 1e-4;
const MAX_SHOWN = 20;

/** Imports the engine's modules, which Node takes for ES modules only with a package file beside them. */
async function engine(directory) {
  cpSync(resolve(import.meta.dirname, "../src/export/engine"), directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), "{\"type\": \"module\"}");
  const modules = ["translator.js", "unpack.js"].map((name) => import(pathToFileURL(join(directory, name))));
  return Object.assign({}, ...await Promise.all(modules));
}

/** The path of a difference of texts, or of numbers above `DISTANCE`, for large ones above a tenth of it as a share; or null. */
function difference(ours, theirs, path = "") {
  if (typeof theirs === "number") return Math.abs(ours - theirs) <= DISTANCE * Math.max(Math.abs(theirs) / 10, 1) ? null : `${path}: ${ours}, not ${theirs}`;
  if (theirs === null || typeof theirs !== "object") return ours === theirs ? null : `${path}: ${JSON.stringify(ours)}, not ${JSON.stringify(theirs)}`;
  if (ours === null || typeof ours !== "object") return `${path}: ${JSON.stringify(ours)}, not ${JSON.stringify(theirs)}`;
  if (Array.isArray(theirs) && ours.length !== theirs.length) return `${path} has ${ours.length} entries, not ${theirs.length}`;
  for (const key of Object.keys(theirs)) {
    const found = difference(ours[key], theirs[key], `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

/** A trace with candidates by their ids, without those that are more probable than the last one by at most `margin`. */
function byToken({ steps, ...trace }, margin) {
  const candidatesOf = ({ candidates }) => {
    const last = candidates[candidates.length - 1]?.log_probability ?? 0;
    const likely = candidates.filter(({ log_probability: one }) => one > last + margin);
    return Object.fromEntries(likely.map((one) => [one.id, one]));
  };
  return { ...trace, steps: steps.map((step) => ({ ...step, candidates: candidatesOf(step) })) };
}

/** Asks a server for the steps of a text. */
async function stepsOf(address, text) {
  const answer = await fetch(`${address}v1/steps`, {
    // A connection that is kept open is one that the server may close just then.
    method: "POST", headers: { "Content-Type": "application/json", Connection: "close" }, body: JSON.stringify({ text }),
  });
  const events = (await answer.text()).split("\n\n").filter((event) => event.startsWith("event: result"));
  if (events.length !== 1) throw new Error(`${JSON.stringify(text)}: no answer of the server`);
  return JSON.parse(/^data: ?(.*)$/m.exec(events[0])[1]);
}

/** Starts a server of a model. Returns its process and address. */
async function serve(program, model) {
  const server = spawn(program, ["serve", "--model", `model=${model}`, "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  for await (const part of server.stderr) {
    text += part;
    const [address] = /http:\/\/\S+\//.exec(text) ?? [];
    if (address) return { server, address };
  }
  throw new Error(`the server did not start: ${text}`);
}

/** What differs between the engine's answer for a line and those of the program, or null. */
function differenceOf(ours, translated, steps) {
  if (ours.alignment.translation !== translated.translation) {
    return Math.abs(ours.alignment.score - translated.score) < TIE ? null : difference(ours.alignment, translated);
  }
  return difference(ours.alignment, { ...translated, id: 0 }) ?? difference(byToken(ours.trace, -1), byToken(steps.trace, DISTANCE), "trace");
}

const [program, model, lines, weights = "f32"] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "softalign-export-"));
const run = (...options) => execFileSync(program, ["--quiet", ...options], { stdio: ["ignore", "inherit", "inherit"] });
const page = join(work, "page.html");
run("export", "--model", model, "--weights", weights, "--output", page);
run("translate", "--model", model, "--format", "jsonl", "--placeholders", "none", "--input", lines, "--output", join(work, "expected.jsonl"));
const expected = readFileSync(join(work, "expected.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const { server, address } = await serve(program, model);
try {
  const { Translator, unpack } = await engine(work);
  const [, digest, packed] = /id="packed-model" data-digest="(\w+)">([^<]*)</.exec(readFileSync(page, "utf8"));
  // As in older browsers, whose digest and decompression are the engine's own.
  for (const name of ["crypto", "DecompressionStream"]) Object.defineProperty(globalThis, name, { value: undefined });
  const translator = new Translator(await unpack(packed, digest));
  let [differences, milliseconds] = [0, 0];
  for (const translated of expected) {
    const text = translated.source_text;
    const begun = performance.now();
    const ours = await translator.steps({ text }, () => {}, async () => false);
    milliseconds += performance.now() - begun;
    const found = weights === "f32" ? differenceOf(ours, translated, await stepsOf(address, text))
      : difference(ours.alignment.translation, translated.translation, "translation");
    if (found === null) continue;
    differences += 1;
    if (differences <= MAX_SHOWN && weights === "f32") console.log(`${JSON.stringify(text)}: ${found}`);
  }
  console.log(`${differences} of ${expected.length} lines differ; ${(milliseconds / expected.length).toFixed(1)} ms per line`);
  process.exitCode = differences > 0 && weights === "f32" ? 1 : 0;
} finally {
  server.kill();
  rmSync(work, { recursive: true });
}
