/** What the user may do, asked of the server. */
import { useState } from 'preact/hooks';
import { question } from '../api/client.js';
import { namespace, place } from '../router.js';
import { useStore } from '../store.js';
import { useLoad } from './load.js';

/** Questions in one request. */
const ASKED = 64;

/** A right such as `acl:write`, if need be on something of a name, or in another namespace. */
export interface Need {
  readonly right: string;
  readonly on?: string | undefined;
  readonly ns?: string | undefined;
}

const AUTHORIZE = '/v1/internal/acl/authorize';
/** Answers questions about namespaces too. */
const EXPLAIN = '/v1/acl/authorize/explain';

type Allowed = readonly { readonly Allow: boolean }[];

const nameOf = ({ right, on = '', ns = '' }: Need): string => [right, on, ns].join('\n');

/** Returns whether the user has each of some rights, by its name. */
async function askAll(names: readonly string[], signal: AbortSignal) {
  const known = new Map<string, boolean>();
  const parts = names.map((name) => ({ name, of: name.split('\n') }));
  const groupOf = ([right, , ns]: readonly string[]): string =>
    `${ns} ${right?.startsWith('namespace:')}`;
  for (const group of new Set(parts.map(({ of }) => groupOf(of)))) {
    const within = parts.filter(({ of }) => groupOf(of) === group);
    const [ns = '', isOfNamespaces] = group.split(' ');
    for (let from = 0; from < within.length; from += ASKED) {
      const part = within.slice(from, from + ASKED);
      const asked = part.map(({ of: [right = '', Segment] }) => {
        const [Resource, Access] = right.split(':');
        return { Resource, Access, Segment };
      });
      const how = { signal, ...(ns !== '' && { ns }) };
      const answers =
        isOfNamespaces === 'true'
          ? (await question<{ Results: Allowed }>(EXPLAIN, { Requests: asked }, how)).Results
          : await question<Allowed>(AUTHORIZE, asked, how);
      for (const [nth, { name }] of part.entries()) known.set(name, answers[nth]?.Allow === true);
    }
  }
  return known;
}

/** Whether the user has each of some rights: undefined until it is known. */
export function useRights(needs: readonly Need[]): (need: Need) => boolean | undefined {
  const [known, setKnown] = useState<ReadonlyMap<string, boolean>>(new Map());
  useStore(place);
  const names = [...new Set(needs.filter(({ right }) => right !== '').map(nameOf))];
  useLoad(
    async (signal) => {
      if (names.length > 0) setKnown(await askAll(names, signal));
    },
    [names.join('\n\n'), namespace()],
  );
  return (need) => known.get(nameOf(need));
}

/** Whether the user has a right, as `useRights`; undefined for none. */
export const useMay = (right = '', on?: string, ns?: string): boolean | undefined =>
  useRights([{ right, on, ns }])({ right, on, ns });
