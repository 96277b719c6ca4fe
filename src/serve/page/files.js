// Translation of files.

import { byId, html } from "../../render/page/dom.js";
import { postForm } from "./client.js";
import { problemOf } from "./engine.js";
import { showProblem } from "./messages.js";
import { state } from "./state.js";

/** The translation in progress, if there is one. */
let running = null;

/** Translates a file by the chosen model, and shows where the translation is. */
async function translateFile(file) {
  if (!file || state.models.length === 0) return;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const { model, tag } = state.models[state.modelIndex];
  const form = new FormData();
  for (const [name, value] of Object.entries({ model, ...(tag ? { tag_source: tag } : {}), file })) form.append(name, value);
  showProblem("");
  const cancel = html("button", { type: "button" }, "Cancel");
  cancel.addEventListener("click", stop);
  showFileState(html("span", {}, `Translating ${file.name} …`), cancel);
  try {
    const answer = await postForm("translate_file", form, { key: byId("key").value, signal });
    const { translatedFileUrl } = await answer.json();
    const path = translatedFileUrl.slice(translatedFileUrl.lastIndexOf("/download_file/") + 1);
    const name = path.slice(path.indexOf(".") + 1);
    const link = html("a", { href: path, download: "", id: "download" }, `Download the translation of ${file.name}`);
    showFileState(link, html("span", { class: "hint" }, `${name}, kept for ten minutes`));
    link.focus();
  } catch (error) {
    if (signal.aborted) return;
    showFileState();
    showProblem(problemOf(error));
  }
}

function stop() {
  running?.abort();
  showFileState();
  byId("choose-file").focus();
}

function showFileState(...parts) {
  byId("file-state").replaceChildren(...parts);
  byId("file-state").hidden = parts.length === 0;
}

/** Opens the choice of a file. */
export function chooseFile() {
  byId("file").click();
}

/** Lets files be chosen and dropped. */
export function listenToFiles() {
  byId("choose-file").addEventListener("click", chooseFile);
  byId("file").addEventListener("change", () => {
    translateFile(byId("file").files[0]);
    byId("file").value = "";
  });
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.toggle("dropping", kind === "dragenter" || kind === "dragover");
      if (kind === "drop") translateFile(event.dataTransfer.files[0]);
    });
  }
}

/** Offers the files that the server translates, by its description; null without one. */
export function acceptFiles(description) {
  byId("file").accept = description?.file_formats.join(",") ?? "";
}
