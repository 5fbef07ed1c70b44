/** The state machine cannot go on without guessing: the process must stop and say why. Never a client's fault. */
export class FatalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FatalError';
  }
}
