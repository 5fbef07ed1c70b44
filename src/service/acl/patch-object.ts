/** The use case that patches an ACL object or a namespace. */
import type { Body } from '../../state/put-form.js';
import { decodeBody, respelledBody } from '../common/decode.js';
import { patch } from '../common/patch.js';
import { mustBeUuid } from '../common/reading.js';
import type { Service } from '../common/types.js';
import { mayWrite, type Write } from '../common/writing.js';
import type { ObjectUseCases } from './objects.js';

/**
 * Merges a patch into an object. Returns it as it is answered. The right to write a namespace is
 * checked when the request is admitted. `failure` begins the refusal of the merged body. Throws
 * ApiError.
 */
export async function patchObject<B>(
  service: Service,
  { definition, body, write: put }: ObjectUseCases<B>,
  write: Write,
  { id, sent, failure }: { readonly id: string; readonly sent: Body; readonly failure: string },
): Promise<string> {
  const { table, noun, idLabel, identity, resource } = definition;
  if (resource === 'acl') await mayWrite(service, write);
  const own = identity === 'Name' ? id : mustBeUuid(id, `${idLabel}: index error`);
  const key = definition.key(write.ns, own);
  // in the words of a PUT
  const named = identity === 'ID' ? own : JSON.stringify(own.slice(0, 200));
  const missing = `cannot find ${noun} ${named}`;
  return patch(
    service,
    write,
    { table, key, noun, label: noun, id: own, missing, definition },
    {
      // merged by the own names of members
      patch: respelledBody(failure, sent, body, { anyCase: false, lowerCase: false }) as Body,
      put(conditional, merged, stored) {
        // The path may spell a name in other letters.
        const spelled = identity === 'Name' ? stored.Name : id;
        return put(conditional, spelled, decodeBody(failure, merged, body));
      },
    },
  );
}
