// Errors of the engine.

/** Error to be told to the user. */
export class RequestError extends Error {}
