/**
 * The state machine cannot continue without guessing, so the process must stop and report why. No
 * client can cause it.
 */
export class FatalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FatalError';
  }
}
