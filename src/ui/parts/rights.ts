/** What the user may do, asked of the server. */
import { useState } from 'preact/hooks';
import { question } from '../api/client.js';
import { namespace, place } from '../router.js';
import { useStore } from '../store.js';
import { useLoad } from './load.js';

/**
 * Whether the user has a right such as `acl:write`, if need be on something of a name; undefined
 * until it is known, or for none.
 */
export function useMay(right: string | undefined, Segment = ''): boolean | undefined {
  const [may, setMay] = useState<boolean>();
  useStore(place);
  const ns = namespace();
  useLoad(
    async (signal) => {
      if (right === undefined) return;
      const [Resource, Access] = right.split(':');
      const asked = [{ Resource, Access, Segment }];
      const path = '/v1/internal/acl/authorize';
      const [answer] = await question<readonly { readonly Allow: boolean }[]>(path, asked, {
        signal,
      });
      setMay(answer?.Allow);
    },
    [right, Segment, ns],
  );
  return may;
}
