// Sentences for those who have none.

const SHIPPED_EXAMPLES = [
  "Is her father buying the new bottles this week?",
  "When the boys arrive, my father will go to Canada.",
  "We are going to go to the bakery to buy our apple.",
  "The policeman was born on the fifth of March.",
  "John is selling some lambs, and you have seven of them.",
  "The story that I am talking about is useful.",
  "This photo? The lawyer will give it to him.",
];

/** The examples, of which `shown` were shown. */
const examples = { texts: SHIPPED_EXAMPLES, shown: 0 };

/** Replaces the examples by others; there may be none. */
export function useExamples(texts) {
  examples.texts = texts;
}

/** The next example, the first again after the last. */
export function nextExample() {
  examples.shown += 1;
  return examples.texts[(examples.shown - 1) % examples.texts.length] ?? "";
}
