// The steps of a translation: tokens, candidates, attention and beam.

const wordOfToken = () => result.trace.target.word_of_token;
const wordOfStep = () => (state.step === null ? null : wordOfToken()[state.step] ?? null);

/** Looks into a step, or into none. */
function chooseStep(step) {
  if (!result || result.trace.steps.length === 0) return;
  state.step = step === null ? null : Math.min(Math.max(step, 0), result.trace.steps.length - 1);
  for (const button of at("output").querySelectorAll(".target")) {
    button.classList.toggle("chosen", Number(button.dataset.index) === wordOfStep());
  }
  showInspector();
  saveState();
}

/** Looks into the first step of a word or token in a drawing. */
function chooseWord(side, index) {
  if (side !== "target" || !result) return;
  chooseStep(showsTokens() ? index : wordOfToken().indexOf(index));
  at("inspector").scrollIntoView({ block: "nearest", behavior: "smooth" });
}

/** Probability in percent, with two digits. */
function probabilityText(probability) {
  const share = 100 * probability;
  if (share < 0.01) return "<0.01 %";
  return `${share >= 10 ? Math.round(share) : share.toFixed(share >= 1 ? 1 : 2)} %`;
}

const nats = (value) => value.toFixed(2).replace("-", "\u2212");

function showInspector() {
  const trace = result?.trace;
  const steps = trace?.steps ?? [];
  at("inspector").hidden = steps.length === 0;
  if (steps.length === 0) return;
  const step = state.step === null ? null : steps[state.step];
  at("step-hint").hidden = step !== null;
  at("step").hidden = step === null;
  at("previous").disabled = step !== null && state.step === 0;
  at("next").disabled = state.step === steps.length - 1;
  at("step-name").textContent = step ? `Step ${state.step + 1}: ${tokenLabel(step)}` : "Steps";
  const measure = (name, value) => html("div", {}, html("dt", {}, name), html("dd", {}, value));
  at("measures").replaceChildren(...(step ? [
    measure("probability", probabilityText(Math.exp(step.log_probability))),
    measure("entropy", `${nats(step.entropy)} nats`), measure("of attention", `${nats(step.attention_entropy)} nats`),
  ] : []));
  showStrip(steps);
  if (step) {
    showCandidates(step);
    showWeights(step);
    showHeads(step);
  }
  showTree();
}

/** All tokens in a row. Forced ones are marked. */
function showStrip(steps) {
  const focused = at("strip").contains(document.activeElement);
  const words = wordOfToken();
  at("strip").replaceChildren(...steps.map((step, index) => {
    const chosen = index === state.step;
    const token = html("button", {
      type: "button", role: "option", class: "token", "aria-selected": chosen, "data-step": index,
      tabindex: index === (state.step ?? 0) ? 0 : -1,
    }, tokenLabel(step));
    token.classList.toggle("joined", index > 0 && words[index] !== undefined && words[index] === words[index - 1]);
    token.classList.toggle("forced", index < state.prefix.length);
    return token;
  }));
  if (focused) at("strip").querySelector("[tabindex='0']")?.focus();
}

function showCandidates(step) {
  const rows = step.candidates.map((candidate) => {
    const probability = Math.exp(candidate.log_probability);
    const isChosen = candidate.id === step.id;
    const name = html("button", {
      type: "button", class: "candidate", "data-id": candidate.id, ...(isChosen ? { "aria-current": "true" } : {}),
    }, html("bdi", {}, tokenLabel(candidate)));
    return weightRow(name, 1000 * probability, isChosen ? "chosen" : "", probabilityText(probability));
  });
  at("candidates").replaceChildren(...rows);
}

/** A slider for the weight of each source token. */
function showWeights(step) {
  const focused = document.activeElement?.closest?.("#weights input")?.dataset.index;
  const names = [...result.trace.source.tokens, END];
  const isMoved = state.intervention?.step === state.step;
  at("free").hidden = !isMoved;
  // While a slider is dragged, it must not be replaced.
  const shown = at("weights").children;
  if (focused !== undefined && shown.length === names.length) {
    step.attention.forEach((weight, index) => setWeightRow(shown[index], weight, String(index) === focused));
    return;
  }
  at("weights").replaceChildren(...names.map((name, index) => {
    const label = index < names.length - 1 ? sourceLabel(name) : "end of sentence";
    const slider = html("input", {
      type: "range", min: 0, max: 1000, step: 1, "data-index": index, "aria-label": `Attention on ${label}`,
    });
    const row = html("li", {}, html("bdi", {}, label), slider, html("span", { class: "weight" }));
    setWeightRow(row, step.attention[index], false);
    return row;
  }));
}

function setWeightRow(row, weight, keepsSlider) {
  const slider = row.querySelector("input");
  if (!keepsSlider) slider.value = Math.round(1000 * weight);
  slider.style.setProperty("--share", `${100 * weight}%`);
  row.querySelector(".weight").textContent = percent(1000 * weight);
}

/** The weights of each head as a row of cells, if there are several. */
function showHeads(step) {
  const { heads } = step;
  if (heads.length < 2) {
    at("heads").replaceChildren();
    return;
  }
  const colors = palette();
  const cell = 18;
  const columns = heads[0].length;
  const names = [...result.trace.source.tokens, END];
  const rows = heads.flatMap((weights, head) => [
    svg("text", { x: 46, y: head * cell + 13, "text-anchor": "end", "font-size": 11, fill: colors.soft }, `head ${head + 1}`),
    ...weights.map((weight, column) => svg("rect", {
      x: 52 + column * cell, y: head * cell, width: cell - 2, height: cell - 2, rx: 2, fill: colors.accent,
      "fill-opacity": Math.max(weight, 0.04).toFixed(3),
    }, svg("title", {}, `head ${head + 1}, ${sourceLabel(names[column])}: ${percent(1000 * weight)}`))),
  ]);
  const label = heads.map((weights, head) => {
    const largest = weights.indexOf(Math.max(...weights));
    return `head ${head + 1}: ${sourceLabel(names[largest])} ${percent(1000 * weights[largest])}`;
  }).join("; ");
  const size = { width: 52 + columns * cell, height: heads.length * cell };
  at("heads").replaceChildren(svg("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": label, "font-family": NUMBER_FONT,
  }, ...rows));
}

let treeTask = 0;

/** Draws the beam once there is time. */
function showTree() {
  clearTimeout(treeTask);
  treeTask = setTimeout(() => {
    if (result) at("tree").replaceChildren(drawBeam(result.trace.beam, palette()));
  });
}
