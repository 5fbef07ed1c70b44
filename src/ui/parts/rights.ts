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

const nameOf = ({ right, on = '', ns = '' }: Need): string => [right, on, ns].join('\n');

/** Returns whether the user has each of some rights, by its name. */
async function askAll(names: readonly string[], signal: AbortSignal) {
  const known = new Map<string, boolean>();
  const parts = names.map((name) => ({ name, of: name.split('\n') }));
  for (const ns of new Set(parts.map(({ of }) => of[2]!))) {
    const within = parts.filter(({ of }) => of[2] === ns);
    for (let from = 0; from < within.length; from += ASKED) {
      const part = within.slice(from, from + ASKED);
      const asked = part.map(({ of: [right = '', Segment] }) => {
        const [Resource, Access] = right.split(':');
        return { Resource, Access, Segment };
      });
      const path = '/v1/internal/acl/authorize';
      const how = { signal, ...(ns !== '' && { ns }) };
      const answers = await question<readonly { readonly Allow: boolean }[]>(path, asked, how);
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
export const useMay = (right = '', on = ''): boolean | undefined =>
  useRights([{ right, on }])({ right, on });
