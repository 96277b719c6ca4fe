// Changes by hand: tokens that the translation begins with, and attention that is moved.

/** Forces the beginning of the translation, and keeps attention moved within it. */
function steer(prefix) {
  state.prefix = prefix;
  if (state.intervention && state.intervention.step >= prefix.length) state.intervention = null;
  translate({ arriving: 45 });
}

/** Continues with another token at the step looked into. */
function chooseCandidate(id) {
  const before = result.trace.steps.slice(0, state.step).map((step) => step.id);
  steer([...before, id]);
}

/** Replaces the attention of a step; the tokens before it stay. */
function intervene(step, weights) {
  state.prefix = result.trace.steps.slice(0, step).map((one) => one.id);
  state.intervention = { step, weights: weights.map((weight) => Number(weight.toFixed(4))) };
  state.step = step;
  translate({ arriving: 45 });
}

/** Moves the attention of a target word or token from one source word or token to another. */
function moveAttention(target, from, to) {
  const step = showsTokens() ? target : wordOfToken().indexOf(target);
  const columns = matrixOf(result).source.length;
  if (step < 0 || from === to || to < 0 || to > columns) return;
  const { tokens, word_of_token: words } = result.trace.source;
  const tokensOfColumn = (column) => {
    if (column === columns) return [tokens.length];
    return showsTokens() ? [column] : words.flatMap((word, token) => (word === column ? [token] : []));
  };
  intervene(step, moved(result.trace.steps[step].attention, tokensOfColumn(from), tokensOfColumn(to)));
}

/** Moves the largest weight of a target word one source word on. */
function nudgeAttention(target, by) {
  const matrix = matrixOf(result);
  const row = Array.from({ length: matrix.source.length + 1 }, (_, s) => weightOf(matrix, s, target));
  const from = row.indexOf(Math.max(...row));
  moveAttention(target, from, from + by);
}

function undoAll() {
  [state.prefix, state.intervention] = [[], null];
  translate({ arriving: 30 });
}

/** Lists the changes by hand, each with a button that undoes it. */
function showSteering() {
  at("steering").hidden = !isSteered();
  if (!isSteered() || !result) return;
  const change = (text, undo) => {
    const button = html("button", { type: "button", class: "change", "aria-label": `Undo: ${text}` }, text, html("span", {}, "✕"));
    button.addEventListener("click", undo);
    return button;
  };
  const changes = [];
  const { steps } = result.trace;
  if (state.prefix.length > 0 && !(state.intervention && state.intervention.step === state.prefix.length)) {
    const last = steps[state.prefix.length - 1];
    changes.push(change(`“${last ? tokenLabel(last) : ""}” at step ${state.prefix.length}`, () => steer([])));
  }
  if (state.intervention) {
    const { step } = state.intervention;
    changes.push(change(`attention moved at step ${step + 1}`, () => {
      [state.intervention, state.prefix] = [null, state.prefix.length > step ? state.prefix : []];
      translate({ arriving: 30 });
    }));
  }
  const all = html("button", { type: "button" }, "Undo all");
  all.addEventListener("click", undoAll);
  at("steering").replaceChildren(html("span", {}, "By hand:"), ...changes, ...(changes.length > 1 ? [all] : []));
}

/** Lets a cell of a matrix be dragged to another source word. */
function listenToDrags(view) {
  let drag = null;
  const end = () => {
    drag?.ghost.remove();
    drag = null;
    view.box.classList.remove("dragging");
  };
  view.box.addEventListener("pointerdown", (event) => {
    const cell = view === views.other ? null : view.cellAt(event);
    if (!cell || event.button !== 0) return;
    const size = view.drawing.cellBox(cell);
    const ghost = svg("rect", { ...size, rx: 3, fill: palette().accent, "fill-opacity": 0.55, "pointer-events": "none" });
    view.drawing.element.append(ghost);
    drag = { ...cell, ghost, to: cell.s };
    view.box.setPointerCapture(event.pointerId);
    view.box.classList.add("dragging");
    event.preventDefault();
  });
  view.box.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { left } = view.drawing.element.getBoundingClientRect();
    const cell = view.drawing.cellAt(event.clientX - left, view.drawing.cellBox({ s: 0, t: drag.t }).y);
    if (cell) drag.to = cell.s;
    drag.ghost.setAttribute("x", view.drawing.cellBox({ s: drag.to, t: drag.t }).x);
  });
  view.box.addEventListener("pointerup", () => {
    if (!drag) return;
    const { s, t, to } = drag;
    end();
    if (s === to) chooseWord("target", t);
    else moveAttention(t, s, to);
  });
  view.box.addEventListener("pointercancel", end);
}
