/**
 * Authorises a command on the leader before it is proposed, by the leader's applied state. Commands
 * are listed with their rights (state/objects.ts). Any other command is refused.
 */
import type { Authorizer } from '../../acl/types.js';
import { type Refusal, refusal, UNKNOWN_TOKEN } from '../../base/errors.js';
import { type Gate, INTERNAL_KEY, type PrepareGate } from '../../node/types.js';
import type { Author } from '../../state/author.js';
import type { ConfigSet } from '../../state/config.js';
import { HANDLERS } from '../../state/handlers.js';
import { type Line, placeOfLine } from '../../state/history/records.js';
import { matchProblem } from '../../state/match.js';
import type { CommandCheck, CommandRight } from '../../state/object.js';
import { ACL_COMMANDS } from '../../state/objects.js';
import { type OwnerSet, placeOf, type SetApply } from '../../state/sets.js';
import { isStampedBy, isSubject, loginAuthor } from '../../state/stamp.js';
import { type Bootstrap, bootstrapProblem } from '../../state/system.js';
import { NO_LOGIN, type TokenLogin, type TokenLogout } from '../../state/token-login.js';
import { tokenBySecret } from '../../state/tokens.js';
import type { Command, View } from '../../state/types.js';
import { deletionOf, type Undo, undoChange, undoLines, undoPlan } from '../../state/undo.js';
import type { Authorizers } from './authorizers.js';

/** Checks for other groups of commands, by the part of their type before the dot. */
export type GroupChecks = Readonly<Record<string, CommandCheck>>;

/** Returns who may send a command; undefined if the check of its group decides. */
const rightOf = (type: string): CommandRight | undefined =>
  Object.hasOwn(ACL_COMMANDS, type) ? ACL_COMMANDS[type]!.right : undefined;

/** Returns who may send a command; undefined if it is unknown. */
export function commandRight(groups: GroupChecks, type: string): CommandRight | undefined {
  if (type === 'set.apply') return setCheck(groups);
  return type === 'undo' ? undoCheck(groups) : ruleOf(groups, type);
}

/** Builds the gate over the leader's authorizers. */
export function makeGate(authorizers: Authorizers, groups: GroupChecks): Gate {
  return (view, tokenKey, command) => {
    const rule = commandRight(groups, command.type);
    const isKnown = Object.hasOwn(HANDLERS, command.type) && command.v === 1;
    if (rule === undefined || !isKnown) return unknownCommand(command);
    if (tokenKey === INTERNAL_KEY) return undefined;
    if (!isStampedBy(authorFor(authorizers, tokenKey, command), command)) return WRONG_AUTHOR;
    if (rule === 'open') return openProblem(authorizers, view, tokenKey, command);
    if (rule === 'internal') {
      return refusal('permission_denied', 'Permission denied: only the server itself may do this');
    }
    const authorizer = authorizers.of(tokenKey);
    if (authorizer === undefined) return UNKNOWN_TOKEN;
    // Apply decides, but what it would refuse need not be written into the log.
    return rule(authorizer, command, view) ?? matchProblem(view, command);
  };
}

/** Who must be the author of a command: the token of the request, or who logs in. */
function authorFor(authorizers: Authorizers, tokenKey: string | null, command: Command): Author {
  if (command.type !== 'token.login') return authorizers.authorOf(tokenKey);
  const { author, method } = command as TokenLogin;
  const sent = author?.Identity?.Subject;
  const Subject = isSubject(sent) ? sent : '';
  return loginAuthor({ AuthMethod: method.name, Namespace: method.ns, Subject });
}

const WRONG_AUTHOR = refusal(
  'permission_denied',
  'Permission denied: the author of the command is not who sent the request',
);
const ruleOf = (groups: GroupChecks, type: string): CommandRight | undefined =>
  rightOf(type) ?? groupCheck(groups, type);

/** Returns the 403 of a caller who may not make a change of a set. */
export function changeDenial(
  groups: GroupChecks,
  command: Command,
  ...[authorizer, view]: readonly [authorizer: Authorizer, view: View]
): Refusal | undefined {
  const asked = command.type === 'owner.set' ? ownedBy(command as OwnerSet) : command;
  const rule = placeOf(command) === undefined ? undefined : ruleOf(groups, asked.type);
  return typeof rule === 'function' ? rule(authorizer, asked, view) : unknownCommand(command);
}

/** Who owns an object decides who may write it: the command asks the same right. */
function ownedBy({ table, ns, id }: OwnerSet): Command {
  if (table === 'namespace') return { type: 'namespace.delete', v: 1, name: id } as Command;
  if (table !== 'config') return { type: `${table}.delete`, v: 1, ns } as Command;
  const slash = id.indexOf('/');
  const entry = { ns, kind: id.slice(0, slash), name: id.slice(slash + 1) };
  return { type: 'config.delete', v: 1, ...entry } as Command;
}

/** All changes of a set are authorised by one state. */
const setCheck =
  (groups: GroupChecks): CommandCheck =>
  (authorizer, command, view) => {
    for (const change of (command as SetApply).changes) {
      const why = changeDenial(groups, change.command, authorizer, view);
      if (why !== undefined) return why;
    }
    return undefined;
  };

/** An undo needs the right to write each object that its entry changed. */
const undoCheck =
  (groups: GroupChecks): CommandCheck =>
  (authorizer, command, view) =>
    undoDenials(groups, command as Undo, authorizer, view)[0]?.why;

/**
 * Returns the objects that a caller may not take back, with the refusals. The right to delete an
 * object is asked of all, and that to write what it was of those that go back: some contents, such
 * as the defaults of a namespace, need more.
 */
export function undoDenials(
  groups: GroupChecks,
  undo: Undo,
  ...[authorizer, view]: readonly [authorizer: Authorizer, view: View]
): readonly { readonly line: Line; readonly why: Refusal }[] {
  const { changes } = undoPlan(view, undo);
  const undone = new Map(changes.map((one) => [one.line.position, one]));
  return undoLines(view, undo.undone).flatMap((line) => {
    const one = undone.get(line.position);
    const back = one && undoChange(one, undo);
    const commands = [
      deletionOf({ place: placeOfLine(line), line }, undo),
      ...(back !== undefined && 'command' in back ? [asSpelled(back.command)] : []),
    ];
    for (const command of commands) {
      const why = changeDenial(groups, command, authorizer, view);
      if (why !== undefined) return [{ line, why }];
    }
    return [];
  });
}

/** An entry that goes back gets the name that it had, maybe in another letter case. */
function asSpelled(command: Command): Command {
  if (command.type !== 'config.set') return command;
  const { Name: name } = JSON.parse((command as ConfigSet).entry) as { readonly Name: string };
  return { ...command, name } as Command;
}

/** Prepares the gate: compiles the rights of a caller whose first request is a write. */
export function prepareGate(authorizers: Authorizers): PrepareGate {
  const prepare: PrepareGate = (tokenKey, run) => {
    const preparing = tokenKey === INTERNAL_KEY ? undefined : authorizers.prepare(tokenKey);
    if (preparing === undefined) run();
    // Rights that cannot be compiled are the gate's to report.
    else preparing.then(() => prepare(tokenKey, run), run);
  };
  return prepare;
}

/** Refuses a command of a newer member: in the log it would stop every member of this version. */
function unknownCommand({ type, v }: Command): Refusal {
  const what = `${JSON.stringify(type)} version ${v}`;
  return refusal(
    'unavailable',
    `The leader does not support the command ${what}: it is being upgraded`,
  );
}

function groupCheck(groups: GroupChecks, type: string): CommandCheck | undefined {
  const group = type.slice(0, type.indexOf('.'));
  return Object.hasOwn(groups, group) ? groups[group] : undefined;
}

/** Refuses what apply would refuse to anyone, so that it is not written into the log. */
function openProblem(
  authorizers: Authorizers,
  view: View,
  tokenKey: string | null,
  command: Command,
): Refusal | undefined {
  if (command.type === 'bootstrap')
    return bootstrapProblem(view, (command as Bootstrap).resetIndex);
  if (command.type !== 'token.logout') return undefined;
  if ((command as TokenLogout).secretKey !== tokenKey) {
    return refusal('permission_denied', 'Permission denied: a token can only log itself out');
  }
  if (authorizers.of(tokenKey) === undefined) return UNKNOWN_TOKEN;
  return tokenBySecret(view, tokenKey)?.AuthMethod === undefined ? NO_LOGIN : undefined;
}
