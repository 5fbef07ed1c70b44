/** What leads a discovery chain into a fault. */
import type { ServiceResolver } from './service-resolver.js';
import type { EntryId } from './types.js';

/** An entry that leads a chain on, and the JSON pointer of the member that does. */
export interface Cause extends EntryId {
  readonly pointer: string;
}

/** Returns the cause that is one split of a splitter, or all of them. */
export const splitCause = (name: string, at?: number): Cause => ({
  kind: 'service-splitter',
  name,
  pointer: at === undefined ? '/Splits' : `/Splits/${at}`,
});

/** Returns the cause that is a member of a resolver. */
export const resolverCause = (
  { Name: name }: ServiceResolver,
  member: 'DefaultSubset' | 'Failover' | 'Redirect' | 'Subsets',
): Cause => ({ kind: 'service-resolver', name, pointer: `/${member}` });
