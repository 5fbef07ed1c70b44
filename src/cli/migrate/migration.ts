/** One migration: rounds of reading, planning and writing, and what is said of them. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Level } from '../../api/endpoints/operator.js';
import type { Problem, Report } from '../../api/migration-report.js';
import { compareRights } from '../../migrate/rights/compare.js';
import { mend } from '../../migrate/rights/mend.js';
import { isHidden } from '../../migrate/source/conversion.js';
import { convert } from '../../migrate/source/convert.js';
import { readSource } from '../../migrate/source/read.js';
import {
  type Converted,
  type ObjectType,
  type Refused,
  type Shown,
  SourceError,
  type SourceState,
} from '../../migrate/source/types.js';
import type { Call } from '../cli.js';
import { ownedObjects } from '../commands/in-parts.js';
import { refOfItem } from '../files/sets.js';
import { CliError, EXIT } from '../print/error.js';
import { counted } from '../print/text.js';
import { NewSecrets } from './new-secrets.js';
import {
  applyObjects,
  changedHere,
  goneObjects,
  isCovered,
  type Marks,
  planObjects,
  policyTexts,
  wasRead,
} from './objects.js';
import { entriesOf, planOurs, writeOurs } from './of-ours.js';
import type { MigrateOptions, Plan } from './options.js';
import { type OtherIds, otherIds } from './other-ids.js';
import { countsOf, exitOf } from './outcome.js';
import type { Progress } from './progress.js';
import {
  type FoundRights,
  LiveQuestions,
  overlaid,
  readerOf,
  rightsState,
  writersIn,
} from './rights.js';
import { isIdle, type Round } from './round.js';
import type { Way } from './source-connection.js';
import { batchesOf, deletionsOf, importBatch, ownTokens, planTokens } from './tokens.js';

/** The level that has sets and imports. */
const LEVEL = 3;
/** Rounds in which the target refuses more of what it is given. */
const REFUSALS_MAX = 20;

/** What was written. */
export interface Written {
  changed: number;
  index: number;
  entries: number;
}

export interface MigrationParts {
  readonly call: Call<MigrateOptions>;
  readonly plan: Plan;
  readonly source: Way;
  readonly target: Way;
  readonly progress: Progress;
}

export class Migration {
  /** The indexes of the entries that it has written. */
  readonly entries = new Set<number>();
  readonly #parts: MigrationParts;
  readonly #made: NewSecrets | undefined;
  #level = 0;
  #self: { readonly Datacenter: string } | undefined;
  #defaultPolicy = '';
  #marks: Marks | undefined;

  constructor(parts: MigrationParts) {
    this.#parts = parts;
    const { newSecrets } = parts.call.options;
    this.#made = newSecrets === undefined ? undefined : new NewSecrets(newSecrets);
  }

  get owner(): string {
    return this.#marks?.owner ?? '';
  }

  /** Looks at the target: its level and its datacenter. Throws CliError. */
  async meet(): Promise<void> {
    const { api, options } = this.#parts.call;
    const plain = { isPlain: true };
    this.#level = (await api.get('/v1/operator/level', plain)).json<Level>().Level;
    const self = (await api.get('/v1/agent/self', plain)).json<{
      Config: { Datacenter: string };
    }>();
    this.#self = self.Config;
    const query = { expanded: '' };
    const anonymous = await api.get(`/v1/acl/token/${ANONYMOUS_ACCESSOR}`, { query, ...plain });
    this.#defaultPolicy = anonymous.json<{ AgentACLDefaultPolicy: string }>().AgentACLDefaultPolicy;
    if (this.#level < LEVEL && options.dryRun !== true) {
      const why = `This needs level ${LEVEL}, the cluster is at level ${this.#level}`;
      throw new CliError(why, { hint: 'conclave status shows which member keeps it from rising' });
    }
  }

  /**
   * Reads the source and plans what to write. `before`: the reading of the round before; what
   * others have here is then left as it is. Throws SourceError and CliError.
   */
  async round(before?: SourceState): Promise<Round> {
    const { call, plan, source, progress } = this.#parts;
    progress.begin('reading the source', () => `${source.asked} requests`);
    const state = await readSource(source, {
      ...plan.read,
      ...source.pace,
      ...(before === undefined ? { texts: await policyTexts(call) } : { before }),
    });
    const marks = this.#marksOf(state);
    progress.begin('planning');
    const allNamespaces = plan.read.namespaces === 'all';
    const owned = await ownedObjects(call, marks.owner);
    const others = await otherIds(call, state, owned);
    const { ids } = others;
    const isOther = new Set(others.problems.map(({ Ref }) => Ref));
    const gone = goneObjects(owned, state, { allNamespaces, ids });
    const refused: Refused[] = [];
    let skipped: readonly Problem[] = [];
    for (let tries = 0; ; tries += 1) {
      const converted = this.#converted(state, { refused, ids });
      const isSkipped = new Set(skipped.map(({ Ref }) => Ref.toLowerCase()));
      const items = converted.parts
        .flatMap((part) => part.items)
        .filter((item) => !isSkipped.has(refOfItem(item).toLowerCase()));
      const doomed = gone.filter((one) => !isSkipped.has(refOfItem(one).toLowerCase()));
      const objects = await planObjects(call, marks, items, doomed);
      const known = new Set(refused.map(({ Ref }) => Ref));
      const fresh = objects.refused.filter(({ Ref }) => !known.has(Ref));
      refused.push(...fresh);
      if (fresh.length > 0 && tries < REFUSALS_MAX) continue;
      const taken = before === undefined ? [] : objects.problems;
      const changed = [...taken, ...(await changedHere(call, marks, objects.changes))];
      if (changed.length > 0) {
        skipped = [...skipped, ...changed];
        continue;
      }
      const isWanted = call.options.withSecrets === true && this.#isWanted('token');
      const tokens = isWanted ? await planTokens(call, marks, state, converted.tokens) : undefined;
      const stuck = objects.refused.map(({ Ref, Message }) => ({
        Ref,
        Code: 'invalid',
        Message,
      }));
      const problems = [
        ...skipped,
        ...others.problems,
        ...objects.problems.filter(({ Ref }) => !isOther.has(Ref)),
        ...stuck,
        ...(tokens?.problems ?? []),
      ];
      const isWhole = state.info.isOurs && plan.read.only === undefined;
      const read = { state, converted };
      const ours = isWhole ? await planOurs(call, source, marks, read) : undefined;
      const round = { state, ids, converted, objects, tokens, ours, problems };
      return { ...round, isIdle: isIdle(round) };
    }
  }

  #isWanted = (type: ObjectType): boolean => this.#parts.plan.read.only?.includes(type) ?? true;

  #marksOf({ info: { Datacenter = '' } }: SourceState): Marks {
    const { options } = this.#parts.call;
    const own = this.#self?.Datacenter ?? '';
    if (Datacenter !== own) {
      const what = `the source is datacenter "${Datacenter}", this cluster is "${own}"`;
      throw new SourceError(
        `${what}: identities and policies limited to "${Datacenter}" would grant nothing`,
      );
    }
    const owner = `migrate/${Datacenter}`;
    const reason = options.reason === undefined ? owner : `${owner}: ${options.reason}`;
    const held = { objects: new Set<string>(), lost: new Map(), tokens: new Set<string>() };
    this.#marks ??= { owner, reason, force: options.force === true, held };
    return this.#marks;
  }

  #converted(
    state: SourceState,
    {
      refused,
      ids,
      withSecrets,
    }: Pick<OtherIds, 'ids'> & { refused: readonly Refused[]; withSecrets?: boolean },
  ): Converted {
    const { call, plan } = this.#parts;
    const { options } = call;
    const reader = readerOf(state);
    const made = this.#made;
    return convert(state, {
      now: new Date(),
      withSecrets: withSecrets ?? options.withSecrets === true,
      loginTokens: plan.loginTokens,
      mend: options.mend === true,
      mendRules: (rules, namespace) => mend(rules, reader, namespace),
      oidc: this.#level >= LEVEL,
      refused,
      otherIds: ids,
      ...(made !== undefined && { newSecret: (accessor) => made.of(accessor) }),
      // Without secrets nothing is written, and what tokens would be is compared.
      ...(withSecrets === true && { newSecret: (accessor) => accessor }),
    });
  }

  /** Writes what a round has planned: what takes rights first, then what gives them. */
  async write({ objects, tokens, ours }: Round): Promise<Written> {
    const { call, progress } = this.#parts;
    const marks = this.#marks!;
    const deletions = deletionsOf(tokens?.deleted ?? []);
    const narrowed = batchesOf(tokens?.narrowed ?? []);
    const made = batchesOf([...(tokens?.created ?? []), ...(tokens?.updated ?? [])]);
    const isChange = objects.changes.filter(({ Action }) => Action !== 'unchanged').length;
    const parts = Math.ceil(isChange / 500);
    const written: Written = { changed: 0, index: 0, entries: 0 };
    const total = deletions.length + narrowed.length + parts + made.length + entriesOf(ours);
    const done = (changed: number, index: number): void => {
      written.changed += changed;
      written.index = Math.max(written.index, index);
      written.entries += 1;
      this.entries.add(index);
    };
    progress.begin('writing', () => `${written.entries} of ${total} entries`, {
      share: () => written.entries / total,
    });
    const send = async (body: Parameters<typeof importBatch>[2]): Promise<void> => {
      const answer = await importBatch(call, marks, body);
      if (answer.Index > 0) done(answer.Created + answer.Updated + answer.Deleted, answer.Index);
    };
    this.#made?.keep();
    try {
      for (const Delete of deletions) await send({ Delete });
      for (const Tokens of narrowed) await send({ Tokens });
      if (isChange > 0)
        await applyObjects(call, objects, ({ Changes, Index }) => done(Changes.length, Index));
      if (ours !== undefined) await writeOurs(call, marks, ours, (index) => done(1, index));
      for (const Tokens of made) await send({ Tokens });
    } catch (error) {
      if (!(error instanceof CliError) || written.entries === 0) throw error;
      const what = `${counted(written.entries, 'entry')} of ${total} are written`;
      const hint = 'run the same command again to go on';
      throw new CliError(`${error.message}; ${what}`, { ...error.details, hint });
    }
    progress.end();
    return written;
  }

  /** Compares the rights at both sides as planned or as written, and asks both servers. */
  async rights(round: Round, when: 'planned' | 'written'): Promise<FoundRights | undefined> {
    const { call, plan, source, target, progress } = this.#parts;
    if (!this.#isWanted('token') || !this.#isWanted('policy') || !this.#isWanted('role'))
      return undefined;
    progress.begin('comparing rights');
    const here = await readSource(target, {
      ...target.pace,
      namespaces: 'all',
      only: ['policy', 'role', 'namespace', 'token'],
    });
    const { state, ids, converted } = round;
    const isWritten = when === 'written';
    const hasTokens = isWritten && call.options.withSecrets === true;
    const refused = converted.findings.flatMap(({ Ref, Message, LeftOut }) =>
      LeftOut ? [{ Ref, Message }] : [],
    );
    const { tokens, findings } = this.#converted(state, { refused, ids, withSecrets: true });
    const parts = isWritten ? [] : converted.parts;
    const there = overlaid(here, { parts, tokens: hasTokens ? [] : tokens });
    const fallback = here.info.DefaultPolicy ?? 'deny';
    const isMeant = ({ ExpirationTime, AuthMethod }: Shown): boolean =>
      isAhead(ExpirationTime) && (plan.loginTokens || !AuthMethod);
    const living = { ...state, tokens: state.tokens.filter(isMeant) };
    const states = [rightsState(living, fallback), rightsState(there, fallback)] as const;
    const leftOut = new Set(findings.flatMap(({ LeftOut, Ref }) => (LeftOut ? [Ref] : [])));
    const found = compareRights(...states, { leftOut, accept: plan.accept });
    const secrets = new Map(
      state.tokens.flatMap(({ AccessorID, SecretID }): [string, string][] =>
        isHidden(SecretID) ? [] : [[String(AccessorID), String(SecretID)]],
      ),
    );
    const live = new LiveQuestions(source, target, secrets);
    progress.begin('asking both servers', () => `${live.questions} questions`);
    const present = new Set(here.tokens.map(({ AccessorID }) => AccessorID));
    const isHere = (accessor: string): boolean => isWritten && present.has(accessor);
    const Differences = [...found.Differences];
    for await (const one of live.ask(states, plan.asked, found, isHere)) Differences.push(one);
    progress.end();
    if (live.note !== undefined) call.print.note(live.note);
    const Asked = { Tokens: live.tokens, Questions: live.questions };
    const Equal = found.Equal && Differences.length === found.Differences.length;
    return {
      rights: { ...found, Differences, Equal, ...(plan.asked > 0 && { Asked }) },
      ...(call.options.dryRun === true && { writers: writersIn(states) }),
    };
  }

  /** Returns the Refs of what the migration has here, and this round has not compared. */
  async uncompared({ state, tokens }: Round): Promise<readonly string[]> {
    const { call, plan } = this.#parts;
    const marks = this.#marks!;
    const isAll = plan.read.namespaces === 'all';
    const owned = await ownedObjects(call, marks.owner);
    const imported = await ownTokens(call, marks);
    const isLeft = ({ Namespace: ns }: (typeof imported)[number]): boolean =>
      tokens === undefined || !wasRead(state, 'token', { ns });
    return [
      ...owned.filter((item) => !isCovered(item, state, isAll)).map((item) => refOfItem(item)),
      ...imported.filter(isLeft).map(({ AccessorID }) => `token/${AccessorID}`),
    ];
  }

  report(round: Round, found: FoundRights | undefined, index: number): Report {
    const { call } = this.#parts;
    const { state, converted, problems } = round;
    const { Version, Datacenter, DefaultPolicy, Indexes } = state.info;
    const isDry = call.options.dryRun === true;
    const report: Report = {
      Version: 1,
      Time: new Date().toISOString(),
      Source: {
        Address: call.options.from,
        ...(Version !== undefined && { Version }),
        ...(Datacenter !== undefined && { Datacenter }),
        ...(DefaultPolicy !== undefined && { DefaultPolicy }),
        Indexes,
      },
      Target: {
        Datacenter: this.#self?.Datacenter ?? '',
        DefaultPolicy: this.#defaultPolicy,
        Index: Math.max(index, round.objects.index),
        Level: this.#level,
      },
      DryRun: isDry,
      Types: countsOf(round),
      Findings: converted.findings,
      ...(problems.length > 0 && { Problems: problems }),
      ...(found?.writers !== undefined && { Writers: found.writers }),
      ...(found !== undefined && { Rights: found.rights }),
      Exit: EXIT.done,
    };
    return { ...report, Exit: exitOf(report, isDry && !round.isIdle) };
  }
}

/** Whether a token with this end has rights yet. */
const isAhead = (end: unknown): boolean => typeof end !== 'string' || Date.parse(end) > Date.now();
