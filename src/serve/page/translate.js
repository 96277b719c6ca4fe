// Translation of the sentence as it stands, and comparison with another model.

/** Body of a request; `plain` leaves out all changes by hand. */
function requestBody(choice, plain) {
  const { model, tag, isFixed } = choices[choice];
  const body = {
    text: state.text, model, beam: state.beam, length_penalty: state.length_penalty, coverage_penalty: state.coverage_penalty,
    ...(tag ? { tag_source: tag } : {}),
    ...(state.hard && !isFixed ? { hard_attention: true } : {}),
    ...(state.temperature === 0 || isFixed ? {} : { attention_temperature: temperatureOf(state.temperature) }),
  };
  if (plain) return body;
  return {
    ...body, prefix_tokens: state.prefix,
    ...(state.intervention ? { intervention: { step: state.intervention.step, weights: [state.intervention.weights] } } : {}),
  };
}

const temperatureOf = (position) => Number((10 ** (position / 20)).toPrecision(2));
const isSteered = () => state.prefix.length > 0 || state.intervention !== null;

let drawFrame = 0;

/** Translates the sentence as it stands, shows each step, and then the result. */
async function translate({ arriving = 0 } = {}) {
  if (choices.length === 0) return;
  cancelAnimationFrame(drawFrame);
  saveState();
  if (!state.text.trim()) {
    client.stop();
    otherClient.stop();
    showNothing();
    return;
  }
  compareWithOther();
  const partial = new PartialTranslation();
  const showPartial = () => {
    const matrix = partial.matrix();
    showWords(partial.text, matrix.target, 0);
    views.links.show(matrix, drawOne(matrix, undefined, linksOf(matrix, 0), "links", views.links.box));
  };
  try {
    const found = await client.translate(requestBody(state.choice), at("key").value, (step) => {
      partial.add(step);
      cancelAnimationFrame(drawFrame);
      if (state.pieces === "words" && state.view !== "matrix") drawFrame = requestAnimationFrame(showPartial);
    });
    if (found === null) return;
    cancelAnimationFrame(drawFrame);
    showProblem("");
    showResult(found, arriving);
  } catch (error) {
    showProblem(problemOf(error));
  }
}

/** The message of an error from the server; all others are defects of this page. */
function problemOf(error) {
  if (!(error instanceof ServerError)) throw error;
  return error.message;
}

/** Translates with the other model too. */
async function compareWithOther() {
  if (state.compare === "") {
    otherClient.stop();
    other = null;
    return;
  }
  const choice = Number(state.compare);
  const body = choice === state.choice
    ? { text: state.text, model: choices[choice].model, ...(choices[choice].tag ? { tag_source: choices[choice].tag } : {}) }
    : requestBody(choice, true);
  try {
    const found = await otherClient.translate(body, at("key").value, () => {});
    if (found === null) return;
    other = found;
    if (result) showComparison();
  } catch (error) {
    other = null;
    showProblem(problemOf(error));
  }
}
