/**
 * The audit log of a node (beyond.md 5). Every answer passes here before it is sent: who asked for
 * what, by which rule, and what changed. Records go to the sinks, and the newest stay in memory.
 */

import type { Authorizer } from '../acl/types.js';
import type { AuditSink } from '../api/endpoints/operator.js';
import { ApiError, type Refusal } from '../base/errors.js';
import type { AuditedAnswer, Auditor } from '../http/audited.js';
import type { Method, Route } from '../http/routes/types.js';
import type { AuditView } from '../service/cluster/cluster.js';
import type { Caller, Notes } from '../service/common/types.js';
import type { Authorizers } from '../service/rights/authorizers.js';
import { commandRight, type GroupChecks } from '../service/rights/gate.js';
import type { Author } from '../state/author.js';
import type { RecentLines } from '../state/history/recent.js';
import type { TokenLogin } from '../state/token-login.js';
import { type Token, tokenBySecret } from '../state/tokens.js';
import type { Command, View } from '../state/types.js';
import { type Granted, GrantedRules, type Recorder } from './granted.js';
import {
  type Facts,
  factsOf,
  identityShown,
  membersOf,
  NOBODY,
  recoveredFacts,
  type Shows,
  systemFacts,
  UNKNOWN,
  type Who,
  weightOf,
} from './record.js';
import type { SinkSettings } from './settings.js';
import { type Out, type Pending, Sink, type SinkLog, unaudited } from './sink.js';

export interface AuditParts {
  readonly sinks: readonly SinkSettings[];
  /** The key of the chain of a sink, if it has one. */
  readonly keyOf: (sink: SinkSettings) => Uint8Array | undefined;
  readonly nodeName: string;
  readonly view: View;
  readonly recent: RecentLines;
  readonly authorizers: Pick<
    Authorizers,
    'cached' | 'of' | 'prepare' | 'authorOf' | 'knows' | 'origins' | 'namespaceOf'
  >;
  /** The checks of the gate. */
  readonly groups: GroupChecks;
  readonly nowMs: () => number;
  readonly requestMs: number;
  readonly log: SinkLog;
  /** Called when a required sink begins to fail, and again while it does. */
  readonly onFailing: () => void;
  /** Where records go instead of files, for tests. */
  readonly outOf?: (sink: SinkSettings) => Out | undefined;
}

/** Records in memory, and their bytes. */
const TAIL_MAX = 1000;
const TAIL_BYTES = 4 * 2 ** 20;

/** Paths of decisions, which are in no scope but `all`. */
const DECISIONS = ['/v1/internal/acl/authorize'];
const OWN_TOKEN = '/v1/acl/token/self';
/** Reads that may show secrets, beside the routes that say so. */
const SHOWING = new Set([OWN_TOKEN, '/v1/acl/tokens']);
/** Config entries that have private keys: those of one kind, and the list of all kinds. */
const WITH_KEYS = /^\/v1\/config\/(?:inline-certificate(?:[/?]|$)|\?|$)/;
/** What no scope has. */
const NEVER = '/v1/agent/metrics';

/** Audits the requests of one node. */
export class Audit implements Auditor, AuditView {
  readonly #parts: AuditParts;
  readonly #sinks: readonly Sink[];
  readonly #all: boolean;
  readonly #rules: GrantedRules;
  readonly #tail: Facts[] = [];
  #tailBytes = 0;
  readonly #who = new WeakMap<Author, Who>();

  constructor(parts: AuditParts) {
    this.#parts = parts;
    this.#rules = new GrantedRules(parts);
    this.#sinks = parts.sinks.map((settings) => {
      const out = parts.outOf?.(settings);
      return new Sink({
        settings,
        key: parts.keyOf(settings),
        nowMs: parts.nowMs,
        requestMs: parts.requestMs,
        log: parts.log,
        onFailing: parts.onFailing,
        recovered: (lostBytes) => this.#pending(recoveredFacts(lostBytes, parts.nowMs())),
        ...(out && { out }),
      });
    });
    this.#all = parts.sinks.some(({ scope }) => scope === 'all');
  }

  /** Opens the sinks. Throws Error if one cannot be used. */
  async open(): Promise<void> {
    for (const sink of this.#sinks) {
      try {
        await sink.open();
      } catch (error) {
        throw new Error(`audit.sinks.${sink.settings.name}: ${(error as Error).message}`);
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#sinks.map((sink) => sink.close()));
  }

  sinks(): readonly AuditSink[] {
    return this.#sinks.map((sink) => sink.status());
  }

  /** Why the node is not ready; undefined if all required records can be written. */
  get problem(): string | undefined {
    const failing = this.#sinks.find((sink) => sink.mustRefuse);
    return failing && `the audit sink "${failing.settings.name}" cannot be written`;
  }

  begin(route: Route, method: Method, caller: Caller, url: string): Notes | undefined {
    const isWrite = writes(route, method);
    const isShowing = !isWrite && mayShowSecrets(route, url);
    if (!isWrite && !this.#all && !isShowing) return undefined;
    if (isNever(route)) return undefined;
    const failing = this.#sinks.find(
      (sink) => sink.mustRefuse && (isWrite || route.isSecret || sink.settings.scope === 'all'),
    );
    if (failing !== undefined) throw new ApiError(unaudited(false));
    const who = (): Who => this.#whoOf(caller.tokenKey);
    return new RequestNotes(this.#parts, this.#rules, who, caller, isShowing);
  }

  answered(answer: AuditedAnswer): Promise<Refusal | undefined> | undefined {
    const { route, caller, status } = answer;
    if (route !== undefined && isNever(route)) return undefined;
    const isWritten = this.#isInWrites(answer);
    if (!isWritten && !this.#all) return undefined;
    const notes = answer.notes instanceof RequestNotes ? answer.notes : undefined;
    const noted = {
      auth: notes?.auth ?? (caller === undefined ? NOBODY : this.#whoOf(caller.tokenKey)),
      index: notes?.index ?? 0,
      granted: status < 400 ? notes?.granted : undefined,
      login: notes?.login,
      reason: notes?.reason ?? answer.reason,
    };
    const facts = factsOf(answer, noted, this.#parts.nowMs());
    // what is refused for good did not happen
    const isOpen = (status < 400 || status >= 500) && notes?.isProposed === true;
    const { granted } = facts;
    const looking = granted && this.#rules.look(granted);
    if (looking === undefined) return this.#note(facts, isWritten, isOpen);
    return looking.then(() => this.#note(facts, isWritten, isOpen));
  }

  /** Records what the server did itself. */
  system(operation: string, index: number): void {
    const facts = systemFacts(operation, index, this.#parts.nowMs());
    void this.#note(facts, true, false);
  }

  /** Returns the newest records before one, the newest first, as JSON texts. */
  tail(
    limit: number,
    before?: string,
  ): { readonly records: readonly string[]; readonly more: boolean } | undefined {
    const at =
      before === undefined ? this.#tail.length : this.#tail.findIndex(({ id }) => id === before);
    if (at < 0) return undefined;
    const from = Math.max(0, at - limit);
    const chosen = this.#tail.slice(from, at).reverse();
    const shows = { diff: true, granted: true };
    const records = chosen.map((facts) => `{${membersOf(this.#parts, facts, shows)}}`);
    return { records, more: from > 0 };
  }

  #isInWrites(answer: AuditedAnswer): boolean {
    const { incoming, route, status } = answer;
    if (status === 401 || status === 403) return true;
    const { method = '' } = incoming;
    if (route === undefined) return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
    if (writes(route, method as Method)) return true;
    const { url = '' } = incoming;
    return mayShowSecrets(route, url) && status < 300 && this.#showsSecrets(answer);
  }

  /** Whether a read that may show secrets shows them to its caller in clear text. */
  #showsSecrets({ route, caller }: AuditedAnswer): boolean {
    const { path } = route!;
    if (!path.startsWith('/v1/acl/') || path === OWN_TOKEN) return true;
    const tokenKey = caller?.tokenKey ?? null;
    return this.#parts.authorizers.cached(tokenKey)?.anywhere('acl', 'write') !== false;
  }

  #note(
    facts: Facts,
    isWritten: boolean,
    isProposed: boolean,
  ): Promise<Refusal | undefined> | undefined {
    if (isWritten) this.#keep(facts);
    const record = this.#pending(facts);
    const waits: Promise<boolean>[] = [];
    for (const sink of this.#sinks) {
      if (!isWritten && sink.settings.scope !== 'all') continue;
      const written = sink.note(record);
      if (written !== undefined) waits.push(written);
    }
    if (waits.length === 0) return undefined;
    return Promise.all(waits).then((all) =>
      all.every((isDone) => isDone) ? undefined : unaudited(isProposed),
    );
  }

  /** A record whose text is made once for all sinks that show the same of it. */
  #pending(facts: Facts): Pending {
    const texts: Record<string, string> = {};
    return {
      bytes: weightOf(facts),
      members: (shows: Shows) =>
        (texts[`${shows.diff}${shows.granted}`] ??= this.#text(facts, shows)),
    };
  }

  #text(facts: Facts, shows: Shows): string {
    try {
      return membersOf(this.#parts, facts, shows);
    } catch (error) {
      const told = bare(facts, error as Error);
      return membersOf(this.#parts, told, { diff: false, granted: false });
    }
  }

  #keep(facts: Facts): void {
    this.#tail.push(facts);
    this.#tailBytes += weightOf(facts);
    while (this.#tail.length > TAIL_MAX || this.#tailBytes > TAIL_BYTES)
      this.#tailBytes -= weightOf(this.#tail.shift()!);
  }

  #whoOf(tokenKey: string | null): Who {
    const { authorizers, view } = this.#parts;
    if (tokenKey !== null && !authorizers.knows(tokenKey)) return UNKNOWN;
    const author = authorizers.authorOf(tokenKey);
    let who = this.#who.get(author);
    if (who === undefined) {
      who = whoOf(author, tokenKey === null ? undefined : tokenBySecret(view, tokenKey));
      this.#who.set(author, who);
    }
    return who;
  }
}

function whoOf({ AccessorID, Description, Identity }: Author, token: Token | undefined): Who {
  return {
    accessor_id: AccessorID,
    description: Description,
    ...(token && { create_time: token.CreateTime }),
    ...(token?.AuthMethod !== undefined && { auth_method: token.AuthMethod }),
    ...(Identity && { identity: identityShown(Identity) }),
  };
}

/** A record that could not be made tells so: none is left out. */
const bare = (facts: Facts, error: Error): Facts => ({
  ...facts,
  index: 0,
  granted: undefined,
  reason: facts.reason || `this record is incomplete: ${error.message}`,
});

const writes = ({ counts, path }: Route, method: string): boolean =>
  method !== 'GET' && method !== 'HEAD' && counts !== 'read' && !DECISIONS.includes(path);
const mayShowSecrets = ({ isSecret, path }: Route, url: string): boolean =>
  isSecret === true || SHOWING.has(path) || WITH_KEYS.test(url);
const isNever = ({ counts, path }: Route): boolean => counts === 'probe' || path === NEVER;

/** Commands whose rights the gate alone checks whole. */
const OTHERWISE = new Set(['set.apply', 'undo', 'namespace.set', 'tokens.import']);

/** What is noted of a request while it runs. */
class RequestNotes implements Notes {
  readonly #parts: AuditParts;
  readonly #rules: GrantedRules;
  readonly #who: () => Who;
  readonly #caller: Caller;
  readonly #isShowing: boolean;
  /** Who asks, as known before the request ended: it may have deleted its own token. */
  auth: Who | undefined;
  /** What the last check of rights asked. */
  #checked: Recorder | undefined;
  /** What the last evaluation of a read asked. */
  #asked: Recorder | undefined;
  #granted: Granted | undefined;
  login: TokenLogin | undefined;
  /** What the body says why. */
  reason: string | undefined;
  index = 0;
  isProposed = false;

  /** `isShowing`: a read whose answer may have secrets, so that its record shows the rights. */
  constructor(
    parts: AuditParts,
    rules: GrantedRules,
    who: () => Who,
    caller: Caller,
    isShowing: boolean,
  ) {
    this.#parts = parts;
    this.#rules = rules;
    this.#who = who;
    this.#caller = caller;
    this.#isShowing = isShowing;
  }

  asking(authorizer: Authorizer): Authorizer {
    if (!this.#isShowing) return authorizer;
    this.#asked = this.#rules.recorder(authorizer);
    return this.#asked;
  }

  checking(authorizer: Authorizer): Authorizer {
    this.auth ??= this.#who();
    this.#checked = this.#rules.recorder(authorizer);
    return this.#checked;
  }

  reasoned(reason: string): void {
    this.reason = reason;
  }

  proposed(command: Command): Promise<void> | undefined {
    this.auth ??= this.#who();
    this.isProposed = true;
    if (command.type === 'token.login') {
      this.login = command as TokenLogin;
      return undefined;
    }
    const preparing = this.#parts.authorizers.prepare(this.#caller.tokenKey);
    if (preparing === undefined) return this.#noteGranted(command);
    return preparing.then(() => this.#noteGranted(command));
  }

  #noteGranted(command: Command): Promise<void> | undefined {
    this.#granted = this.#grantedTo(command);
    return this.#granted && this.#rules.look(this.#granted);
  }

  /** The rights that allowed the request; of a command, those before it took effect. */
  get granted(): Granted | undefined {
    if (this.isProposed) return this.#granted;
    return (this.#checked ?? this.#asked)?.granted;
  }

  #grantedTo(command: Command): Granted | undefined {
    const { groups, authorizers, view } = this.#parts;
    const authorizer = authorizers.of(this.#caller.tokenKey);
    if (authorizer === undefined) return undefined;
    // the last check before most commands asked for the same as the gate, if by the same rights
    const checked = this.#checked?.of === authorizer ? this.#checked : undefined;
    if (checked !== undefined && !OTHERWISE.has(command.type)) return checked.granted;
    const right = commandRight(groups, command.type);
    if (typeof right !== 'function') return undefined;
    const recorder = this.#rules.recorder(authorizer);
    right(recorder, command, view);
    return recorder.granted;
  }

  written(index: number): void {
    this.index = index;
  }
}
