/** The `filter` parameter of the ACL lists. */
export type Filterable = 'policy' | 'role' | 'token' | 'method' | 'rule' | 'namespace';
/** Whether an object, as it is answered, is shown. */
export type Matches = (object: object) => boolean;
/** Compiles a filter for the objects of a list; throws 400. */
export type FilterOf = (table: Filterable) => Matches;

/** The compiled filter of a request. */
export const filterOf =
  (_expression: string | undefined): FilterOf =>
  () =>
  () =>
    true;
