/** Questions for decisions: what is sent, what is shown of it, and what answers it. */
import {
  type Decided,
  type Found,
  findRights,
  type Line,
  questionAbout,
  type Subject,
} from '../../api/decided.js';
import type { LoginExplained } from '../../api/endpoints/login-explain.js';
import { OBJECTS } from '../../api/objects.js';
import { type Ask, question, read } from '../api/client.js';
import type { Explained, Result, Stored } from '../api/types.js';
import { SUBJECT_TYPES } from '../decision-texts.js';
import { readFirst } from '../lists/page.js';
import { namespace } from '../router.js';
import { session } from '../session.js';

/** What is typed. The id of a credential is a secret: it stays in this object. */
export interface Typed {
  readonly subjectType: string;
  readonly subjectId: string;
  readonly method: string;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly namespace: string;
}

/** Whether the id of a subject of this type is a secret. */
export const isCredential = (type: string): boolean => type === 'token_secret' || type === 'jwt';

const PATH = '/access/v1/evaluation';
/** The reason of a permission is answered on request alone. */
const REASONS = { reasons: 'all' };
/** Results of one search. */
const LIMIT = 1_000;

function subjectOf({ subjectType, subjectId, method }: Typed, id = subjectId.trim()): Subject {
  const type = subjectType.trim();
  return { type, id, ...(type === 'jwt' && { properties: { auth_method: method.trim() } }) };
}

function resourceOf({ namespace: ns, resourceType, resourceId }: Typed) {
  const properties = ns.trim() === '' ? {} : { properties: { namespace: ns.trim() } };
  return { type: resourceType.trim(), id: resourceId, ...properties };
}

const bodyOf = (typed: Typed, subject = subjectOf(typed)) => ({
  subject,
  action: { name: typed.action.trim() },
  resource: resourceOf(typed),
});

/** Asks for the decision. Throws `Problem`. */
export const decide = (typed: Typed): Promise<Decided> =>
  question<Decided>(PATH, bodyOf(typed), { query: REASONS });

/** The request as people may see it: without secrets. */
export interface ShownRequest {
  readonly json: string;
  readonly curl: string;
}

/** Where a secret stood, a variable of the shell stands. */
const SECRET = '$SUBJECT_SECRET';

/** Returns the request of a decision as JSON, and as a command. */
export function shownRequest(typed: Typed): ShownRequest {
  const isSecret = isCredential(typed.subjectType.trim());
  const body = bodyOf(typed, isSecret ? subjectOf(typed, SECRET) : subjectOf(typed));
  const ns = namespace();
  const query = new URLSearchParams({ ...(ns !== '' && { ns }), ...REASONS });
  // The shell reads the variable between two texts in single quotes.
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  const data = isSecret ? text.replace(`"${SECRET}"`, `"'"${SECRET}"'"`) : text;
  const token = session.get().token === undefined ? '' : ` -H "X-Consul-Token: $TOKEN"`;
  return {
    json: JSON.stringify(body, null, 2),
    curl:
      `curl${token} -H 'Content-Type: application/json' -d '${data}' ` +
      `'${location.origin}${PATH}?${query}'`,
  };
}

/** Returns why it was decided so, from token to line, as far as the user may ask that. */
export async function explain(typed: Typed, { decision }: Decided): Promise<Result | undefined> {
  try {
    for (const asked of await subjectsToExplain(subjectOf(typed))) {
      const result = await explained(typed, asked);
      // Another token of the identity decides, or the state has changed since.
      if (result?.Allow === decision) return result;
    }
  } catch {
    // what the user may not ask about is not explained
  }
  return undefined;
}

async function explained(typed: Typed, asked: ToExplain): Promise<Result | undefined> {
  const { how, ...subject } = asked;
  const about = questionAbout(typed.resourceType.trim(), typed.action.trim(), typed.resourceId);
  const ask = async (Namespace: string): Promise<Explained> => {
    const Requests = [{ ...about, ...(Namespace !== '' && { Namespace }) }];
    return question<Explained>('/v1/acl/authorize/explain', { ...subject, Requests }, how);
  };
  const { Namespace, Results } = await ask(typed.namespace.trim());
  const [first] = Results;
  const isThere = typed.namespace.trim() !== '' || first?.Namespace === Namespace;
  return isThere ? first : (await ask(Namespace)).Results[0];
}

interface ToExplain {
  readonly AccessorID?: string;
  readonly Draft?: object;
  readonly how: Ask;
}

/** Returns how a subject is named in requests to explain: each of its tokens, the newest first. */
async function subjectsToExplain({ type, id, properties }: Subject): Promise<ToExplain[]> {
  const how = { once: true };
  if (type === 'token') return [{ ...(id !== 'self' && { AccessorID: id }), how }];
  if (type === 'token_secret') return [{ how: { ...how, token: id } }];
  if (type === 'role') return [{ Draft: { Roles: [{ Name: id }] }, how }];
  if (type === 'identity') return tokensOf(id, namespace());
  if (type !== 'jwt') return tokensOfMapped(type, id);
  const body = { AuthMethod: properties?.auth_method, BearerToken: id };
  const { Token } = await question<LoginExplained>('/v1/acl/login/explain', body, how);
  if (Token === null) return [];
  const { Policies, Roles, ServiceIdentities, NodeIdentities, TemplatedPolicies } = Token;
  const Draft = { Policies, Roles, ServiceIdentities, NodeIdentities, TemplatedPolicies };
  return [{ Draft, how: { ...how, ns: Token.Namespace } }];
}

/** What the ACL configuration says of types of subjects. */
interface Mapping {
  readonly SubjectTypes?: Readonly<
    Record<string, { AuthMethod: string; Namespace: string; From: string }>
  >;
}

/** Tokens of one identity that are explained. */
const EXPLAINED_MAX = 10;

/** Returns the tokens of an identity of a namespace's auth method: METHOD/SUBJECT. */
async function tokensOf(subject: string, ns: string): Promise<ToExplain[]> {
  const ofAll = ns === '' ? {} : { ns: '*' };
  const query = { subject, 'authmethod-ns': ns === '' ? undefined : ns };
  const how = { query, ...ofAll, sort: '-created', size: EXPLAINED_MAX, once: true };
  const { items } = await readFirst<Stored>(OBJECTS.token.listPath, how);
  return items.map(({ AccessorID, Namespace }) => ({
    AccessorID: String(AccessorID),
    how: { once: true, ns: String(Namespace ?? 'default') },
  }));
}

/** Returns the tokens of a subject of a type that the ACL configuration has. */
async function tokensOfMapped(type: string, id: string): Promise<ToExplain[]> {
  const path = '/v1/operator/acl/configuration';
  const { SubjectTypes = {} } = await read<Mapping>(path, { once: true });
  const mapped = SubjectTypes[type];
  if (mapped?.From !== 'tokens') return [];
  return tokensOf(`${mapped.AuthMethod}/${id}`, mapped.Namespace);
}

const search = <R>(what: string, body: object): Promise<Found<R>> =>
  question<Found<R>>(`/access/v1/search/${what}`, { ...body, page: { limit: LIMIT } });

/** Who is allowed, or what a subject may do. */
export interface Listed<R> {
  readonly rows: readonly R[];
  readonly isCut: boolean;
}

const isCut = ({ page, context }: Found<unknown>): boolean =>
  page.next_token !== '' || context?.truncated === true;

/** A subject that a search has found. */
export interface Someone {
  readonly type: string;
  readonly id: string;
  readonly properties: { readonly namespace: string; readonly description?: string };
}

/** Finds who may do it: subjects of the types that can be listed. Throws `Problem`. */
export async function findWho(typed: Typed): Promise<Listed<Someone>> {
  const { action, resource, subject } = bodyOf(typed);
  const types = new Set(['token', 'identity', 'role', ...mapped(subject.type)]);
  const found: Found<Someone>[] = [];
  // A token searches once at a time.
  for (const type of types)
    found.push(await search('subject', { subject: { type }, action, resource }));
  return { rows: found.flatMap(({ results }) => results), isCut: found.some(isCut) };
}

const mapped = (type: string): readonly string[] =>
  type === '' || (SUBJECT_TYPES as readonly string[]).includes(type) ? [] : [type];

/** Finds what a subject may do to resources of the type. Throws `Problem`. */
export async function findWhat(typed: Typed): Promise<Listed<Line>> {
  const { type, properties } = { properties: {}, ...resourceOf(typed) };
  const { actions, ids, lines } = await findRights(search, subjectOf(typed), { type, properties });
  return { rows: lines, isCut: [actions, ...ids.map(({ found }) => found)].some(isCut) };
}
