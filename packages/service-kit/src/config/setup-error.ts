/** A service cannot start for a reason that an operator can change: the message is a sentence with the solution. */
export class SetupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SetupError';
  }
}
