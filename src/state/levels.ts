/**
 * The level of a cluster: which commands and tables all its members support. Members apply every
 * entry alike, and a member that meets an unknown command stops. So a new command is proposed only
 * once every member runs a release that supports it:
 *
 *     releases of three members   0.3 0.3 0.3   0.4 0.3 0.4   0.4 0.4 0.4
 *     level in force              2             2             3
 *     commands proposed           those of 2    those of 2    those of 2 and 3
 *
 * Every release that upgrades start from supports level 2. A new cluster is at level 1 until its
 * first leader has heard all members. Its log begins with entries of that time, so apply treats
 * them as release 0.3.0 does: it remembers each result in a record of its own.
 *
 * A command, or a member of a command, that older releases do not know needs a new level. So does a
 * table, and every change of what is replicated without being a member of a command:
 *
 *   state/requests.ts   how many results are remembered, and how they are stored
 *   state/checksum.ts   the checksum of a record, and which tables have none
 *   state/proposal.ts   the envelope of a command
 *   kinds/              the limits and rules by which apply decides (such as CHANGE_STEPS_MAX), and
 *                       their order
 *   all handlers        the code, text, pointer and hint of a refusal, because the result of a
 *                       request contains them; test/tables/apply-texts.json lists the texts
 *   transport/messages  an entry, and a member of a configuration
 *
 * A release that changes one of these without a new level makes the states of members differ during
 * a rolling upgrade. One exception is accepted: keys contain names in lower case by the Unicode
 * tables of Node, which change for rare letters only.
 */
import { type Command, type Handler, keyOf, type View } from './types.js';

/** The highest level that this release supports. */
export const SUPPORTED_LEVEL = 3;

/** The level from which commands carry their author, time and reason. */
const AUTHOR_LEVEL = 3;

/**
 * The level that a command needs, by its type, or that a member of a command needs, by
 * `type/member`; `configuration` is no command but the servers of the cluster. All others need
 * none; `*` is every type. Below the level, a command that works without such a member is proposed
 * without it, and any other is refused.
 */
export const COMMAND_LEVELS: Readonly<Record<string, number>> = {
  '*/author': AUTHOR_LEVEL,
  '*/time': AUTHOR_LEVEL,
  '*/reason': AUTHOR_LEVEL,
  '*/match': 3,
  'acl.configure/subjectTypes': 3,
  'configuration/publicKey': 3,
  'history.configure': 3,
  'history.trim': 3,
  'identity.reap': 3,
  'identity.revoke': 3,
  'identity.unblock': 3,
  'method.set/identityClaim': 3,
  'method.set/oidcKey': 3,
  'oidc.rotate': 3,
  'owner.release': 3,
  'restore.add/bytes': 3,
  'restore.commit/records': 3,
  undo: 3,
  'set.apply': 3,
  'token.gc': 3,
  'token.login/once': 3,
  'token.login/replaces': 3,
  'tokens.import': 3,
};

/** What a release supports. Tests replace it. */
export interface LevelTable {
  readonly supported: number;
  readonly commands: Readonly<Record<string, number>>;
}
export const LEVELS: LevelTable = { supported: SUPPORTED_LEVEL, commands: COMMAND_LEVELS };

/** `{"Level":n,"Index":i}`, absent at level 1. Archives neither contain nor replace it. */
export const LEVEL_KEY = keyOf('level');

/** Raises the level. The leader proposes it once every member supports the level. */
export interface LevelRaise extends Command {
  readonly type: 'system.level';
  readonly level: number;
}

/** The last record of a level, parsed: every write asks for it. */
let parsed = { text: '', level: 1 };

/** Returns the level in force. */
export function levelOf(view: View): number {
  const text = view.get(LEVEL_KEY);
  if (text === undefined) return 1;
  if (text !== parsed.text) parsed = { text, level: (JSON.parse(text) as { Level: number }).Level };
  return parsed.level;
}

/** Returns the index at which the cluster reached its level; undefined if that is below `level`. */
export function raisedTo(view: View, level: number): number | undefined {
  const text = view.get(LEVEL_KEY);
  if (text === undefined) return undefined;
  const { Level, Index } = JSON.parse(text) as { Level: number; Index: number };
  return Level >= level ? Index : undefined;
}

/** Whether the level in force permits that commands carry their author, time and reason. */
export const hasAuthors = (view: View): boolean => levelOf(view) >= AUTHOR_LEVEL;

/** Returns the level that a command and its members need. */
export function levelFor({ commands }: LevelTable, command: Command): number {
  let level = 1;
  const { type } = command;
  // every write asks, and nearly none needs a level
  for (const name in commands) {
    const isOfAll = name.startsWith('*/');
    if (!isOfAll && !name.startsWith(type)) continue;
    const member = name.slice(isOfAll ? 1 : type.length);
    const isMeant = member === '' || (member[0] === '/' && Object.hasOwn(command, member.slice(1)));
    if (isMeant) level = Math.max(level, commands[name]!);
  }
  return level;
}

/** Raises the level, and never lowers it. Answers whether the level rose. */
export const raiseLevel: Handler<LevelRaise> = ({ draft, index }, { level }) => {
  if (level <= levelOf(draft)) return { ok: true, value: 'false' };
  draft.put(LEVEL_KEY, JSON.stringify({ Level: level, Index: index }));
  return { ok: true, value: 'true' };
};
