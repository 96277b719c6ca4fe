// The page of a translator in one file.

import { byId } from "../../render/page/dom.js";
import { useExamples } from "../../serve/page/examples.js";
import { beginPage } from "../../serve/page/page.js";
import { showFacts } from "./about.js";
import { LocalEngine } from "./local.js";

const ownExamples = showFacts((text) => {
  byId("source").value = text;
  byId("source").dispatchEvent(new Event("input"));
  byId("source").scrollIntoView({ block: "nearest" });
});
if (ownExamples !== null) useExamples(ownExamples);
byId("example").hidden = ownExamples !== null && ownExamples.length === 0;
// An address on a disk leads nobody else here, and files need the server.
for (const id of ["copy-link", "choose-file", "file-hint"]) byId(id).hidden = true;
document.querySelector("#help dl").querySelectorAll("div").forEach((row) => {
  if (row.querySelector("kbd").textContent === "f") row.remove();
});
beginPage(new LocalEngine());
