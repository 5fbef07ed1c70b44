/**
 * Preconditions of commands (beyond.md 2.1): which version of the object a command may change. They
 * are decided in apply, before everything else of the command.
 */
import { OWN, type Refusal, refusal } from '../base/errors.js';
import { keys } from './keys.js';
import { modifyIndexOf, refused } from './lists.js';
import { DEFAULT_NAMESPACE, type ObjectDefinition, type StoredObject } from './object.js';
import { OBJECTS } from './objects.js';
import type { Command, Handler, Handlers, View } from './types.js';

/** The members by which commands name their object. */
interface Naming extends Command {
  readonly ns?: string;
  readonly kind?: string;
  readonly id?: string;
  readonly accessor?: string;
  readonly name?: string;
}

/** The object of a command: its key, and what people call it. */
interface Target {
  readonly key: string;
  readonly noun: string;
  /** The same with the name of the object, which is stored as this text. */
  readonly named: (text: string) => string;
}

const DEFINITIONS: Readonly<Record<string, ObjectDefinition>> = OBJECTS;

/** Returns the object that a command changes; undefined if it changes no single one. */
function targetOf(command: Naming): Target | undefined {
  const { type, ns = DEFAULT_NAMESPACE, kind = '', name = '' } = command;
  const table = type.slice(0, type.indexOf('.'));
  if (table === 'config') {
    const named = `${kind} ${JSON.stringify(name)}`;
    return { key: keys.config(ns, kind, name), noun: 'config entry', named: () => named };
  }
  const definition = Object.hasOwn(DEFINITIONS, table) ? DEFINITIONS[table] : undefined;
  const content = (command as unknown as Record<string, StoredObject | undefined>)[table];
  const id = command.id ?? command.accessor ?? command.name ?? content?.Name;
  if (definition === undefined || id === undefined) return undefined;
  const { noun } = definition;
  const named = (text: string): string => {
    const { Name = id } = JSON.parse(text) as StoredObject;
    return `${noun} ${JSON.stringify(Name)}`;
  };
  return { key: definition.key(ns, id), noun, named };
}

/** Returns the 412 for an object that is stored as `text`, or does not exist. */
export function versionProblem(
  { noun, named }: Pick<Target, 'noun' | 'named'>,
  text: string | undefined,
): Refusal {
  const current = text === undefined ? null : modifyIndexOf(text);
  const is =
    text === undefined ? `the ${noun} does not exist` : `${named(text)} has ModifyIndex ${current}`;
  return refusal('precondition_failed', `Precondition failed: ${is}`, {
    about: { kind: 'version', current },
  });
}

/** Returns why the precondition of a command does not hold; undefined if it does. */
export function matchProblem(view: View, command: Command): Refusal | undefined {
  const { match } = command;
  if (match === undefined) return undefined;
  const target = targetOf(command);
  if (target === undefined) return refusal('invalid', `${command.type} takes no precondition`, OWN);
  const text = view.get(target.key);
  const exists = text !== undefined;
  const holds = Array.isArray(match)
    ? exists && match.includes(modifyIndexOf(text))
    : (match === 'any') === exists;
  return holds ? undefined : versionProblem(target, text);
}

/** Lets each handler decide only once the precondition of the command holds. */
export const withPreconditions = (handlers: Handlers): Handlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([type, handler]) => [type, preconditioned(handler)]),
  );

const preconditioned =
  (handler: Handler<Command>): Handler<Command> =>
  (context, command) => {
    const problem = matchProblem(context.draft, command);
    return problem === undefined ? handler(context, command) : refused(problem);
  };
