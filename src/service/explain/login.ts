/** The use case that explains a login: what it would come to, and why. It makes no token. */

import { selects } from '../../acl/binding.js';
import { explainRule, type RuleExplanation } from '../../acl/binding-explain.js';
import { type RightsRow, SHOWN_CHARS_MAX } from '../../acl/explain.js';
import type { Steps } from '../../acl/steps.js';
import type { LoginExplainBody } from '../../api/endpoints/login-explain.js';
import { reject } from '../../base/errors.js';
import { formatDuration } from '../../languages/duration.js';
import { cut, type Hide, SENTENCE_MAX, shortened } from '../../languages/shown-values.js';
import { keys } from '../../state/keys.js';
import { hasAuthors } from '../../state/levels.js';
import { stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import type { BindingRule } from '../../state/rules.js';
import type { View } from '../../state/types.js';
import { mustRead, readState } from '../common/reading.js';
import type { ReadContext, ReadOutcome, StateRead } from '../common/types.js';
import {
  judgeLogin,
  type LoginGrant,
  lookups,
  namespaceOfToken,
  namespaceRuleOf,
  rulesOf,
} from '../login/judge.js';
import { descriptionOf, type LoginParts } from '../login/login.js';
import {
  type Examined,
  hidesCalls,
  type LoginFault,
  type Shown,
  withoutCall,
} from '../login/types.js';
import { ownerOf } from '../reads/long-work.js';
import { DRAFT, draftToken } from './questions.js';
import { hiding, withoutSecrets } from './secrets.js';
import { type ExplainParts, subjectOf } from './subject.js';

export type LoginExplainParts = ExplainParts &
  Pick<LoginParts, 'methodTypes' | 'datacenter' | 'refusals'>;

/** Binding rules that one answer shows. */
const RULES_MAX = 500;

/**
 * Explains a login with a bearer token or with claims. The value is undefined if there is no such
 * auth method. Throws ApiError.
 */
export async function explainLogin(
  parts: LoginExplainParts,
  { caller, ns, options }: StateRead,
  body: LoginExplainBody,
): Promise<ReadOutcome<string | undefined>> {
  const { service, methodTypes, nowMs } = parts;
  const shown = shownIn(body);
  const { AuthMethod: name = '' } = body;
  if (name === '') reject('invalid', 'AuthMethod is required', { pointer: '/AuthMethod' });
  const found = await readState(service, { caller, options }, ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    return stored<AuthMethod>(view, keys.method(ns, name));
  });
  const { value: method } = found;
  if (method === undefined) return { ...found, value: undefined };
  const atMs = nowMs();
  const at = { namespace: method.Namespace, nowMs: atMs };
  const known = await methodTypes.get(method.Type)!.examine(method.Config, shown, at);
  const secrets = secretsOf(method, shown);
  // The login is decided by the state that it finds once its bearer token is verified.
  const now = { caller, options: { ...options, mode: 'stale' } as const };
  const decided = await readState(service, now, (context) => {
    mustRead(context.authorizer, ns);
    const hides = hidesCalls(context.authorizer, ns);
    const examined = hides ? withoutCalls(parts, method, known) : known;
    const about = { method, examined, hide: hiding(secrets) };
    return new LoginExplanation(parts, context, about);
  });
  const steps = answer(service.view, decided, secrets);
  const value = await parts.longWork.runSoon(ownerOf(service, caller), 'explain', steps);
  return { ...decided, value };
}

function* answer(
  view: View,
  { value: explanation, index }: ReadOutcome<LoginExplanation>,
  secrets: readonly string[],
): Steps<string> {
  const value = JSON.stringify(yield* explanation.answer(index));
  yield;
  return withoutSecrets(view, value, secrets);
}

/** Returns what was found without what it tells of outbound calls. The log has that. */
function withoutCalls(
  { refusals }: LoginExplainParts,
  method: AuthMethod,
  examined: Examined,
): Examined {
  const { fault } = examined;
  if (fault?.code !== 'unreachable') return examined;
  const { reason } = fault;
  refusals.noteHidden({ cause: 'unreachable', reason, method });
  const shown = withoutCall(fault);
  const checks = examined.checks.map((check) =>
    check.Detail === reason ? { ...check, Detail: shown.reason } : check,
  );
  return { ...examined, fault: shown, checks };
}

function shownIn({ BearerToken, Claims }: LoginExplainBody): Shown {
  if ((BearerToken === undefined) === (Claims === undefined)) {
    reject('invalid', 'Exactly one of BearerToken and Claims is required');
  }
  return Claims === undefined ? { bearerToken: (BearerToken ?? '').trim() } : { claims: Claims };
}

const ACCOUNT_JWT = /^ServiceAccountJWT$/i;

/** Returns what must not be in the answer, whatever claims and names repeat it. */
function secretsOf({ Config }: AuthMethod, shown: Shown): readonly string[] {
  const bearer = 'bearerToken' in shown ? shown.bearerToken : '';
  // The keys of a Config match in any letter case.
  const account = Object.entries(Config).find(([key]) => ACCOUNT_JWT.test(key))?.[1];
  const whole = [bearer, typeof account === 'string' ? account.trim() : ''];
  return [...whole, ...whole.flatMap((token) => token.split('.').slice(1))];
}

class LoginExplanation {
  readonly #parts: LoginExplainParts;
  readonly #context: ReadContext;
  readonly #method: AuthMethod;
  readonly #examined: Examined;
  readonly #hide: Hide;
  readonly #all: readonly BindingRule[];
  readonly #ns: string | undefined;
  /** Whether the token would be in a namespace that the caller may not read. */
  readonly #isHidden: boolean;

  constructor(
    parts: LoginExplainParts,
    context: ReadContext,
    about: { readonly method: AuthMethod; readonly examined: Examined; readonly hide: Hide },
  ) {
    const { method, examined } = about;
    this.#parts = parts;
    this.#context = context;
    this.#method = method;
    this.#examined = examined;
    this.#hide = about.hide;
    const { known } = examined;
    this.#all = known === undefined ? [] : rulesOf(context.view, method);
    this.#ns = known && namespaceOfToken(method, known.identity, this.#shape);
    const mayRead = (ns: string): boolean =>
      context.authorizer.allowed('acl', 'read', undefined, ns);
    this.#isHidden = this.#ns !== undefined && this.#ns !== method.Namespace && !mayRead(this.#ns);
  }

  get #shape() {
    return this.#parts.methodTypes.get(this.#method.Type)!.shapeOf(this.#method.Config);
  }

  *answer(index: number): Steps<object> {
    const method = this.#method;
    const examined = this.#examined;
    const { fault, grant } = yield* this.#judged();
    const isShown = grant !== undefined && !this.#isHidden;
    const rules = yield* this.#rules();
    const rights = isShown ? yield* this.#rights(grant) : { Rights: null, Truncated: false };
    return {
      AuthMethod: method.Name,
      Type: method.Type,
      Namespace: method.Namespace,
      Index: index,
      Outcome: fault === undefined ? 'granted' : 'refused',
      ReasonCode: fault?.code ?? '',
      Reason: fault === undefined ? '' : this.#sentence(this.#reasonOf(fault)),
      Verified: examined.verified,
      Checks: examined.checks.map((check) => ({
        ...check,
        Detail: cut(check.Detail, SENTENCE_MAX),
      })),
      Values: mapped(examined.values, this.#hide),
      Lists: mapped(examined.lists, this.#hide),
      Missing: examined.missing,
      Unmapped: shortened(examined.unmapped, this.#hide),
      TokenNamespace: this.#ns ?? null,
      NamespaceRule: this.#namespaceRule(),
      ...rules,
      Token: isShown ? this.#token(grant) : null,
      ...rights,
    };
  }

  #sentence(text: string): string {
    return cut(this.#hide(text), SENTENCE_MAX);
  }

  /** Decides the login. A fault of the bearer token precedes those of the rules. */
  *#judged(): Steps<{ readonly fault?: LoginFault; readonly grant?: LoginGrant }> {
    const { fault, known } = this.#examined;
    if (fault !== undefined || known === undefined) return { fault: fault! };
    const { datacenter, nowMs } = this.#parts;
    const at = { datacenter, nowMs: nowMs() };
    const verified = { ...known, shape: this.#shape, ...at, rules: this.#all };
    const outcome = yield* judgeLogin(this.#context.view, this.#method, verified);
    return outcome.ok ? { grant: outcome.grant } : { fault: outcome };
  }

  /** Returns the sentence of the log, without what a hidden namespace holds. */
  #reasonOf({ code, reason }: LoginFault): string {
    if (!this.#isHidden || !['namespace', 'nothing_bound'].includes(code)) return reason;
    return `the login makes no token in the namespace ${JSON.stringify(this.#ns)}`;
  }

  #namespaceRule(): object | null {
    const { known } = this.#examined;
    const rule = known && namespaceRuleOf(this.#method, known.identity, this.#shape);
    if (rule === undefined) return null;
    const { Selector, BindNamespace } = rule;
    return { Selector, BindNamespace, Namespace: this.#ns ?? null };
  }

  /** Explains the rules that match, then the others, as far as the answer has room. */
  *#rules(): Steps<{ readonly Rules: readonly RuleExplanation[]; readonly MoreRules: number }> {
    const { known } = this.#examined;
    if (known === undefined) return { Rules: [], MoreRules: 0 };
    const { view } = this.#context;
    const namespace = this.#ns;
    const isLooked = namespace !== undefined && !this.#isHidden;
    const context = {
      identity: known.identity,
      shape: this.#shape,
      hide: this.#hide,
      namespace,
      lookups: isLooked ? lookups(view, namespace) : undefined,
    };
    const all: [order: string, rule: BindingRule][] = [];
    for (const rule of this.#all) {
      const matches = selects(rule.Selector ?? '', known.identity, context.shape);
      all.push([`${matches ? 0 : 1}${rule.ID}`, rule]);
      yield;
    }
    all.sort(([a], [b]) => (a < b ? -1 : 1));
    const Rules: RuleExplanation[] = [];
    let left = SHOWN_CHARS_MAX;
    for (const [, rule] of all.slice(0, RULES_MAX)) {
      const explained = explainRule(rule, context);
      left -= JSON.stringify(explained).length;
      if (left < 0) break;
      Rules.push(explained);
      yield;
    }
    return { Rules, MoreRules: all.length - Rules.length };
  }

  /** Returns the token without what only a login gives it: ids, secret, times. */
  #token({ ns, token, lifeMs }: LoginGrant): object {
    const { Name, Namespace } = this.#method;
    const { Policies, Roles, Local, ...grants } = token;
    return {
      Description: descriptionOf(this.#method.Type),
      // Below that level a login's token has none.
      ...(hasAuthors(this.#context.view) && {
        Identity: { AuthMethod: Name, Namespace, Subject: this.#examined.known?.who ?? '' },
      }),
      ...(Policies.length > 0 && { Policies }),
      ...(Roles.length > 0 && { Roles }),
      ...grants,
      Local,
      AuthMethod: Name,
      ...(ns !== Namespace && { AuthMethodNamespace: Namespace }),
      ...(lifeMs !== undefined && { ExpirationTTL: formatDuration(lifeMs * 1e6) }),
      Namespace: ns,
    };
  }

  *#rights({ ns, token }: LoginGrant): Steps<{
    readonly Rights: readonly RightsRow[];
    readonly Truncated: boolean;
  }> {
    const { Policies, Roles, Local: _, ...grants } = token;
    const ids = (links: readonly { readonly ID?: string }[]) =>
      links.map(({ ID = '' }) => ({ ID }));
    const drafted = draftToken(ns, { Policies: ids(Policies), Roles: ids(Roles), ...grants });
    const subject = yield* subjectOf(this.#parts, () => ({ token: drafted, first: DRAFT }));
    return yield* subject!.explainer.table();
  }
}

/** Returns mapped claims as answers show them. */
const mapped = (claims: Readonly<Record<string, unknown>>, hide: Hide): object =>
  Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, shortened(value, hide)]));
