/** Limits of finding names, each with its reason. */
export const NAME_LIMITS = {
  /** Names that are looked up in one request: a filter of GraphQL has 50 comparisons, and a person has three names. */
  ofRequestMax: 15,
  /** Different names that one finder finds: ten requests at once. A task has 50 labels and three more names. */
  foundMax: 150,
  /** Names that are read to find the nearest: a page of GraphQL. */
  readMax: 100,
  /** Candidates and nearest names in a text: a reader needs a few to choose from. */
  shownMax: 5,
} as const;
