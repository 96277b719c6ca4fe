// Compares the engine of an exported page with `softalign translate`: translations, links and attention of each line.
//
//     softalign export --weights f32 --output page.html
//     softalign translate --format jsonl --placeholders none --input lines.txt --output expected.jsonl
//     node scripts/check_export.mjs page.html expected.jsonl
//
// Prints the differences and fails if there are any beside ties: translations whose scores differ by less than 1e-5.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const TIE = 1e-5;
const LINK = 1e-4;

/** Imports the engine's modules, which Node takes for ES modules only with a package file beside them. */
async function engine() {
  const directory = mkdtempSync(join(tmpdir(), "softalign-engine-"));
  cpSync(resolve(import.meta.dirname, "../src/export/engine"), directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), "{\"type\": \"module\"}");
  try {
    const modules = ["translator.js", "unpack.js", "inflate.js"].map((name) => import(pathToFileURL(join(directory, name))));
    return Object.assign({}, ...await Promise.all(modules));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function largestDifference(ours, theirs) {
  return ours.flat().reduce((most, one, index) => Math.max(most, Math.abs(one - theirs.flat()[index])), 0);
}

/** What differs between two answers, or null. */
function difference(ours, theirs) {
  if (ours.translation !== theirs.translation) {
    return Math.abs(ours.score - theirs.score) < TIE ? null : `translation: ${JSON.stringify(ours.translation)}`;
  }
  for (const part of ["source", "target"]) {
    if (JSON.stringify(ours[part]) !== JSON.stringify(theirs[part])) return `${part}: ${JSON.stringify(ours[part])}`;
  }
  for (const part of ["attention", "eos", "word_confidence"]) {
    const distance = largestDifference(ours[part] ?? [], theirs[part] ?? []);
    if (distance > LINK) return `${part} by ${distance}`;
  }
  if (JSON.stringify(ours.links) !== JSON.stringify(theirs.links)) return `links: ${JSON.stringify(ours.links)}`;
  const distance = largestDifference(ours.link_scores, theirs.link_scores);
  return distance > LINK ? `link scores by ${distance}` : null;
}

const [page, expected] = process.argv.slice(2);
const { Translator, unpack } = await engine();
const [, digest, packed] = /id="packed-model" data-digest="(\w+)">([^<]*)</.exec(readFileSync(page, "utf8"));
const translator = new Translator(await unpack(packed, digest));
const lines = readFileSync(expected, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
let differences = 0;
const begun = performance.now();
for (const theirs of lines) {
  const { alignment: ours } = await translator.steps({ text: theirs.source_text }, () => {}, async () => false);
  const found = difference(ours, theirs);
  if (found === null) continue;
  differences += 1;
  if (differences <= 20) console.log(`${JSON.stringify(theirs.source_text)}: ${found}\n  not ${JSON.stringify(theirs.translation)} ${JSON.stringify(theirs.links)}`);
}
const seconds = (performance.now() - begun) / 1000;
console.log(`${differences} of ${lines.length} lines differ; ${(1000 * seconds / lines.length).toFixed(1)} ms per line`);
process.exit(differences > 0 ? 1 : 0);
