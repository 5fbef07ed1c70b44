/** Deliberate faults of authors, preconditions, sets, undo and history, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const withProduct = (mutation: Mutation): Mutation => ({ ...mutation, product: true });

const played: readonly Mutation[] = [
  one(
    'a set that is not compared with what there is',
    'state/sets.js',
    'const moved = command.changes.some((one) => hasMoved(draft, one));',
    'const moved = false;',
  ),
  one(
    'a set of which a part may be refused',
    'state/sets.js',
    'if (first !== undefined)\n        return refused(first);',
    '',
  ),
  one(
    'a precondition that always holds',
    'state/match.js',
    'return holds ? undefined',
    'return true ? undefined',
  ),
  one(
    'an undo that overwrites later changes',
    'state/undo.js',
    'if (newest.index !== index && !isSame(undone)) {',
    'if (false) {',
  ),
  one(
    'an undo that forgets the first object',
    'state/undo.js',
    'for (const line of lines) {',
    'for (const line of lines.slice(lines.length > 1 ? 1 : 0)) {',
  ),
  one(
    'a history that begins below its level',
    'state/history/settings.js',
    'HISTORY_LEVEL = 3;',
    'HISTORY_LEVEL = 2;',
  ),
  one(
    'commands that do not wait for their level',
    'replica/members/levels.js',
    'if (needed <= level)\n            return undefined;',
    'if (needed <= 3)\n            return undefined;',
  ),
  one(
    'a version with the content that superseded it',
    'state/history/history.js',
    'const content = before === undefined ? undefined : hiddenText(place, before);',
    'const content = before === undefined ? undefined : hiddenText(place, after ?? before);',
  ),
  one(
    'results of one entry that overwrite each other',
    'state/requests.js',
    'const more = before?.index === index ? before.page + 1 : 0;',
    'const more = 0;',
  ),
  one(
    'a line of history at the time of its node',
    'state/history/records.js',
    'return { operation, timeMs, author: author ?? null, reason };',
    'return { operation, timeMs: performance.now(), author: author ?? null, reason };',
  ),
  one(
    'a line of history without its author',
    'state/history/records.js',
    'return { operation, timeMs, author: author ?? null, reason };',
    'return { operation, timeMs, author: null, reason };',
  ),
  one(
    'a history that does not tell what it has forgotten',
    'state/history/ledger.js',
    'this.floors[what] = Math.max(this.floors[what], index);',
    '',
  ),
].map(withProduct);

const examined: readonly Mutation[] = [
  {
    name: 'a history that goes on in a state that is gone',
    suites: 'state/history/archives',
    changes: [
      {
        file: 'state/machine.js',
        find: 'this.#history = new History(this.recent, this.#index);',
        replace: '',
      },
      {
        file: 'state/machine.js',
        find: 'this.#history = new History(this.recent, entry.index);',
        replace: '',
      },
    ],
  },
  unit(
    one(
      'a version that is remembered although its line is gone',
      'state/history/newest.js',
      ' && known.index > Dropped)',
      ')',
    ),
    'state/history/bounds',
  ),
  unit(
    one(
      'a history that does not tell that it kept nothing for a while',
      'state/history/settings.js',
      'floorsOf(view)?.Resumed?.[ring] ?? 0',
      '0',
    ),
    'service/event-gaps',
  ),
  unit(
    one(
      'a version that is remembered although it never had a line',
      'state/history/history.js',
      "if (hasLines('change', bounds))",
      'if (true)',
    ),
    'state/history/history',
  ),
  unit(
    one(
      'a mark that is followed too far',
      'state/history/versions.js',
      'if (mark < from)',
      'if (mark === 0)',
    ),
    'state/history',
  ),
  unit(
    one(
      'a patch that does not compare',
      'service/common/patch.js',
      'match: [index] }, kept.body',
      'match: undefined }, kept.body',
    ),
    'http/patch',
  ),
  unit(
    one(
      'a patch of links by name alone',
      'service/common/patch.js',
      'definition ? withLinkIds(view, definition, form, stored) : form',
      'form',
    ),
    'http/patch',
  ),
  unit(
    one(
      'an author that the leader does not check',
      'service/rights/gate.js',
      'if (!isStampedBy(authorFor',
      'if (false && !isStampedBy(authorFor',
    ),
    'service/authors',
  ),
  unit(
    one(
      'a reason that is left out',
      'service/reads/node-service.js',
      'nowMs: this.#clock.wall(), reason }',
      'nowMs: this.#clock.wall() }',
    ),
    'service/authors',
  ),
  unit(
    one(
      'a login that leaves no subject',
      'state/tokens.js',
      'if (subject !== undefined)',
      'if (false)',
    ),
    'service/identity',
  ),
  unit(
    one(
      'a client that sends no If-Match',
      'cli/commands/object-commands.js',
      'index === undefined ? {} : { \'If-Match\': `"${index}"` };',
      '{};',
    ),
    'cli/http',
  ),
  unit(
    one('preconditions that need no level', 'state/levels.js', "'*/match': 3,", "'x/match': 3,"),
    'state/match',
  ),
];

export const changeMutations: readonly Mutation[] = [...played, ...examined];
