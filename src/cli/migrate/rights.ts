/** Compares rights at both sides: by reading rules, and by asking the servers (moving-in.md 5). */
import type { Asked } from '../../acl/reasons.js';
import type { Report, RightsDifference, Writer } from '../../api/migration-report.js';
import { grantClasses } from '../../migrate/rights/compare.js';
import type { Reader, RightsState, TokenShown } from '../../migrate/rights/types.js';
import type { Converted, MovedItem, Shown, SourceState } from '../../migrate/source/types.js';
import type { Decision, Way } from './source-connection.js';

/** What a report says of rights. */
export type RightsFound = NonNullable<Report['Rights']>;

/** What a migration finds of rights. */
export interface FoundRights {
  readonly rights: RightsFound;
  /** In a dry run. */
  readonly writers?: readonly Writer[];
}

/** Questions of one request: what a server takes. */
const QUESTIONS_MAX = 64;
/** Questions of one token: more would ask for what is known. */
const QUESTIONS_OF_TOKEN = 5000;

/** Returns what decides rights at a server. `fallback`: the default policy if it does not tell. */
export function rightsState(state: SourceState, fallback: 'allow' | 'deny'): RightsState {
  const { info, namespaces, policies, roles, tokens } = state;
  // The lists were read from an API that shows these members.
  return {
    reader: readerOf(state),
    defaultPolicy: info.DefaultPolicy ?? fallback,
    datacenter: info.Datacenter ?? '',
    ...({ namespaces, policies, roles } as unknown as Pick<
      RightsState,
      'namespaces' | 'policies' | 'roles'
    >),
    tokens: tokens.filter(({ AccessorID }) => Boolean(AccessorID)) as unknown as TokenShown[],
  };
}

/** Returns whose reading of rules a server has. */
export function readerOf({ info }: Pick<SourceState, 'info'>): Reader {
  if (info.isOurs) return 'ours';
  return info.hasNamespaces ? 'enterprise' : 'community';
}

/** Returns the target as it will be: with objects and tokens in the place of its own. */
export function overlaid(
  target: SourceState,
  { parts, tokens }: Pick<Converted, 'parts' | 'tokens'>,
): SourceState {
  const items = parts.flatMap((part) => part.items);
  const of = (type: MovedItem['Type']): Shown[] =>
    items
      .filter(({ Type }) => Type === type)
      .map(({ Namespace, Object: object }) => ({ Namespace, ...object }));
  const over = (here: readonly Shown[], there: readonly Shown[], id: string): Shown[] => {
    const replaced = new Set(there.map((one) => one[id]));
    return [...here.filter((one) => !replaced.has(one[id])), ...there];
  };
  return {
    ...target,
    policies: over(target.policies, of('policy'), 'ID'),
    roles: over(target.roles, of('role'), 'ID'),
    namespaces: over(target.namespaces, of('namespace'), 'Name'),
    tokens: over(over(target.tokens, of('token'), 'AccessorID'), tokens, 'AccessorID'),
  };
}

/** Rights that change what is moved. A right on services counts if it is one on all of them. */
const WRITES = [
  ['acl', ''],
  ['operator', ''],
  ['mesh', ''],
  ['service', '~every service'],
] as const;

/** Returns the tokens of the source that may write what is moved, in any namespace. */
export function writersIn(states: readonly [source: RightsState, target: RightsState]): Writer[] {
  const [source] = states;
  const byAccessor = new Map(source.tokens.map((token) => [token.AccessorID, token]));
  const namespaces = new Set(['default', ...source.namespaces.map(({ Name }) => Name)]);
  return [...grantClasses(...states)].flatMap(({ accessors, expected }) => {
    const Rights = WRITES.flatMap(([resource, segment]) => {
      const may = [...namespaces].some((namespace) =>
        expected({ resource, access: 'write', segment, namespace }),
      );
      return may ? [`${resource}:write`] : [];
    });
    if (Rights.length === 0) return [];
    return accessors.map((AccessorID): Writer => {
      const Description = byAccessor.get(AccessorID)?.Description ?? '';
      return { AccessorID, Description, Rights };
    });
  });
}

/** A question about a token, and the answer that reading the rules of the source gives. */
interface AskedOf {
  readonly accessor: string;
  readonly question: Asked;
  readonly expected: boolean;
}

/** Yields how an answer differs from the reading, or here from there. */
function* differing(
  { accessor, question, expected }: AskedOf,
  there: boolean,
  here = expected,
): Iterable<RightsDifference> {
  const isRead = there === expected;
  if (isRead && here === there) return;
  yield {
    ...shown(question),
    Code: isRead ? 'unexplained' : 'reading',
    Tokens: 1,
    Sample: [accessor],
    Source: { Allow: there, Rule: 'the source decides otherwise than its rules read' },
    Target: { Allow: here },
  };
}

/** Asks both servers the questions of some tokens of each grant class (moving-in.md 5.3). */
export class LiveQuestions {
  questions = 0;
  /** Why nothing is asked, if that is so. */
  note: string | undefined;
  readonly #asked = new Set<string>();
  readonly #source: Way;
  readonly #target: Way;
  readonly #secrets: ReadonlyMap<string, string>;

  /** `secrets`: those of the source, by accessor. */
  constructor(source: Way, target: Way, secrets: ReadonlyMap<string, string>) {
    this.#source = source;
    this.#target = target;
    this.#secrets = secrets;
  }

  get tokens(): number {
    return this.#asked.size;
  }

  /**
   * Asks `count` tokens of each class. `isHere`: whether the target has the token. Yields what
   * differs from the reading, and what the comparison does not know.
   */
  async *ask(
    states: readonly [source: RightsState, target: RightsState],
    count: number,
    found: RightsFound,
    isHere: (accessor: string) => boolean,
  ): AsyncIterable<RightsDifference> {
    const known = new Set(found.Differences.map(questionKey));
    const hasNamespaces = states[0].reader !== 'community';
    for (const one of count === 0 ? [] : grantClasses(...states)) {
      const some = one.accessors.filter((accessor) => this.#secrets.has(accessor)).slice(0, count);
      for (const accessor of some) {
        for (const asked of batches(one.questions())) {
          const answers = await this.#answers(accessor, asked, {
            hasNamespaces,
            isHere: isHere(accessor),
          });
          if (answers === 'silent') return;
          if (answers === 'gone') break;
          this.#asked.add(accessor);
          this.questions += asked.length;
          for (const [at, question] of asked.entries()) {
            const [there, here] = [answers[0]![at] === true, answers[1]?.[at]];
            const expected = one.expected(question);
            const isKnown = there === expected && known.has(questionKey(shown(question)));
            if (!isKnown) yield* differing({ accessor, question, expected }, there, here);
          }
        }
      }
    }
  }

  /** Returns the answers of both; of the source alone where the target has no such token. */
  async #answers(
    accessor: string,
    asked: readonly Asked[],
    { hasNamespaces, isHere }: { readonly hasNamespaces: boolean; readonly isHere: boolean },
  ): Promise<readonly (readonly boolean[])[] | 'gone' | 'silent'> {
    const secret = this.#secrets.get(accessor)!;
    const ns = asked[0]!.namespace;
    const body = asked.map(
      ({ resource, access, segment }): Decision => ({
        Resource: resource,
        Access: access,
        ...(segment !== '' && { Segment: segment }),
      }),
    );
    // Without one, the namespace of the token would count.
    const there = await this.#source.decide(secret, hasNamespaces ? ns : undefined, body);
    if (there === 'silent')
      this.note = 'the source does not answer questions of tokens: nothing was asked live';
    if (typeof there === 'string') return there;
    const here = isHere ? await this.#target.decide(secret, ns, body) : 'gone';
    return typeof here === 'string' ? [there] : [there, here];
  }
}

const shown = ({ resource, access, segment, namespace }: Asked) => ({
  Resource: resource,
  Access: access,
  Segment: segment,
  Namespace: namespace,
});

const questionKey = ({
  Resource,
  Access,
  Segment,
  Namespace,
}: Pick<RightsDifference, keyof ReturnType<typeof shown>>): string =>
  JSON.stringify([Resource, Access, Segment, Namespace]);

/** Yields the questions of a token in the lists of its requests, each about one namespace. */
function* batches(questions: Iterable<Asked>): Iterable<Asked[]> {
  let batch: Asked[] = [];
  let count = 0;
  for (const one of questions) {
    if (count === QUESTIONS_OF_TOKEN) break;
    count += 1;
    if (batch.length === QUESTIONS_MAX || (batch[0] ?? one).namespace !== one.namespace) {
      yield batch;
      batch = [];
    }
    batch.push(one);
  }
  if (batch.length > 0) yield batch;
}
