/**
 * The level of a cluster: which commands and tables all its members know. Members apply every entry alike, and one that
 * meets an unknown command stops; so what a release adds waits until each member runs a release that knows it.
 *
 * What a new level is needed for: a command, or a member of a command, that older releases do not know; a table; and every
 * change of what is replicated without being written in a command:
 *
 *   state/requests.ts   how many results are remembered (REQUESTS_MAX, BYTES_MAX)
 *   state/checksum.ts   how a record is summed, and which tables are not
 *   state/proposal.ts   the envelope of a command
 *   kinds/              the limits and rules that apply decides by (such as CHANGE_STEPS_MAX), and their order
 *   all handlers        the code, text, pointer and hint of a refusal, which are stored as the result of its request
 *   transport/messages  an entry, and a member of a configuration
 *
 * Keys hold names in lower case by the Unicode tables of Node; these change for rare letters alone.
 *
 * A release that changes one of these without a level makes members differ during a rolling upgrade.
 */
import { type Command, type Handler, keyOf, type View } from './types.js';

/** The highest level this release supports. */
export const SUPPORTED_LEVEL = 2;

/**
 * The level a command needs, by its type, or a member of a command, by `type/member`; 1 for those that are not named. A
 * command that can do without such a member is proposed without it below the level.
 */
export const COMMAND_LEVELS: Readonly<Record<string, number>> = {
  'acl.configure': 2,
  'token.login/identity': 2,
};

/** What a release supports; tests put another one in its place. */
export interface LevelTable {
  readonly supported: number;
  readonly commands: Readonly<Record<string, number>>;
}
export const LEVELS: LevelTable = { supported: SUPPORTED_LEVEL, commands: COMMAND_LEVELS };

/** `{"Level":n,"Index":i}`; absent at level 1. Archives neither hold nor replace it. */
export const LEVEL_KEY = keyOf('level');

/** Proposed by the leader once every member supports the level. */
export interface LevelRaise extends Command {
  readonly type: 'system.level';
  readonly level: number;
}

/** The level in force. */
export function levelOf(view: View): number {
  const text = view.get(LEVEL_KEY);
  return text === undefined ? 1 : (JSON.parse(text) as { Level: number }).Level;
}

/** The level that a command needs, with the members that it has. */
export function levelFor({ commands }: LevelTable, command: Command): number {
  let level = 1;
  for (const [name, needed] of Object.entries(commands)) {
    const [type, member] = name.split('/');
    const isMeant =
      type === command.type && (member === undefined || Object.hasOwn(command, member));
    if (isMeant) level = Math.max(level, needed);
  }
  return level;
}

/** Whether the level in force allows a command, or a member of one, as `COMMAND_LEVELS` names it. */
export const isInForce = (view: View, name: keyof typeof COMMAND_LEVELS): boolean =>
  levelOf(view) >= COMMAND_LEVELS[name]!;

/** Raises the level, never lowers it; answers whether it did. */
export const raiseLevel: Handler<LevelRaise> = ({ draft, index }, { level }) => {
  if (level <= levelOf(draft)) return { ok: true, value: 'false' };
  draft.put(LEVEL_KEY, JSON.stringify({ Level: level, Index: index }));
  return { ok: true, value: 'true' };
};
