// Events of the page, and its start.

/** Changes the sentence; what was chosen for the former one no longer fits. */
function setText(text, arriving) {
  Object.assign(state, { text, prefix: [], intervention: null, step: null });
  translate({ arriving });
}

function nextExample() {
  const text = EXAMPLES[exampleIndex % EXAMPLES.length];
  exampleIndex += 1;
  at("source").value = text;
  fitSource();
  shownWords = [];
  isExample = true;
  setText(text, 90);
}

/** Changes an option of the drawings. */
function choose(name, value) {
  state[name] = value;
  document.querySelector(`input[name=${name}][value=${value}]`).checked = true;
  redraw();
  saveState();
}

const nextOf = (list, value) => list[(list.indexOf(value) + 1) % list.length];

const KEYS = {
  "/": () => at("source").focus(),
  v: () => choose("view", nextOf(["links", "matrix", "both"], state.view)),
  w: () => choose("pieces", nextOf(["words", "tokens"], state.pieces)),
  "[": () => chooseStep((state.step ?? 1) - 1), "]": () => chooseStep((state.step ?? -1) + 1),
  u: () => isSteered() && undoAll(),
  s: saveDrawing, t: changeTheme, "?": () => at("help").showModal(),
};

function changeTheme() {
  applyTheme(THEMES[document.documentElement.dataset.theme], at("theme"));
  redraw();
}

function onKey(event) {
  const isBracket = event.key === "[" || event.key === "]";
  if ((!isBracket && (event.ctrlKey || event.metaKey || event.altKey)) || at("help").open) return;
  if (event.key === "Escape") {
    if (!at("correction").hidden) openCorrection(false);
    document.activeElement.blur();
    for (const view of Object.values(views)) view.restore();
    return;
  }
  const word = event.target.closest?.(".word");
  const isArrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
  if (word && word.dataset.side === "target" && !views.other.box.contains(word)) {
    if (event.key === "Enter") chooseWord("target", Number(word.dataset.index));
    if (event.shiftKey && isArrow) {
      event.preventDefault();
      nudgeAttention(Number(word.dataset.index), event.key === "ArrowRight" ? 1 : -1);
      return;
    }
  }
  if (Object.values(views).some((view) => view.onArrow(event))) return;
  if (isArrow && moveAlong(event)) return;
  if (isForField(event) || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

/** Moves along the tokens and the nodes of the beam by arrow keys. */
function moveAlong(event) {
  const forwards = event.key === "ArrowRight" ? 1 : -1;
  if (event.target.closest("#strip")) {
    chooseStep((state.step ?? -1) + forwards);
    at("strip").querySelector("[tabindex='0']")?.focus();
    return true;
  }
  const node = event.target.closest("#tree .node");
  if (!node) return false;
  const nodes = [...at("tree").querySelectorAll(".node")];
  const next = nodes[nodes.indexOf(node) + forwards];
  next?.focus();
  event.preventDefault();
  return true;
}

function listenToResult() {
  const output = at("output");
  const indexAt = (event) => event.target.closest?.("[data-index]")?.dataset.index;
  const highlight = (event) => {
    const index = indexAt(event);
    const view = views.links;
    if (index === undefined || showsTokens()) return;
    view.highlight("target", Number(index));
  };
  output.addEventListener("pointerover", highlight);
  output.addEventListener("focusin", highlight);
  output.addEventListener("pointerleave", () => views.links.restore());
  output.addEventListener("focusout", () => views.links.restore());
  output.addEventListener("click", (event) => {
    const index = indexAt(event);
    if (index !== undefined) {
      chooseStep(wordOfToken().indexOf(Number(index)));
      at("inspector").scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
  });
  for (const view of [views.links, views.matrix]) {
    view.box.addEventListener("click", (event) => {
      const word = event.target.closest?.(".word");
      if (word) chooseWord(word.dataset.side, Number(word.dataset.index));
    });
    listenToDrags(view);
  }
  views.links.onResize(redraw);
}

function listenToSteps() {
  at("strip").addEventListener("click", (event) => {
    const step = event.target.closest("[data-step]")?.dataset.step;
    if (step !== undefined) chooseStep(Number(step));
  });
  at("previous").addEventListener("click", () => chooseStep((state.step ?? 1) - 1));
  at("next").addEventListener("click", () => chooseStep((state.step ?? -1) + 1));
  at("candidates").addEventListener("click", (event) => {
    const id = event.target.closest("[data-id]")?.dataset.id;
    if (id !== undefined) chooseCandidate(Number(id));
  });
  at("weights").addEventListener("input", (event) => {
    const { attention } = result.trace.steps[state.step];
    intervene(state.step, withShare(attention, Number(event.target.dataset.index), Number(event.target.value) / 1000));
  });
  at("free").addEventListener("click", () => {
    state.intervention = null;
    translate({ arriving: 30 });
  });
  const continueFrom = (event) => {
    const node = event.target.closest(".node")?.dataset.node;
    if (node !== undefined && result) steer(pathOf(result.trace.beam, Number(node)));
  };
  at("tree").addEventListener("click", continueFrom);
  at("tree").addEventListener("keydown", (event) => {
    if (event.key === "Enter") continueFrom(event);
  });
}

/** Translates what is typed: at once, or after a short rest while keys follow each other fast. */
function listenToTyping() {
  const REST = 30;
  let [task, last] = [0, 0];
  at("source").addEventListener("input", () => {
    performance.mark("typed");
    isExample = false;
    fitSource();
    clearTimeout(task);
    const now = performance.now();
    task = setTimeout(() => setText(at("source").value, 12), now - last < 2 * REST ? REST : 0);
    last = now;
  });
}

function listenToControls() {
  at("example").addEventListener("click", nextExample);
  at("model").addEventListener("change", () => {
    Object.assign(state, { choice: Number(at("model").value), prefix: [], intervention: null, step: null });
    showControls();
    translate({ arriving: 30 });
  });
  at("compare").addEventListener("change", () => {
    state.compare = at("compare").value;
    other = null;
    drawAll();
    showComparison();
    translate();
  });
  at("key").addEventListener("change", () => translate());
  for (const name of SLIDERS) {
    at(name).addEventListener("input", () => {
      state[name] = Number(at(name).value);
      showControls();
      translate({ arriving: 12 });
    });
  }
  at("hard").addEventListener("change", () => {
    state.hard = at("hard").checked;
    showControls();
    translate({ arriving: 12 });
  });
  at("reset").addEventListener("click", () => {
    for (const name of [...SLIDERS, "hard"]) state[name] = DEFAULTS[name];
    showControls();
    translate({ arriving: 12 });
  });
  for (const button of document.querySelectorAll(".choice input")) {
    button.addEventListener("change", () => choose(button.name, button.value));
  }
}

function listenToKeeping() {
  at("copy-text").addEventListener("click", () => keep(() => result.alignment.translation, "Text"));
  at("copy-json").addEventListener("click", () => keep(() => JSON.stringify(result.alignment, null, 2), "JSON"));
  at("copy-link").addEventListener("click", () => keep(() => `${location.origin}${location.pathname}#${stateText()}`, "Link"));
  at("save-svg").addEventListener("click", saveDrawing);
  at("correct").addEventListener("click", () => openCorrection(true));
  at("cancel").addEventListener("click", () => openCorrection(false));
  at("correction").addEventListener("submit", addPair);
  at("theme").addEventListener("click", changeTheme);
  at("help-open").addEventListener("click", () => at("help").showModal());
  darkSystem.addEventListener("change", redraw);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    isExample = false;
    loadState();
    translate({ arriving: 30 });
  });
}

/** Models and directions of the server, as choices. */
function choicesOf({ models }) {
  return models.flatMap(({ name, attention, fixed, heads, pairs }) => {
    const directions = pairs.length > 1 ? pairs : [{}];
    return directions.map(({ source, target, tag_source: tag }) => ({
      model: name, tag, isFixed: fixed,
      about: `${name} · ${attention}${heads > 1 && !attention.includes("heads") ? `, ${heads} heads` : ""}`,
      label: source && directions.length > 1 ? `${name}: ${source} → ${target}` : name,
    }));
  });
}

async function begin() {
  applyTheme("auto", at("theme"));
  listenToTyping();
  listenToControls();
  listenToResult();
  listenToSteps();
  listenToKeeping();
  showNothing();
  try {
    const answer = await fetch("v1/models");
    const server = await answer.json();
    choices = choicesOf(server);
    at("correct").hidden = !server.collects;
    at("key-field").hidden = !server.needs_key;
    at("source").maxLength = server.char_limit;
  } catch {
    showProblem(NO_ANSWER);
    return;
  }
  at("model").replaceChildren(...choices.map(({ label }, index) => html("option", { value: index }, label)));
  at("model-field").hidden = choices.length < 2;
  loadState();
  if (location.hash.length > 1) translate({ arriving: 45 });
  else nextExample();
  at("source").focus({ preventScroll: true });
}

begin();
