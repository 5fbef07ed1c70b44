/** Members of route and split destinations that belong to other editions of the API. */
import type { Path } from './common.js';
import type { EntryContext } from './definition.js';
import { type Problem, problem } from './problems.js';

/**
 * Checks the namespace and partition of a destination. It may name the namespace of its entry and
 * the partition `default`, which have no effect. A discovery chain cannot leave its namespace.
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
