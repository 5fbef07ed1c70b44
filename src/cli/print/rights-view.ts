/** The feed of rights as lines for people. Pure. */
import { APPLICATION, unescaped } from '../../acl/application.js';
import { RESOURCES } from '../../acl/types.js';
import { nameText, prefixText } from '../../api/decided.js';
import { compare } from '../../base/text.js';

/** What is shown of a feed (docs/rights.md). */
export interface Feed {
  readonly Version: number;
  readonly Namespace: string;
  readonly Resources: Readonly<Record<string, { readonly Default: string }>>;
  readonly Layers: readonly { readonly Layer: string; readonly Sets: readonly RuleSet[] }[];
}

interface RuleSet {
  readonly Match: string;
  readonly Name: string;
  readonly Management?: string;
  readonly Scalars: Readonly<Record<string, string>>;
  readonly Named: Readonly<Record<string, { readonly Exact: Names; readonly Prefix: Names }>>;
}

type Names = Readonly<Record<string, readonly string[]>>;

/**
 * Returns the rules of a feed as lines: `ALLOW orders approve eu-*` for a key of an application,
 * `ALLOW service write web` for others. A level stands for those below it, `*` for all that begin
 * so. `in` names the namespace unless it is that of the token; `by default` are the rights that
 * its namespace gives where no rule of its own decides.
 */
export const rightLines = ({ Namespace, Layers }: Feed): readonly string[] =>
  Layers.flatMap(({ Layer, Sets }) =>
    Sets.flatMap((set) => linesOf(set, Namespace)).map((line) =>
      Layer === 'own' ? line : `${line} by default`,
    ),
  );

const matched = (isPrefix: boolean, name: string): string =>
  isPrefix ? prefixText(name) : nameText(name);

function linesOf(set: RuleSet, own: string): readonly string[] {
  const { Match, Name, Management, Scalars, Named } = set;
  const place = matched(Match === 'prefix', Name);
  const where = Match === 'exact' && Name === own ? [] : ['in', place];
  const scalars = Object.entries(Scalars).map(([resource, level]) =>
    line(level, [resource, accessOf(level), ...where]),
  );
  const named = Object.entries(Named).flatMap(([resource, { Exact, Prefix }]) =>
    [Prefix, Exact].flatMap((names) =>
      byName(names).map(([name, level]) =>
        line(level, [...wordsOf(resource, level, name, names === Prefix), ...where]),
      ),
    ),
  );
  const management =
    Management === undefined ? [] : [line(Management, ['namespace', accessOf(Management), place])];
  return [...management, ...scalars, ...named];
}

const byName = (names: Names): readonly (readonly [name: string, level: string])[] =>
  Object.entries(names)
    .flatMap(([level, all]) => all.map((name) => [name, level] as const))
    .sort(([a], [b]) => compare(a, b));

const line = (level: string, words: readonly string[]): string =>
  [level === 'deny' ? 'DENY' : 'ALLOW', ...words].join(' ');

/** A denial is one of every access. */
const accessOf = (level: string): string => (level === 'deny' ? '*' : level);

function wordsOf(
  resource: string,
  level: string,
  name: string,
  isPrefix: boolean,
): readonly string[] {
  const application = resource === 'key' ? applicationWords(name, isPrefix) : undefined;
  return application ?? [resource, accessOf(level), matched(isPrefix, name)];
}

/** Returns type, action and id of a key; undefined if it is none of an application. */
function applicationWords(key: string, isPrefix: boolean): readonly string[] | undefined {
  const [, first, second = '', id] = /^([^/]+)\/([^/]*)(?:\/(.*))?$/s.exec(key) ?? [];
  const [type, action] = [first, second].map((part) => unescaped(part ?? ''));
  if (!type || action === undefined) return undefined;
  const isKnown = (RESOURCES as readonly string[]).includes(type) || type.startsWith(APPLICATION);
  const shown = nameText(isKnown ? APPLICATION + type : type);
  if (id !== undefined) return [shown, nameText(action), matched(isPrefix, id)];
  return isPrefix ? [shown, prefixText(action), '*'] : undefined;
}
