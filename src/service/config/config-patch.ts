/** The use case that patches a config entry. */
import { reject } from '../../base/errors.js';
import { definitionOf } from '../../kinds/definitions.js';
import type { EntryId } from '../../kinds/types.js';
import { type Description, isObject } from '../../languages/fields.js';
import { keys } from '../../state/keys.js';
import type { Body } from '../../state/put-form.js';
import { patch } from '../common/patch.js';
import type { Service } from '../common/types.js';
import { applyConfig, type ConfigWrite, homeOf, mustChange } from './config-entries.js';

/** Merges a patch into an entry. Returns the entry as it is stored. Throws ApiError. */
export async function patchConfig(
  service: Service,
  write: ConfigWrite,
  { kind, name }: EntryId,
  sent: Body,
): Promise<string> {
  await mustChange(service, write, { operation: 'apply', kind, name });
  const key = keys.config(homeOf(kind, write.ns), kind, name);
  return patch(
    service,
    write,
    { table: 'config', key, noun: 'config entry', label: kind, id: name },
    {
      patch: spelledOut(definitionOf(kind).type.description, sent) as Body,
      put(conditional, body) {
        mustBeEntry({ kind, name }, body);
        return applyConfig(service, conditional, body);
      },
    },
  );
}

/** Throws ApiError if a patched entry is another one than that of the path. */
function mustBeEntry({ kind, name }: EntryId, { Kind = kind, Name = name }: Body): void {
  const isSame =
    Kind === kind && typeof Name === 'string' && Name.toLowerCase() === name.toLowerCase();
  if (isSame) return;
  const pointer = Kind === kind ? '/Name' : '/Kind';
  reject('invalid', 'Config entry Kind and Name in URL and payload do not match', { pointer });
}

/** Returns a patch with the own names of members in place of their second spellings. */
function spelledOut(of: Description, value: unknown): unknown {
  if (!isObject(value) || (of.is !== 'object' && of.is !== 'map')) return value;
  const members = Object.entries(value).map(([name, inner]): [string, unknown] => {
    if (of.is === 'map') return [name, spelledOut(of.of.description, inner)];
    const own = Object.entries(of.fields).find(
      ([known, { spellings = [known.toLowerCase()] }]) =>
        known === name || (spellings.includes(name) && !Object.hasOwn(value, known)),
    );
    if (own === undefined) return [name, inner];
    return [own[0], spelledOut(own[1].type.description, inner)];
  });
  return Object.fromEntries(members);
}
