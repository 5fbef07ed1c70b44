/** `service-splitter`: how the traffic of a service is split. */

import { quoted } from '../base/text.js';
import {
  always,
  fraction,
  ifSent,
  type Normal,
  neededList,
  nonEmpty,
  object,
  text,
} from '../languages/fields.js';
import { changesHeaders, headerChanges, metaField, metaProblems, nameProblems } from './common.js';
import { defineKind } from './definition.js';
import { destinationEditionProblems } from './destinations.js';
import { OF_SERVICE } from './permissions.js';
import { type Problem, problem } from './problems.js';

/** Returns a weight in hundredths of a percent. Weights are 32-bit floats, multiplied as such. */
const hundredths = (weight: number): number => Math.round(Math.fround(Math.fround(weight) * 100));

const split = object({
  Weight: always(
    'The share of requests, in percent. All shares must add up to 100.',
    fraction((weight) => hundredths(weight) / 100 + 0),
  ),
  Service: nonEmpty('The service. Defaults to the service of the entry.', text()),
  ServiceSubset: nonEmpty('A subset of the service.', text(), 'service_subset'),
  Namespace: nonEmpty('The namespace of the entry. A chain stays within it.', text()),
  Partition: nonEmpty('The admin partition. Only default is supported.', text()),
  RequestHeaders: ifSent('Changes to the headers of requests.', headerChanges, 'request_headers'),
  ResponseHeaders: ifSent(
    'Changes to the headers of responses.',
    headerChanges,
    'response_headers',
  ),
});
type Split = Normal<typeof split>;

export const serviceSplitter = defineKind(
  'service-splitter',
  {
    Splits: always('The parts into which requests are split.', neededList(split)),
    Meta: metaField,
  },
  {
    description: 'How the requests to a service are split.',
    permissions: OF_SERVICE,
    *forwardsTo(entry): Iterable<string | undefined> {
      for (const { Service: to } of entry.Splits ?? []) yield to;
    },
    *validate(entry, context) {
      yield* nameProblems(entry.Name);
      yield* metaProblems(entry.Meta);
      const splits = entry.Splits ?? [];
      if (splits.length === 0) yield problem('no splits configured', 'Splits');
      for (const [i, one] of splits.entries()) {
        yield* destinationEditionProblems(one, context, `Splits[${i}]`, 'Splits', i);
      }
      yield* repeats(splits, entry.Name);
      const sum = splits.reduce((total, { Weight: weight }) => total + hundredths(weight), 0);
      if (sum !== 10_000) {
        const shown = Math.fround(sum / 100).toFixed(6);
        yield problem(`the sum of all split weights must be 100, not ${shown}`, 'Splits');
      }
    },
  },
);
export type ServiceSplitter = Normal<typeof serviceSplitter.type>;

/**
 * Refuses equal destinations. Splits that change headers are never equal to another. All lie in the
 * namespace of the entry, and in the only partition.
 */
function* repeats(splits: readonly Split[], name: string): Iterable<Problem> {
  const seen = new Set<string>();
  for (const [i, one] of splits.entries()) {
    if (changesHeaders(one.RequestHeaders) || changesHeaders(one.ResponseHeaders)) continue;
    const { Service = name, ServiceSubset = '', Namespace = '', Partition = '' } = one;
    const key = JSON.stringify([Service.toLowerCase(), ServiceSubset]);
    if (seen.has(key)) {
      yield problem(
        `split destination occurs more than once: service=${quoted(Service)}, subset=${quoted(ServiceSubset)}, namespace=${quoted(Namespace)}, partition=${quoted(Partition)}`,
        'Splits',
        i,
      );
    }
    seen.add(key);
  }
}
