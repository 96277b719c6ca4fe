// What translates: the server, or an engine in the page.

/** The engine of the page, once it begins. */
const current = { engine: null };

/**
 * Sets the engine: an object with `models()`, which returns a description as the server's `v1/models`; `steps(body, { key, signal,
 * onStep })`, which calls `onStep` for each step and returns the result; and `addPair(pair, key)`.
 */
export function useEngine(chosen) {
  current.engine = chosen;
}

export function engine() {
  return current.engine;
}

/** Error that can be told to the user. */
export class EngineError extends Error {}

/** The message of an error of the engine; all others are defects of this page. */
export function problemOf(error) {
  if (!(error instanceof EngineError)) throw error;
  return error.message;
}

/** Translations with their steps, of which only the latest counts. */
export class StepsClient {
  constructor() {
    this.running = null;
  }

  /** Translates, and returns the result, or null if a later request replaced this one. */
  async translate(body, key, onStep) {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const { signal } = running;
    try {
      const result = await engine().steps(body, { key, signal, onStep: (step) => signal.aborted || onStep(step) });
      return signal.aborted ? null : result;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  /** Ends the translation in progress. */
  stop() {
    this.running?.abort();
  }
}
