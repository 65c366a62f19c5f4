/** A word of a person that means nothing here. The message is for them: what is possible. */
export class WordError extends Error {
  override readonly name = 'WordError';
}
