/** Use cases of config entries: apply, delete, get. Lists are in config-entry-lists.ts. */
import { denialOf as denied } from '../../acl/denial.js';
import type { Authorizer } from '../../acl/types.js';
import {
  type About,
  ApiError,
  type Refusal,
  refusal,
  refuse,
  refuseIf,
  reject,
} from '../../base/errors.js';
import { decodeInSteps, nameRefusal, unknownKind } from '../../kinds/decode.js';
import { definitionOf, isClusterWide, isKind } from '../../kinds/definitions.js';
import { intentionsNaming, providerInUse } from '../../kinds/provider-rules.js';
import { providersNamed, servicesNamed } from '../../kinds/references.js';
import type { ConfigEntry, EntryId, Kind } from '../../kinds/types.js';
import type { ConfigDelete, ConfigSet } from '../../state/config.js';
import { allNamespaces, Entries, nameIn } from '../../state/config-entries.js';
import { keys } from '../../state/keys.js';
import { deletedIndex } from '../../state/lists.js';
import type { Body } from '../../state/put-form.js';
import { type Command, keyOf, type View } from '../../state/types.js';
import { inSlices } from '../common/event-loop.js';
import { modifyIndexOf, nearestKey } from '../common/reading.js';
import type { ReadContext, ReadUseCase, Requester, Service } from '../common/types.js';
import { settled, versionRefused, type Write } from '../common/writing.js';
import { denialOf, homeOf } from './entry-rights.js';
import { type Hiding, hidingEntry, shownTo, withKnownHash, withSecrets } from './shown-entries.js';

/** A write of a config entry: the caller, the namespace, the timeout and the condition. */
export interface ConfigWrite extends Write {
  /** The ModifyIndex that the entry must have. 0: it must not exist. null: no condition. */
  readonly cas: number | null;
  /** Whether a condition that does not hold is refused with the present version. */
  readonly saysVersion?: boolean;
  readonly datacenter: string;
}

/** Returns the kind that a path names. Throws ApiError 400 for an unknown one. */
export function kindOf(text: string): Kind {
  return isKind(text) ? text : refuse(unknownKind(text));
}

/** The resources to which a caller needs some write access to apply any entry. */
const APPLIED = ['service', 'intention', 'mesh'] as const;

/**
 * Permits a caller who may apply some entry, before the body is read that says which. Throws
 * ApiError 403.
 */
export const mayApplySomething = (service: Service, requester: Requester): Promise<Authorizer> =>
  service.permit(requester, (authorizer) =>
    APPLIED.some((resource) => authorizer.anywhere(resource, 'write'))
      ? undefined
      : denied(authorizer, { resource: 'service', access: 'write', namespace: 'default' }, NONE),
  );
const NONE = {
  lack:
    "lacks permission 'service:write', lacks permission 'intention:write' and " +
    "lacks permission 'mesh:write', of which an entry needs one",
};

/**
 * Throws ApiError 403 if the caller may not apply the entry of a body (parsed JSON). It names what
 * that entry needs. A body that is no entry passes.
 */
export async function mustApply(
  service: Service,
  { caller, ns: namespace }: Pick<Write, 'caller' | 'ns'>,
  body: unknown,
): Promise<void> {
  const decoded = await inSlices(decodeInSteps(body, { namespace }), 'decode');
  if (!decoded.ok) return;
  const authorizer = await service.authorize(caller);
  refuseIf(applyDenial(authorizer, service.view, decoded.entry, namespace));
}

/** Returns the 403 for a caller who may not apply an entry. */
export const applyDenial = (
  authorizer: Authorizer,
  view: View,
  entry: ConfigEntry,
  ns: string,
): Refusal | undefined => changeDenial(authorizer, view, applying(entry, ns));

/** Returns the change that applying an entry makes. */
const applying = (entry: ConfigEntry, ns: string): Change => ({
  operation: 'apply',
  ns: homeOf(entry.Kind, ns),
  kind: entry.Kind,
  name: entry.Name,
  entry,
});

/** Returns the command that writes an entry. */
export const configSet = (
  entry: ConfigEntry,
  { ns, cas, at, datacenter }: Pick<ConfigSet, 'ns' | 'cas' | 'at' | 'datacenter'>,
): ConfigSet => ({
  type: 'config.set',
  v: 1,
  ns,
  kind: entry.Kind,
  name: entry.Name,
  entry: JSON.stringify(entry),
  cas,
  at,
  datacenter,
});

/** Returns what a write answers. Throws ApiError 412 if the client wants to know the version. */
function conditional(
  { view }: Service,
  { saysVersion, ns: given }: ConfigWrite,
  { kind, name }: EntryId,
  answer: string,
): string {
  if (answer !== 'false' || saysVersion !== true) return answer;
  const text = view.get(keys.config(homeOf(kind, given), kind, name));
  const what = `${kind} ${JSON.stringify(name)}`;
  return versionRefused(what, text === undefined ? undefined : modifyIndexOf(text));
}

/**
 * Creates or replaces an entry from a body (parsed JSON). Returns the JSON text `true`, or `false`
 * if `cas` does not hold; with `match` the entry as it is stored. Throws ApiError.
 */
export async function applyConfig(
  service: Service,
  write: ConfigWrite,
  sent: unknown,
): Promise<string> {
  const { datacenter } = write;
  const hiding = hidingEntry(sent);
  const kept = hiding === undefined ? undefined : await keptSecrets(service, write, hiding);
  const body = kept?.body ?? sent;
  const decoded = await inSlices(decodeInSteps(body, { namespace: write.ns }), 'decode');
  if (!decoded.ok) refuse(decoded.refusal);
  const { entry } = decoded;
  const change = applying(entry, write.ns);
  const { ns, kind, name } = change;
  await service.permit(write, (authorizer) => changeDenial(authorizer, service.view, change));
  const cas = write.cas ?? kept?.index ?? null;
  const command = configSet(entry, { ns, cas, at: new Date().toISOString(), datacenter });
  const answer = await proposeChange(service, write, command);
  if (answer === 'false' && write.cas === null)
    reject('conflict', `Other requests are changing ${kind} ${JSON.stringify(name)}: try again`);
  return conditional(service, write, { kind, name }, answer);
}

/**
 * Returns a body with the stored secrets in place of `<hidden>`, and the version that they are
 * from. Throws ApiError, 403 before it looks for the entry.
 */
async function keptSecrets(
  service: Service,
  write: ConfigWrite,
  hiding: Hiding,
): Promise<{ readonly body: Body; readonly index: number }> {
  const { kind, name } = hiding.id;
  await mustChange(service, write, { operation: 'apply', kind, name });
  const key = keys.config(homeOf(kind, write.ns), kind, name);
  const text = await settled(service, write, (view) => view.get(key));
  const kept = withSecrets(hiding, text);
  if ('problem' in kept) refuse(kept.problem);
  return { ...kept, index: modifyIndexOf(text!) };
}

/**
 * Deletes an entry. Returns the JSON text `{}`, or with a condition `true` or `false`. Throws
 * ApiError.
 */
export async function deleteConfig(
  service: Service,
  write: ConfigWrite,
  { kind, name }: EntryId,
): Promise<string> {
  const { cas, datacenter } = write;
  const ns = homeOf(kind, write.ns);
  await mustChange(service, write, { operation: 'delete', kind, name });
  const command: ConfigDelete = {
    type: 'config.delete',
    v: 1,
    ns,
    kind,
    name,
    cas,
    at: new Date().toISOString(),
    datacenter,
  };
  const answer = await proposeChange(service, write, command);
  return conditional(service, write, { kind, name }, answer);
}

/** Permits a change of an entry that a path names. Throws ApiError 400 and 403. */
export async function mustChange(
  service: Service,
  write: Write,
  change: Pick<Change, 'operation' | 'kind' | 'name'>,
): Promise<void> {
  const { kind, name } = change;
  refuseIf(nameRefusal(kind, name));
  const ns = homeOf(kind, write.ns);
  await service.permit(write, (authorizer) =>
    changeDenial(authorizer, service.view, { ...change, ns }),
  );
}

async function proposeChange(
  service: Service,
  write: ConfigWrite,
  command: ConfigSet | ConfigDelete,
): Promise<string> {
  try {
    return await service.write(write, command);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const authorizer = await service.authorize(write.caller);
    const told = toldTo(authorizer, service.view, command, error.refusal);
    if (told === error.refusal) throw error;
    refuse(told);
  }
}

/** Returns a refusal of a change. It names another entry only to those who may read it. */
export function toldTo(
  authorizer: Authorizer,
  view: View,
  command: ConfigSet | ConfigDelete,
  why: Refusal,
): Refusal {
  const { kind, name, type } = command;
  if (why.code === 'conflict' && kind === 'jwt-provider' && type === 'config.delete') {
    return providerInUse(name, readableIntention(view, authorizer, name));
  }
  if (!NAMING.has(why.code) || mayTell(view, authorizer, command, why.about)) return why;
  return unnamed(command, why);
}

/** Codes of refusals whose sentence may name entries that were not sent. */
const NAMING: ReadonlySet<string> = new Set(['conflict', 'invalid']);

/** Whether a caller may read what a refusal of a change names. */
function mayTell(
  view: View,
  authorizer: Authorizer,
  { kind, ns }: ConfigSet | ConfigDelete,
  about: About | undefined,
): boolean {
  if (about?.kind === 'own') return true;
  if (about?.kind !== 'conflict' || !isKind(about.entry.kind)) return false;
  const entry = { kind: about.entry.kind, name: about.entry.name };
  // An entry of the cluster can conflict with one of any namespace.
  const places = isClusterWide(kind)
    ? [...allNamespaces(view)].filter(
        (each) => view.get(keys.config(each, entry.kind, entry.name)) !== undefined,
      )
    : [ns];
  return (
    places.length > 0 &&
    places.every((each) => denialOf(authorizer, 'get', entry, each) === undefined)
  );
}

/** Returns a refusal of a change that names only what was sent. */
function unnamed({ type, kind, name }: ConfigSet | ConfigDelete, why: Refusal): Refusal {
  const change = type === 'config.delete' ? 'delete' : 'write';
  const message =
    why.about?.kind === 'conflict'
      ? why.about.unnamed
      : `cannot ${change} ${kind} ${JSON.stringify(name)} like this, other entries do not allow it`;
  const { code, pointer } = why;
  return refusal(code, message, { ...(pointer !== undefined && { pointer }) });
}

/** Returns the first intention, by namespace and name, that names a provider and may be read. */
function readableIntention(
  view: View,
  authorizer: Authorizer,
  provider: string,
): (EntryId & { readonly ns: string }) | undefined {
  for (const ns of allNamespaces(view)) {
    for (const id of intentionsNaming(provider, new Entries(view, ns))) {
      if (denialOf(authorizer, 'get', id, ns) === undefined) return { ...id, ns };
    }
  }
  return undefined;
}

/** Reads one entry as it is stored, secrets hidden from those who may not write it. Throws 403. */
export const readConfig =
  (namespace: string, { kind, name }: EntryId): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    const ns = homeOf(kind, namespace);
    refuseIf(denialOf(authorizer, 'get', { kind, name }, ns));
    const key = keys.config(ns, kind, name);
    const text = view.get(key);
    const deletedAt = (): number => deletedIndex(view, 'config', ns, kind);
    if (text === undefined) return { value: undefined, index: deletedAt(), keys: [key] };
    const stored = nameIn(text);
    const own =
      stored === name ? undefined : denialOf(authorizer, 'get', { kind, name: stored }, ns);
    if (own !== undefined) return { value: undefined, index: deletedAt(), keys: [key] };
    const value = shownTo(authorizer, kind, ns, withKnownHash)(text);
    return { value, index: modifyIndexOf(text), keys: [key] };
  };

/**
 * Returns the name closest to that of an entry that does not exist, of those that the caller may
 * read; undefined if none is close.
 */
export function nearestEntry(
  { view, authorizer }: ReadContext,
  namespace: string,
  { kind, name }: EntryId,
): string | undefined {
  const ns = homeOf(kind, namespace);
  const mayRead = (known: string): boolean =>
    denialOf(authorizer, 'get', { kind, name: known }, ns) === undefined;
  const key = nearestKey(view, keyOf('config', ns, kind, ''), name, mayRead);
  const text = key === undefined ? undefined : view.get(key);
  const spelled = text === undefined ? undefined : nameIn(text);
  return spelled !== undefined && mayRead(spelled) ? spelled : undefined;
}

/** What is to be done to an entry. An entry is applied with what it holds. */
type Change = EntryId & {
  readonly operation: 'apply' | 'delete';
  readonly ns: string;
  readonly entry?: ConfigEntry;
};

/** Authorises a command of config entries. The leader's gate calls it before the proposal. */
export function configCheck(
  authorizer: Authorizer,
  command: Command,
  view: View,
): Refusal | undefined {
  const { ns, kind, name } = command as ConfigSet | ConfigDelete;
  if (command.type === 'config.delete') {
    return changeDenial(authorizer, view, { operation: 'delete', ns, kind, name });
  }
  const change = { operation: 'apply' as const, ns, kind, name };
  const { forwards, namesProviders } = definitionOf(kind);
  if (!forwards && !namesProviders) return changeDenial(authorizer, view, change);
  const entry = JSON.parse((command as ConfigSet).entry) as ConfigEntry;
  return changeDenial(authorizer, view, { ...change, entry });
}

/**
 * Returns the 403 of a caller who may not change an entry. Entry names match in any letter
 * case but rules name services exactly, so the caller also needs the right to the stored spelling
 * of the entry that would be replaced.
 */
function changeDenial(authorizer: Authorizer, view: View, change: Change): Refusal | undefined {
  const { operation, kind, name, ns, entry } = change;
  const own = denialOf(authorizer, operation, change, ns);
  if (own !== undefined) return own;
  const text = definitionOf(kind).permissions[operation].named
    ? view.get(keys.config(ns, kind, name))
    : undefined;
  const stored = text === undefined ? name : nameIn(text);
  if (stored !== name) {
    const why = denialOf(authorizer, operation, { kind, name: { stored, sent: name } }, ns);
    if (why !== undefined) return why;
  }
  if (entry === undefined) return undefined;
  for (const service of servicesNamed(entry)) {
    const why = authorizer.denial('service', 'read', service, ns);
    if (why !== undefined) return why;
  }
  // A refusal would tell whether the provider exists.
  for (const provider of providersNamed(entry)) {
    return denialOf(authorizer, 'get', { kind: 'jwt-provider', name: provider }, 'default');
  }
  return undefined;
}
