/** The commands that change config entries, and the changes that follow in the same step. */
import { OWN, type Refusal, refusal } from '../base/errors.js';
import { type Budget, CHANGE_STEPS_MAX, ReachesTooFar } from '../kinds/chain.js';
import type { Status } from '../kinds/conditions.js';
import type { Change } from '../kinds/conflicts.js';
import { affectedServices, refusalsOf, validateChange } from '../kinds/cross-entry-rules.js';
import { definitionOf } from '../kinds/definitions.js';
import { BINDING_STEPS_MAX, type Settled, settleGateways } from '../kinds/gateway-status.js';
import { targetsOf } from '../kinds/references.js';
import type { ConfigEntry, EntryId, Kind } from '../kinds/types.js';
import { allNamespaces, Entries } from './config-entries.js';
import { keys } from './keys.js';
import { levelOf } from './levels.js';
import { namespaceProblem, noteChange, noteDeletion, refused, stored } from './lists.js';
import { forgetOwnership } from './owners.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

interface ConfigCommand extends Command {
  readonly ns: string;
  readonly kind: Kind;
  readonly name: string;
  /** Compared with the entry's ModifyIndex before anything else; null for no comparison. */
  readonly cas: number | null;
  /** The time of the request, RFC 3339 text, for status conditions. */
  readonly at: string;
  readonly datacenter: string;
}

/**
 * Creates or replaces an entry. Answers `true`, or `false` when `cas` does not match; with `match`
 * the entry as it is stored.
 */
export interface ConfigSet extends ConfigCommand {
  readonly type: 'config.set';
  /** The normalised entry as JSON text, stored and answered byte by byte. */
  readonly entry: string;
}

/** Deletes an entry. Answers `{}`; with `cas` `true` or `false`. */
export interface ConfigDelete extends ConfigCommand {
  readonly type: 'config.delete';
}

const setConfig: Handler<ConfigSet> = (context, command) => {
  const { draft } = context;
  const { ns, kind, name, cas, entry: content } = command;
  const problem = namespaceProblem(draft, ns);
  if (problem !== undefined) return refused(problem);
  const text = draft.get(keys.config(ns, kind, name));
  const before = text === undefined ? undefined : (JSON.parse(text) as StoredEntry);
  if (cas !== null && cas !== (before?.ModifyIndex ?? 0)) return { ok: true, value: 'false' };
  const isAsked = command.match !== undefined;
  if (text !== undefined && holdsContent(text, content))
    return { ok: true, value: isAsked ? text : 'true' };
  const why = settled(context, command, put(context, command, before));
  if (why !== undefined) return refused(why);
  return { ok: true, value: isAsked ? draft.get(keys.config(ns, kind, name))! : 'true' };
};

/** Puts an entry into the draft, with its references. Returns the change. */
function put(
  context: ApplyContext,
  { ns, kind, name, entry: content }: ConfigSet,
  before: StoredEntry | undefined,
): Change {
  const after = JSON.parse(content) as ConfigEntry;
  const status = definitionOf(kind).hasStatus ? (before?.Status ?? NO_STATUS) : undefined;
  store(context, ns, { kind, name, content, created: before?.CreateIndex, status });
  const change = { kind, name, before, after };
  moveReferences(context, ns, change);
  return change;
}

/**
 * Puts an entry into a draft without judging it. Returns the change; undefined if there is none.
 */
export function stageEntry(context: ApplyContext, command: ConfigSet): Change | undefined {
  const text = context.draft.get(keys.config(command.ns, command.kind, command.name));
  if (text !== undefined && holdsContent(text, command.entry)) return undefined;
  return put(context, command, text === undefined ? undefined : JSON.parse(text));
}

/** Yields all reasons for which a change that is in a draft already would be refused. */
export function* refusalsOfStaged(
  { draft }: ApplyContext,
  { ns, datacenter }: Pick<ConfigCommand, 'ns' | 'datacenter'>,
  change: Change,
): Iterable<Refusal> {
  const budget = budgetOf(change);
  try {
    for (const each of reachOf(draft, change, ns)) {
      const entries = new Entries(draft, each, [change]);
      const affected = affectedServices(change, entries);
      yield* refusalsOf(change, entries, {
        datacenter,
        affected,
        budget,
        blamesWritten: () => levelOf(draft) >= BLAME_LEVEL,
      });
    }
  } catch (error) {
    if (!(error instanceof ReachesTooFar)) throw error;
    yield reachesTooFar(change, error);
  }
}

/** Stores an entry without judging it. */
export const writeEntry = (context: ApplyContext, command: ConfigSet): Change =>
  put(
    context,
    command,
    stored<StoredEntry>(context.draft, keys.config(command.ns, command.kind, command.name)),
  );

/** Removes an entry without judging that; undefined if there is none. */
export function dropEntry(context: ApplyContext, command: ConfigDelete): Change | undefined {
  const { ns, kind, name } = command;
  const before = stored<StoredEntry>(context.draft, keys.config(ns, kind, name));
  if (before === undefined) return undefined;
  remove(context, ns, { kind, name });
  moveReferences(context, ns, { kind, name, before });
  return { kind, name: before.Name, before };
}

const deleteConfig: Handler<ConfigDelete> = (context, command) => {
  const { ns, kind, name, cas } = command;
  const before = stored<StoredEntry>(context.draft, keys.config(ns, kind, name));
  if (before === undefined) return { ok: true, value: cas === null ? '{}' : 'false' };
  if (cas !== null && cas !== before.ModifyIndex) return { ok: true, value: 'false' };
  const why = settled(context, command, dropEntry(context, command)!);
  return why === undefined ? { ok: true, value: cas === null ? '{}' : 'true' } : refused(why);
};

/** Handlers by command type. */
export const configHandlers = {
  'config.set': setConfig,
  'config.delete': deleteConfig,
} as const;

type StoredEntry = ConfigEntry & {
  readonly Status?: Status;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
};
const NO_STATUS: Status = { Conditions: null };
const NO_TARGETS: ReadonlySet<string> = new Set();

/** The level from which a chain that the written entry breaks is a fault of that entry. */
const BLAME_LEVEL = 3;

/** Kinds on whose entries entries of all namespaces depend. */
export const REACHES_ALL: ReadonlySet<Kind> = new Set(['jwt-provider', 'proxy-defaults']);

/** Settles a change. Refuses one that would cause more work than a single change may. */
function settled(
  context: ApplyContext,
  command: ConfigCommand,
  change: Change,
): Refusal | undefined {
  try {
    return settle(context, command, change);
  } catch (error) {
    if (!(error instanceof ReachesTooFar)) throw error;
    return reachesTooFar(change, error);
  }
}

function reachesTooFar({ kind, name }: Change, { into }: ReachesTooFar): Refusal {
  const what = `${kind} ${JSON.stringify(name)}`;
  if (into === 'bindings') {
    return refusal(
      'invalid',
      `a change of ${what} would be felt in bindings of routes to api-gateways of more than ` +
        `${BINDING_STEPS_MAX} steps in all`,
      { hint: BIND_FEWER, ...OWN },
    );
  }
  return refusal(
    'invalid',
    `a change of ${what} would be felt in discovery chains of more than ${CHANGE_STEPS_MAX} ` +
      'steps in all',
    {
      hint: 'let fewer routers, splitters, resolvers and routes lead to it, or make it smaller',
      ...OWN,
    },
  );
}
/** What makes bindings possible again. */
export const BIND_FEWER =
  'let fewer routes lead to a gateway, or name fewer hosts, services and listeners';

/** The level from which the steps of bindings are limited. */
const BINDINGS_LEVEL = 3;

/** Returns the steps that the bindings of a namespace may take in one change. */
export const bindingsOf = (view: View): Budget => ({
  left: levelOf(view) >= BINDINGS_LEVEL ? BINDING_STEPS_MAX : Number.POSITIVE_INFINITY,
});

/** Returns the namespaces whose entries a change may affect. */
const reachOf = (view: View, { kind }: Change, ns: string): readonly string[] =>
  REACHES_ALL.has(kind) ? allNamespaces(view) : [ns];

/** Returns the work of a change. Proxy defaults apply to every service, so theirs has no limit. */
const budgetOf = ({ kind }: Change): Budget => ({
  left: kind === 'proxy-defaults' ? Number.POSITIVE_INFINITY : CHANGE_STEPS_MAX,
});

/**
 * Validates a change that is in the draft already, and updates the gateways and routes that it
 * affects. Returns a refusal if the change is invalid.
 */
function settle(
  context: ApplyContext,
  { ns, at, datacenter }: ConfigCommand,
  change: Change,
): Refusal | undefined {
  const budget = budgetOf(change);
  const blamesWritten = (): boolean => levelOf(context.draft) >= BLAME_LEVEL;
  for (const each of reachOf(context.draft, change, ns)) {
    const entries = new Entries(context.draft, each, [change]);
    const affected = affectedServices(change, entries);
    const why = validateChange(change, entries, { datacenter, affected, budget, blamesWritten });
    if (why !== undefined) return why;
    const options = { at, budget, bindings: bindingsOf(context.draft) };
    putSettled(context, each, settleGateways([{ change, affected }], entries, options));
  }
  return undefined;
}

/** Stores what was computed about the gateways and routes of a namespace. */
export function putSettled(context: ApplyContext, ns: string, { statuses, bound }: Settled): void {
  for (const { id, status } of statuses) putStatus(context, ns, id, status);
  for (const { name, entry } of bound) putBound(context, ns, name, entry);
}

/** Whether a stored entry has this content, followed by what the server adds. */
export function holdsContent(text: string, content: string): boolean {
  const body = content.slice(0, -1);
  return (
    text.startsWith(body) &&
    (text.startsWith(',"CreateIndex":', body.length) || text.startsWith(',"Status":', body.length))
  );
}

interface NewEntry extends EntryId {
  readonly content: string;
  /** The CreateIndex of the entry that it replaces. */
  readonly created: number | undefined;
  readonly status?: Status | undefined;
}

/** Writes an entry: its content, Status, indexes and Namespace, in this order. */
function store(
  context: ApplyContext,
  ns: string,
  { kind, name, content, created, status }: NewEntry,
): void {
  const { draft, index } = context;
  const shown = status === undefined ? '' : `,"Status":${JSON.stringify(status)}`;
  const indexes = `,"CreateIndex":${created ?? index},"ModifyIndex":${index}`;
  const text = `${content.slice(0, -1)}${shown}${indexes},"Namespace":${JSON.stringify(ns)}}`;
  draft.put(keys.config(ns, kind, name), text);
  noteChange(context, 'config', ns, kind);
}

function remove(context: ApplyContext, ns: string, { kind, name }: EntryId): void {
  context.draft.del(keys.config(ns, kind, name));
  forgetOwnership(context, { table: 'config', ns, id: `${kind}/${name}` });
  noteDeletion(context, 'config', ns, kind);
}

/** Updates the records that lead from a target to the entries that name it. */
function moveReferences(
  { draft }: ApplyContext,
  ns: string,
  { kind, name, before, after }: Change,
): void {
  const past = before === undefined ? NO_TARGETS : targetsOf(before);
  const present = after === undefined ? NO_TARGETS : targetsOf(after);
  for (const target of past) {
    if (!present.has(target)) draft.del(keys.configRef(ns, target, kind, name));
  }
  for (const target of present) {
    if (!past.has(target)) draft.put(keys.configRef(ns, target, kind, name), '');
  }
}

/**
 * Stores a computed Status. An unchanged Status leaves the entry and its ModifyIndex as they are.
 */
function putStatus(
  context: ApplyContext,
  ns: string,
  { kind, name }: EntryId,
  status: Status,
): void {
  const text = context.draft.get(keys.config(ns, kind, name));
  if (text === undefined) return;
  const {
    Status,
    CreateIndex,
    ModifyIndex: _index,
    Namespace: _ns,
    ...entry
  } = JSON.parse(text) as StoredEntry & { readonly Namespace: string };
  if (JSON.stringify(Status) === JSON.stringify(status)) return;
  const content = JSON.stringify(entry);
  store(context, ns, { kind, name, content, created: CreateIndex, status });
}

function putBound(
  context: ApplyContext,
  ns: string,
  name: string,
  entry: ConfigEntry | undefined,
): void {
  const kind = 'bound-api-gateway';
  const text = context.draft.get(keys.config(ns, kind, name));
  if (entry === undefined) {
    if (text !== undefined) remove(context, ns, { kind, name });
    return;
  }
  const content = JSON.stringify(entry);
  if (text !== undefined && holdsContent(text, content)) return;
  const created = text === undefined ? undefined : (JSON.parse(text) as StoredEntry).CreateIndex;
  store(context, ns, { kind, name, content, created });
}
