/** An invariant does not hold. */
export class Violation extends Error {
  readonly invariant: string;
  constructor(invariant: string, what: string) {
    super(`${invariant}: ${what}`);
    this.name = 'Violation';
    this.invariant = invariant;
  }
}
