// State of the page, its controls, and its text in the address.

/** Sentences of the first visit. */
const EXAMPLES = [
  "Is her father buying the new bottles this week?",
  "When the boys arrive, my father will go to Canada.",
  "We are going to go to the bakery to buy our apple.",
  "The policeman was born on the fifth of March.",
  "John is selling some lambs, and you have seven of them.",
  "The story that I am talking about is useful.",
  "This photo? The lawyer will give it to him.",
];

const DEFAULTS = {
  text: "", choice: 0, compare: "", beam: 5, temperature: 0, hard: false, length_penalty: 0.8, coverage_penalty: 0.2,
  view: "links", pieces: "words", prefix: [], intervention: null, step: null,
};

/**
 * Selections of the user. `choice` is the index of a model and direction, `prefix` the ids of the tokens that the
 * translation begins with, `intervention` the step and weights of attention moved by hand, `step` the step looked into.
 */
const state = structuredClone(DEFAULTS);

/** Models and directions that can be chosen: `label`, `model`, `tag`, and `isFixed` if attention does not depend on words. */
let choices = [];
/** Last complete answer, its request, and the words before changes by hand. */
let result = null;
let baseline = null;
let other = null;
/** Words shown last, to see which are new. */
let shownWords = [];
let exampleIndex = 0;
let isExample = false;

const client = new StepsClient();
const otherClient = new StepsClient();
const views = {
  links: new AlignmentView(at("drawing"), at("readout")),
  matrix: new AlignmentView(at("matrix-drawing"), html("div")),
  other: new AlignmentView(at("other-drawing"), at("other-readout")),
};

views.links.twin = views.matrix;
views.matrix.twin = views.links;

// ---- The state in the address

let saving = 0;

/** Keys of the address for all that differs from the defaults. */
function stateText() {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) {
    const current = state[name];
    if (JSON.stringify(current) === JSON.stringify(value)) continue;
    if (name === "choice") fields.set("model", choices[current]?.label ?? "");
    else if (name === "prefix") fields.set(name, current.join(","));
    else if (name === "intervention") fields.set("attention", `${current.step}:${current.weights.join(",")}`);
    else fields.set(name, String(current));
  }
  return fields.toString();
}

function saveState() {
  clearTimeout(saving);
  saving = setTimeout(() => {
    history.replaceState(null, "", isExample ? location.pathname : `#${stateText()}`);
  }, 250);
}

/** Reads the state from the address; values that make no sense are left out. */
function loadState() {
  const fields = new URLSearchParams(location.hash.slice(1));
  Object.assign(state, structuredClone(DEFAULTS));
  for (const [name, text] of fields) {
    const number = Number(text);
    if (name === "text") state.text = text;
    else if (name === "model") state.choice = Math.max(choices.findIndex(({ label }) => label === text), 0);
    else if (name === "compare" && choices[number] && text !== "") state.compare = text;
    else if (name === "view" && ["links", "matrix", "both"].includes(text)) state.view = text;
    else if (name === "pieces" && ["words", "tokens"].includes(text)) state.pieces = text;
    else if (name === "hard") state.hard = text === "true";
    else if (name === "prefix") state.prefix = text.split(",").map(Number).filter((id) => Number.isInteger(id) && id >= 0);
    else if (name === "attention") state.intervention = interventionOf(text);
    else if (name === "step" && Number.isInteger(number) && number >= 0) state.step = number;
    else if (at(name)?.type === "range" && Number.isFinite(number)) state[name] = clamped(at(name), number);
  }
  showControls();
}

const clamped = (slider, value) => Math.min(Math.max(value, Number(slider.min)), Number(slider.max));

function interventionOf(text) {
  const [step, weights = ""] = text.split(":");
  const numbers = weights.split(",").map(Number);
  const isValid = /^\d+$/.test(step) && numbers.every((weight) => weight >= 0 && Number.isFinite(weight));
  return isValid ? { step: Number(step), weights: numbers } : null;
}

/** Sets all controls to the state. */
function showControls() {
  if (at("source").value !== state.text) at("source").value = state.text;
  fitSource();
  at("model").value = state.choice;
  showCompareOptions();
  at("hard").checked = state.hard;
  for (const name of ["view", "pieces"]) document.querySelector(`input[name=${name}][value=${state[name]}]`).checked = true;
  for (const name of SLIDERS) {
    at(name).value = state[name];
    const value = name === "temperature" ? (state.temperature === 0 ? "as trained" : temperatureOf(state.temperature)) : state[name];
    at(`${name}-value`).textContent = value;
  }
  const isDefault = SLIDERS.every((name) => state[name] === DEFAULTS[name]) && !state.hard;
  at("reset").disabled = isDefault;
  at("temperature").disabled = at("hard").disabled = choices[state.choice]?.isFixed ?? false;
  at("summary").textContent = choices[state.choice]?.about ?? "";
}

const SLIDERS = ["beam", "temperature", "length_penalty", "coverage_penalty"];

function showCompareOptions() {
  const options = choices.map((_, index) => html("option", { value: index }, otherLabel(index)));
  at("compare").replaceChildren(html("option", { value: "" }, "nothing"), ...options);
  at("compare").value = state.compare;
}

/** Grows the field with its text. */
function fitSource() {
  for (const field of [at("source"), at("corrected")]) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  }
}
