/** The commands that ACL objects have in common: create or replace, and delete. */
import { type Refusal, refusal } from '../base/errors.js';
import { type LinkInput, linkFact, resolveLinks } from './links.js';
import { namespaceProblem, refused, stored } from './lists.js';
import {
  type CommandCheck,
  type Commands,
  type LinkField,
  type ObjectDefinition,
  type ObjectSet,
  putObject,
  removeObject,
  type StoredObject,
} from './object.js';
import type { ApplyContext, Command, Draft, Handler, View } from './types.js';

/** Deletes an object by `id`, or by `name`. */
interface ObjectDelete extends Command {
  readonly ns: string;
  readonly id?: string;
  readonly name?: string;
}

/** The right to write objects of the command's namespace. */
export const ACL_WRITE: CommandCheck = (authorizer, command) =>
  authorizer.denial('acl', 'write', undefined, (command as Command & { ns: string }).ns);

/** Returns the commands `<table>.set` and `<table>.delete` of an object. */
export const standardCommands = <T extends StoredObject>(
  definition: ObjectDefinition<T>,
): Commands => ({
  [`${definition.table}.set`]: { right: ACL_WRITE, apply: setObject(definition) },
  [`${definition.table}.delete`]: { right: ACL_WRITE, apply: deleteObject(definition) },
});

/** Creates or replaces an object. Answers it as it is stored. */
function setObject<T extends StoredObject>(definition: ObjectDefinition<T>): Handler<ObjectSet> {
  return (context, command) => {
    const { draft, index } = context;
    const { ns, id } = command;
    const sent = (command as unknown as Record<string, Readonly<Record<string, unknown>>>)[
      definition.table
    ]!;
    const before = stored<T>(draft, definition.key(ns, id ?? (sent['Name'] as string)));
    const problem =
      namespaceProblem(draft, ns) ??
      existenceProblem(draft, definition, command, before) ??
      decide(context, definition, command, before);
    if (problem !== undefined) return refused(problem);
    const content = resolved(draft, definition, ns, sent);
    if ('problem' in content) return refused(content.problem);
    const completed = definition.complete?.(content.fields, command) ?? content.fields;
    // Member by member: spreading objects of varying shape takes about three times as long.
    const object: Record<string, unknown> = {};
    if (id !== undefined) object['ID'] = id;
    for (const [name, value] of Object.entries(completed)) object[name] = value;
    object['CreateIndex'] = before?.CreateIndex ?? index;
    object['ModifyIndex'] = index;
    object['Namespace'] = ns;
    // T follows from the fields by which the content was decoded.
    return { ok: true, value: putObject(context, definition, object as unknown as T, before) };
  };
}

/** Returns why a command cannot create or replace the object with its ID; undefined if it can. */
export function existenceProblem<T extends StoredObject>(
  draft: Draft,
  definition: ObjectDefinition<T>,
  { id, create, revives }: ObjectSet,
  before: T | undefined,
): Refusal | undefined {
  const { noun, linkedAs } = definition;
  if (id === undefined) return undefined;
  if (create !== true) {
    return before === undefined ? refusal('not_found', `cannot find ${noun} ${id}`) : undefined;
  }
  // The records of what links show have only the ID, so such IDs are unique across namespaces.
  const fact = linkedAs === undefined ? undefined : linkFact(draft, linkedAs, id);
  const isLinked = revives === true ? fact?.Name !== undefined : fact !== undefined;
  const isTaken = linkedAs === undefined ? before !== undefined : isLinked;
  return isTaken
    ? refusal('conflict', `${definition.title} ID ${id} is already in use`)
    : undefined;
}

function decide<T extends StoredObject>(
  context: ApplyContext,
  definition: ObjectDefinition<T>,
  command: ObjectSet,
  before: T | undefined,
): Refusal | undefined {
  const { nameKey, table } = definition;
  if (definition.decide !== undefined) return definition.decide(context, command, before);
  if (nameKey === undefined) return undefined;
  const { Name } = (command as unknown as Record<string, { readonly Name: string }>)[table]!;
  const holder = context.draft.get(nameKey(command.ns, Name));
  if (holder === undefined || holder === command.id) return undefined;
  const why = `A ${definition.title} with Name ${JSON.stringify(Name)} already exists`;
  return refusal('conflict', why, { pointer: '/Name' });
}

/** Returns the content of a command with its links resolved, in the order of its members. */
function resolved(
  view: View,
  definition: ObjectDefinition,
  ns: string,
  sent: Readonly<Record<string, unknown>>,
): { readonly fields: Record<string, unknown> } | { readonly problem: Refusal } {
  const fields: Record<string, unknown> = {};
  for (const name in sent) {
    const field = linkFieldOf(definition, name);
    if (field === undefined) {
      fields[name] = sent[name];
      continue;
    }
    const links = resolveLinks(view, field.to, ns, sent[name] as readonly LinkInput[]);
    if ('problem' in links) return links;
    if (links.ids.length > 0) fields[name] = links.ids.map((ID) => ({ ID }));
  }
  return { fields };
}

function linkFieldOf({ linkFields }: ObjectDefinition, name: string): LinkField | undefined {
  for (const field of linkFields) {
    if (field.path.length === 1 && field.path[0] === name) return field;
  }
  return undefined;
}

/** Deletes an object. Answers `true` if there was one. */
function deleteObject<T extends StoredObject>(
  definition: ObjectDefinition<T>,
): Handler<ObjectDelete> {
  return (context, { ns, id, name }) => {
    const object = stored<T>(context.draft, definition.key(ns, id ?? name!));
    if (object === undefined) return { ok: true, value: 'false' };
    const problem = definition.keeps?.(object);
    if (problem !== undefined) return refused(problem);
    removeObject(context, definition, object);
    return { ok: true, value: 'true' };
  };
}
