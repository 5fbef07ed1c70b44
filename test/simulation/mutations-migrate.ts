/** Deliberate faults of moving in, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const RULES = 'migrate/rights/rules.js';
const HOLDERS = 'migrate/rights/holders.js';
const QUESTIONS = 'migrate/rights/questions.js';
const COMPARE = 'migrate/rights/compare.js';

const faults: readonly Mutation[] = [
  one(
    'a level of the source that merges without regard to case',
    RULES,
    'RANKS.indexOf(level) + 1',
    'RANKS.indexOf(level.toLowerCase()) + 1',
  ),
  one(
    'a block without its last brace that the source is taken to read',
    'migrate/rights/hcl.js',
    "if (this.tokens.take().type !== '}')",
    "if (!['}', 'end'].includes(this.tokens.take().type))",
  ),
  one(
    'a mended text that is not proved',
    'migrate/rights/mend.js',
    'return outcome.ok && ',
    'return outcome.ok || ',
  ),
  one(
    'identities that the source is taken to add up across holders',
    HOLDERS,
    'withoutRepeats(layer.templates.flat())',
    'layer.templates.flatMap(withoutRepeats)',
  ),
  one(
    'a policy that the source cannot read and that takes nothing away',
    HOLDERS,
    'if (!reading.ok)\n                return undefined;',
    'if (!reading.ok)\n                continue;',
  ),
  one(
    'names below prefixes that are never asked about',
    QUESTIONS,
    'segments: belowEach(asked, all) });',
    'segments: [] });',
  ),
  one(
    'a name below a prefix that another rule decides',
    QUESTIONS,
    'prefix + freshCharacter(next.get(prefix))',
    'prefix + freshCharacter(undefined)',
  ),
  one(
    'a tree of keys beside which nothing is asked',
    QUESTIONS,
    '[...all, ...belowEach(all, sorted)]',
    '[...all]',
  ),
  one(
    'namespaces below the prefix of a block that are never asked about',
    QUESTIONS,
    '[...existing, ...below]',
    '[...existing]',
  ),
  one(
    'a class whose tokens here are granted otherwise',
    COMPARE,
    '\\n${target && this.target.keyOf(target)}',
    '',
  ),
  one('a difference that is accepted without a reason', COMPARE, "&& code !== 'unexplained'", ''),
];

export const migrateMutations: readonly Mutation[] = faults.map((fault) =>
  unit(fault, 'migrate/rights/'),
);
