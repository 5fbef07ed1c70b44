/** Whose rights decide an evaluation (decisions.md 2): the tokens behind a subject. */
import { isUuid } from '../../acl/names.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { Identity } from '../../state/author.js';
import { keys } from '../../state/keys.js';
import { keysBelow, namespaceProblem, stored } from '../../state/lists.js';
import { subjectTypes } from '../../state/login-limits.js';
import type { AuthMethod } from '../../state/methods.js';
import type { Role } from '../../state/roles.js';
import {
  identityOf,
  isAlive,
  secretKeyOf,
  type Token,
  tokenByAccessor,
  tokenBySecret,
} from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { OWN_TYPES } from '../acl/acl-configuration.js';
import type { Caller, ReadContext } from '../common/types.js';
import { DRAFT, draftToken } from '../explain/questions.js';
import { ownToken } from '../explain/subject.js';
import { subjectOf } from '../login/claims.js';
import { judgeLogin } from '../login/judge.js';
import type { LoginParts } from '../login/login.js';
import { type Authorizers, authorizerFor } from '../rights/authorizers.js';
import { type Collected, stepOf } from '../rights/origins.js';
import type { SharedRights } from '../rights/rights-cache.js';
import type { Proof } from './proofs.js';
import { type Entity, namespaceIn } from './questions.js';

export interface SubjectParts extends Pick<LoginParts, 'methodTypes' | 'datacenter' | 'nowMs'> {
  readonly authorizers: Pick<
    Authorizers,
    'cached' | 'namespaceOf' | 'rightsOf' | 'origins' | 'known'
  >;
}

/** A token that decides, stored or as a login would make it. */
export interface Holder {
  /** Empty if the token is not stored. */
  readonly accessor: string;
  readonly namespace: string;
  readonly authorizer: Authorizer;
  /** Returns what only explanations need; undefined if the token is gone meanwhile. */
  readonly about: () => About | undefined;
}

/** A token with its rights, and where they come from. */
export interface About {
  readonly token: Token;
  readonly shared: SharedRights | Promise<void>;
  readonly identity: Identity | undefined;
  readonly collected: Collected;
}

/** Why no token decides. */
export interface NoHolder {
  /** `forbidden`: the caller may not ask about the subject, whether it exists or not. */
  readonly code: 'unknown_subject' | 'refused' | 'blocked' | 'forbidden';
  readonly reason: string;
  /** The namespace of the subject; absent: that of the request. */
  readonly home?: string;
}

/** The message of a refusal to speak about a subject. */
export const deniedText = ({ reason }: NoHolder): string => `Permission denied: ${reason}`;

/** Whom a subject means. */
export interface Resolved {
  /** Not empty, the newest first: an access is allowed if one allows it. */
  readonly holders: readonly Holder[];
  /** The namespace in which a decision about it may be read. */
  readonly home: string;
  /** Whether there were more tokens than are asked. */
  readonly truncated: boolean;
}

/** Tokens of one identity that are asked. */
const HOLDERS_MAX = 1_000;
/** Tokens of one identity that are looked at, to find the newest: a tenth of a second. */
const LOOKED_MAX = 10_000;
/** Tokens that are examined between two steps. */
const TOKENS_PER_STEP = 16;

const unknown = (reason: string, home?: string): NoHolder => ({
  code: 'unknown_subject',
  reason,
  ...(home !== undefined && { home }),
});
const NO_TOKEN = unknown('there is no such token');
const NO_METHOD = 'its auth method does not exist';
const NOT_ASKED: NoHolder = {
  code: 'forbidden',
  reason: 'the token of the request lacks acl:read there',
};

/** What a subject means, or what must be waited for before it is asked again. */
type Found = Resolved | NoHolder | Promise<void>;
type Finding = Steps<Found>;

/** Finds whom a subject means, in one state and for one caller. */
export class Subjects {
  readonly #parts: SubjectParts;
  readonly #context: ReadContext;
  readonly #caller: Caller;
  readonly #ns: string;

  constructor(parts: SubjectParts, context: ReadContext, { caller, ns }: SubjectRequest) {
    this.#parts = parts;
    this.#context = context;
    this.#caller = caller;
    this.#ns = ns;
  }

  /**
   * Returns whom a subject means, or what must be waited for before it is asked again: rights that
   * are compiled. `proof`: what a JWT or the properties of the subject prove. The state must not
   * change between two steps. Throws ApiError 400.
   */
  *resolve(subject: Entity, proof: Proof): Finding {
    const { type, id } = subject;
    switch (type) {
      case 'token':
        return this.#token(subject);
      case 'token_secret':
        return this.#ofSecret(secretKeyOf(id));
      case 'role':
        return this.#role(subject);
      case 'identity': {
        const [name = ''] = id.split('/', 1);
        const ns = this.#namespaceOf(subject);
        return yield* this.#identity({ ns, name }, id.slice(name.length + 1));
      }
      case 'jwt':
        return yield* this.#proven(proof);
      default:
        return yield* this.#mapped(subject, proof);
    }
  }

  get #view(): View {
    return this.#context.view;
  }

  #namespaceOf({ properties }: Entity): string {
    return namespaceIn(properties, 'subject') ?? this.#ns;
  }

  #mayRead(ns: string): boolean {
    return this.#context.authorizer.allowed('acl', 'read', undefined, ns);
  }

  #token(subject: Entity): Found {
    const { tokenKey } = this.#caller;
    if (subject.id === 'self' && tokenKey !== null) return this.#ofSecret(tokenKey);
    const own = ownToken(this.#view, this.#caller);
    const token = isUuid(subject.id)
      ? tokenByAccessor(this.#view, subject.id.toLowerCase())
      : undefined;
    if (token !== undefined && token.AccessorID === own?.AccessorID) return this.#ofToken(token);
    // A token that may not be asked about is one that does not exist.
    if (token !== undefined && this.#mayRead(token.Namespace)) return this.#ofToken(token);
    return this.#mayRead(this.#namespaceOf(subject)) ? NO_TOKEN : NOT_ASKED;
  }

  /** Returns the token of a secret. The cache of rights has nearly all that are in use. */
  #ofSecret(secretKey: string): Found {
    const { authorizers } = this.#parts;
    const authorizer = authorizers.cached(secretKey);
    const namespace = authorizer && authorizers.namespaceOf(secretKey);
    if (namespace === undefined) return this.#ofToken(tokenBySecret(this.#view, secretKey));
    const { accessor } = authorizer!;
    const view = this.#view;
    const about = (): About | undefined => {
      const token = tokenBySecret(view, secretKey);
      return token && this.#about({ token, first: stepOf(token) });
    };
    const holders = [{ accessor, namespace, authorizer: authorizer!, about }];
    return { holders, home: namespace, truncated: false };
  }

  #ofToken(token: Token | undefined): Found {
    const { nowMs } = this.#parts;
    if (token === undefined || !isAlive(this.#view, token, nowMs())) return NO_TOKEN;
    return this.#heldBy({ token, first: stepOf(token) }, token.Namespace);
  }

  #role(subject: Entity): Found {
    const ns = this.#namespaceOf(subject);
    if (!this.#mayRead(ns)) return NOT_ASKED;
    const ID = this.#view.get(keys.roleName(ns, subject.id));
    const role = ID === undefined ? undefined : stored<Role>(this.#view, keys.role(ns, ID));
    // The roles of a namespace that is being deleted await their removal: no token there is alive.
    if (role === undefined || namespaceProblem(this.#view, ns) !== undefined)
      return unknown('there is no such role', ns);
    const token = draftToken(ns, { Roles: [{ ID: role.ID }] });
    return this.#heldBy({ token, first: DRAFT }, ns);
  }

  *#identity(method: { readonly ns: string; readonly name: string }, subject: string): Finding {
    if (!this.#mayRead(method.ns)) return NOT_ASKED;
    const { nowMs } = this.#parts;
    const view = this.#view;
    if (view.get(keys.method(method.ns, method.name)) === undefined)
      return unknown(NO_METHOD, method.ns);
    // Tokens of logins that named nobody are of no identity.
    if (subject === '') return unknown('the id names no subject', method.ns);
    const who = subjectOf(subject);
    const found: Token[] = [];
    let looked = 0;
    for (const key of keysBelow(view, 'subject', method.ns, method.name.toLowerCase(), who)) {
      looked += 1;
      if (looked > LOOKED_MAX) break;
      const [ns, accessor] = key.split('\u0000').slice(-2) as [string, string];
      const token = stored<Token>(view, keys.token(ns, accessor));
      // It may be lost: a recovery accepts that.
      if (token !== undefined && isAlive(view, token, nowMs())) found.push(token);
      if (looked % TOKENS_PER_STEP === 0) yield;
    }
    if (found.length === 0) return unknown('the identity has no token', method.ns);
    const newest = found.sort((a, b) => (a.CreateTime < b.CreateTime ? 1 : -1));
    const holders: Holder[] = [];
    let pending: Promise<void> | undefined;
    for (const [at, token] of newest.slice(0, HOLDERS_MAX).entries()) {
      const holder = this.#holder({ token, first: stepOf(token) });
      if (holder instanceof Promise) pending ??= holder;
      else holders.push(holder);
      if (at % TOKENS_PER_STEP === 0) yield;
    }
    const truncated = looked > LOOKED_MAX || newest.length > HOLDERS_MAX;
    return pending ?? { holders, home: method.ns, truncated };
  }

  /** Returns whom a type means that the ACL configuration has. */
  *#mapped(subject: Entity, proof: Proof): Finding {
    const types = subjectTypes(this.#view);
    const mapped = Object.hasOwn(types, subject.type) ? types[subject.type] : undefined;
    if (mapped === undefined) {
      const known = [...OWN_TYPES, ...Object.keys(types)].join(', ');
      return unknown(`the types of subjects are ${known}`);
    }
    const { AuthMethod: name, Namespace: ns, From } = mapped;
    if (From === 'tokens') return yield* this.#identity({ ns, name }, subject.id);
    if (!this.#mayRead(ns)) return NOT_ASKED;
    if (this.#view.get(keys.method(ns, name)) === undefined) return unknown(NO_METHOD, ns);
    return yield* this.#proven(proof);
  }

  /** Returns the token that a login would make. */
  *#proven({ method: place, outcome }: Proof): Finding {
    const refused = (code: string): NoHolder => ({
      code: code === 'blocked' ? 'blocked' : 'refused',
      reason: `the login is refused${this.#mayRead(place.ns) ? `: ${code}` : ''}`,
      home: place.ns,
    });
    const method = stored<AuthMethod>(this.#view, keys.method(place.ns, place.name));
    if (method === undefined) return refused('unknown_method');
    if (!outcome.ok) return refused(outcome.code);
    const { methodTypes, datacenter, nowMs } = this.#parts;
    const { identity, subject, who, named } = outcome;
    const shape = methodTypes.get(method.Type)!.shapeOf(method.Config);
    const verified = { identity, subject, who, named, shape, datacenter, nowMs: nowMs() };
    const judged = yield* judgeLogin(this.#view, method, { ...verified, ignoresLimit: true });
    if (!judged.ok) return refused(judged.code);
    const { ns, token: content } = judged.grant;
    const { Policies, Roles, Local: _, ...grants } = content;
    const ids = (links: readonly { readonly ID?: string }[]) =>
      links.map(({ ID = '' }) => ({ ID }));
    const token = draftToken(ns, { Policies: ids(Policies), Roles: ids(Roles), ...grants });
    const { Name: AuthMethod, Namespace } = method;
    const byIdentity = { AuthMethod, Namespace, Subject: who };
    return this.#heldBy({ token, first: DRAFT }, Namespace, byIdentity);
  }

  #heldBy(collected: Collected, home: string, identity?: Identity): Found {
    const holder = this.#holder(collected, identity);
    return holder instanceof Promise ? holder : { holders: [holder], home, truncated: false };
  }

  /** Returns a token as one that decides, or what must be waited for. */
  #holder(collected: Collected, identity?: Identity): Holder | Promise<void> {
    const { token } = collected;
    const shared = this.#parts.authorizers.rightsOf(token);
    if (shared instanceof Promise) return shared;
    return {
      accessor: token.AccessorID,
      namespace: token.Namespace,
      authorizer: authorizerFor(token, shared.rights),
      about: () => this.#about(collected, identity),
    };
  }

  #about(collected: Collected, identity = identityOf(this.#view, collected.token)): About {
    const { token } = collected;
    return { token, shared: this.#parts.authorizers.rightsOf(token), identity, collected };
  }
}

/** Who asks, and the namespace of the request. */
export interface SubjectRequest {
  readonly caller: Caller;
  readonly ns: string;
}
