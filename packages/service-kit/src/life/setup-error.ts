/** A service cannot start and an operator can change that: the message is a sentence that says how. */
export class SetupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SetupError';
  }
}
