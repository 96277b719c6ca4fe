// Reasons to doubt a translation.

/** Explanation of each reason. */
const REASONS = {
  confidence: "the model is less sure of it than of most translations",
  uncovered: "the gray words of the source may be left out",
  repetition: "it says something over and over",
  nonwords: "unusually many of its words may be made up",
};

/** The reasons to doubt a translation as a sentence; an empty text if there is none. */
export function doubtText({ doubts = [] }) {
  return doubts.length > 0 ? `Doubtful: ${doubts.map((doubt) => REASONS[doubt]).join("; ")}.` : "";
}

/** True for a source word that may be left out of the translation. */
export function isUncovered({ uncovered = [] }, side, index) {
  return side === "source" && uncovered.includes(index);
}
