/** Objects of the source that are here with another ID: by their name, or as an equal rule. */
import type { SetItem } from '../../api/endpoints/sets.js';
import type { Problem } from '../../api/migration-report.js';
import { MANAGEMENT_POLICY, refOf } from '../../migrate/source/conversion.js';
import type { Shown, SourceState } from '../../migrate/source/types.js';
import type { Call } from '../cli.js';

/** The IDs here by those of the source, and what is said of them. */
export interface OtherIds {
  readonly ids: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

/**
 * Finds these objects. They and links to them are compared by the ID here. A policy or role that is
 * not `owned` is a problem; an owned one was created anew at the source.
 */
export async function otherIds(
  { api }: Call<object>,
  source: SourceState,
  owned: readonly SetItem[],
): Promise<OtherIds> {
  const own = new Set(owned.map(({ Object: one }) => idOf(one)));
  const ids = new Map<string, string>();
  const problems: Problem[] = [];
  const lists = [
    ['policy', 'acl/policies', source.policies, nameKey],
    ['role', 'acl/roles', source.roles, nameKey],
    ['binding-rule', 'acl/binding-rules', source.bindingRules, ruleKey],
  ] as const;
  for (const [type, path, there, keyOf] of lists) {
    if (there.length === 0) continue;
    const query = { ns: '*' };
    const plain = { query, isCurrent: true, isPlain: true };
    const here = (await api.get(`/v1/${path}`, plain)).json<Shown[]>();
    const known = new Set(here.map(idOf));
    const wanted = new Set(there.map(idOf));
    const free = new Map(
      here.flatMap((one) => (wanted.has(idOf(one)) ? [] : [[keyOf(one), idOf(one)] as const])),
    );
    for (const one of there.filter((each) => !isMadeHere(each))) {
      const other = free.get(keyOf(one));
      if (other === undefined || known.has(idOf(one))) continue;
      free.delete(keyOf(one));
      ids.set(idOf(one), other);
      if (type === 'binding-rule' || own.has(other)) continue;
      const Message = 'an object of this name is here with another ID';
      problems.push({ Ref: refOf(type, one), Code: 'conflict', Message });
    }
  }
  return { ids, problems };
}

/** Each namespace has its own of this policy. */
const isMadeHere = ({ Name, Namespace }: Shown): boolean =>
  Name === MANAGEMENT_POLICY && Namespace !== 'default';

const idOf = (one: Shown): string => String(one['ID']).toLowerCase();

const nameKey = ({ Namespace, Name }: Shown): string =>
  JSON.stringify([Namespace, String(Name).toLowerCase()]);

function ruleKey(one: Shown): string {
  const { name, Name = name } = (one['BindVars'] ?? {}) as { name?: string; Name?: string };
  const [method, ...texts] = ['AuthMethod', 'Selector', 'BindType', 'BindName', 'Description'].map(
    (member) => one[member] ?? '',
  );
  return JSON.stringify([one['Namespace'], String(method).toLowerCase(), ...texts, Name ?? '']);
}
