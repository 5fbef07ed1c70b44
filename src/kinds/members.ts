/** The members of an object in a body: spellings, unknown members and suggestions for them. */
import { distance } from 'fastest-levenshtein';
import type { Report } from './problems.js';

/**
 * Returns the members of a decoded object by name. `spellings` maps every accepted spelling to its
 * name. Reports unknown members and members that are given twice.
 */
export function givenMembers(
  input: Record<string, unknown>,
  spellings: ReadonlyMap<string, string>,
  report: Report,
): Map<string, { key: string; input: unknown }> {
  const values = new Map<string, { key: string; input: unknown }>();
  for (const key of Object.keys(input)) {
    const name = spellings.get(key);
    const before = name === undefined ? undefined : values.get(name);
    if (name === undefined && isDefaultPartition(key, input[key])) continue;
    if ((name === undefined || before !== undefined) && report.full) {
      report.count += 1;
    } else if (name === undefined || before !== undefined) {
      report.within(key, () => unknownKey(key, before?.key, spellings, report));
    } else if (input[key] !== null) {
      values.set(name, { key, input: input[key] });
    }
  }
  return values;
}

/** Clients of other editions send the default partition with any object. It has no effect. */
const isDefaultPartition = (key: string, value: unknown): boolean =>
  (key === 'Partition' || key === 'partition') &&
  (value === 'default' || value === '' || value === null);

const EDITION_HINTS: readonly (readonly [RegExp, string])[] = [
  [/jwt/i, ', api-gateway jwt validation is a member of Default, Override and Filters alone'],
  [/partition$/i, ', partitions are a feature that this server does not have'],
  [
    /samenessgroup$|sameness_group$/i,
    ', sameness groups are a feature that this server does not have',
  ],
  [/namespace$/i, ', the parameter "ns" of the request chooses the namespace'],
];

function unknownKey(
  key: string,
  twin: string | undefined,
  spellings: ReadonlyMap<string, string>,
  report: Report,
): void {
  const near = twin !== undefined ? undefined : nearest(key, spellings);
  const edition = EDITION_HINTS.find(([pattern]) => pattern.test(key))?.[1];
  let why = '';
  if (twin !== undefined) why = `: the field is already given as "${twin}"`;
  else if (edition !== undefined) why = edition;
  const hint = why === '' && near !== undefined ? `did you mean "${near}"?` : undefined;
  report.add(`invalid config key ${JSON.stringify(report.place)}${why}`, hint);
}

/** Returns the known name closest to a key, if it is close enough to be what was meant. */
function nearest(key: string, spellings: ReadonlyMap<string, string>): string | undefined {
  if (key.length > 64) return undefined;
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
  const wanted = plain(key);
  let best: { name: string; steps: number } | undefined;
  for (const name of spellings.values()) {
    const steps = distance(wanted, plain(name));
    if (best === undefined || steps < best.steps) best = { name, steps };
  }
  const limit = Math.min(3, Math.floor(wanted.length / 3));
  return best !== undefined && best.steps <= limit ? best.name : undefined;
}
