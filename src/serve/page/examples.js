// Sentences for those who have none.

const EXAMPLES = [
  "Is her father buying the new bottles this week?",
  "When the boys arrive, my father will go to Canada.",
  "We are going to go to the bakery to buy our apple.",
  "The policeman was born on the fifth of March.",
  "John is selling some lambs, and you have seven of them.",
  "The story that I am talking about is useful.",
  "This photo? The lawyer will give it to him.",
];

let shown = 0;

/** The next example, the first again after the last. */
export function nextExample() {
  shown += 1;
  return EXAMPLES[(shown - 1) % EXAMPLES.length];
}
