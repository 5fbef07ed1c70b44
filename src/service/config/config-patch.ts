/** The use case that patches a config entry. */
import { reject } from '../../base/errors.js';
import { definitionOf } from '../../kinds/definitions.js';
import type { EntryId } from '../../kinds/types.js';
import { keys } from '../../state/keys.js';
import type { Body } from '../../state/put-form.js';
import { respelledBody } from '../common/decode.js';
import { patch } from '../common/patch.js';
import type { Service } from '../common/types.js';
import { applyConfig, type ConfigWrite, mustChange } from './config-entries.js';
import { homeOf } from './entry-rights.js';
import { missingEntry, withHash } from './shown-entries.js';

/** Merges a patch into an entry. Returns the entry as it is stored. Throws ApiError. */
export async function patchConfig(
  service: Service,
  write: ConfigWrite,
  { kind, name }: EntryId,
  sent: Body,
): Promise<string> {
  await mustChange(service, write, { operation: 'apply', kind, name });
  const key = keys.config(homeOf(kind, write.ns), kind, name);
  const text = await patch(
    service,
    write,
    {
      table: 'config',
      key,
      noun: 'config entry',
      label: kind,
      id: name,
      missing: missingEntry({ kind, name }),
    },
    {
      // merged by the own names of members
      patch: respelledBody('Request decoding failed', sent, definitionOf(kind).type, {
        anyCase: false,
        lowerCase: true,
      }) as Body,
      put(conditional, body) {
        mustBeEntry({ kind, name }, body);
        return applyConfig(service, conditional, body);
      },
    },
  );
  return withHash(kind, text);
}

/** Throws ApiError if a patched entry is another one than that of the path. */
function mustBeEntry({ kind, name }: EntryId, { Kind = kind, Name = name }: Body): void {
  const isSame =
    Kind === kind && typeof Name === 'string' && Name.toLowerCase() === name.toLowerCase();
  if (isSame) return;
  const pointer = Kind === kind ? '/Name' : '/Kind';
  reject('invalid', 'Config entry Kind and Name in URL and payload do not match', { pointer });
}
