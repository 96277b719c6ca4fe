// Copies, files and corrected pairs.

/** Writes a text to the clipboard, also where the page has no right to the modern way. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = html("textarea", { class: "unseen" }, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

let keptTask = 0;

function showKept(text) {
  at("kept").textContent = text;
  clearTimeout(keptTask);
  keptTask = setTimeout(() => {
    at("kept").textContent = "";
  }, 4000);
}

async function keep(text, name) {
  if (!result) return;
  await copy(text());
  showKept(`${name} copied`);
}

function saveDrawing() {
  if (!result) return;
  const kind = state.view === "matrix" ? "matrix" : "links";
  const { element } = drawOne(matrixOf(result), tokensOf(result), linksOfResult(result), kind, views.links.box, LIGHT);
  download(savedDrawing(element), "image/svg+xml", `softalign-${kind}.svg`);
}

function openCorrection(isOpen) {
  at("correction").hidden = !isOpen;
  at("output").hidden = at("keeping").hidden = isOpen;
  if (!isOpen) return;
  at("corrected").value = result?.alignment.translation ?? "";
  fitSource();
  at("corrected").focus();
}

async function addPair(event) {
  event.preventDefault();
  try {
    await post("v1/pairs", { source: state.text.trim(), target: at("corrected").value.trim() }, { key: at("key").value });
    openCorrection(false);
    showProblem("");
    showKept("Pair added");
  } catch (error) {
    showProblem(`${problemOf(error)} The pair is not saved.`);
  }
}
