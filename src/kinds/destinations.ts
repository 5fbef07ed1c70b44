/** Destinations of routes and splits: what of them belongs to another edition. */
import type { Path } from './common.js';
import type { EntryContext } from './definition.js';
import { type Problem, problem } from './problems.js';

/**
 * A destination may name its own namespace and the partition `default`, which change nothing.
 * Anything else would point out of the chain, which stays within one namespace here.
 */
export function* destinationEditionProblems(
  destination: { readonly Namespace?: string; readonly Partition?: string },
  context: EntryContext,
  at: string,
  ...path: Path
): Iterable<Problem> {
  const { Namespace: namespace = context.namespace, Partition: partition = 'default' } =
    destination;
  if (namespace !== context.namespace) {
    yield problem(
      `${at} Namespace ${JSON.stringify(namespace)} cannot be used: a discovery chain stays within the namespace of its entries, here ${JSON.stringify(context.namespace)}`,
      ...path,
      'Namespace',
    );
  }
  if (partition !== 'default') {
    yield problem(
      `${at} Partition ${JSON.stringify(partition)} cannot be used: partitions are a feature that this server does not have`,
      ...path,
      'Partition',
    );
  }
}
