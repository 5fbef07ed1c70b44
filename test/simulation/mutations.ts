/** Deliberate faults, each a change of the compiled text, that the simulation must find. See `scripts/mutate.ts`. */

export interface Change {
  /** Below `src/` of the build. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}
export interface Mutation {
  readonly name: string;
  readonly changes: readonly Change[];
}

export const mutations: readonly Mutation[] = [];
