/**
 * Auth methods of type kubernetes: the API server of the cluster reviews the token of a service
 * account (TokenReview).
 */

import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import type { IdentityShape } from '../../acl/binding.js';
import { KUBERNETES_SHAPE } from '../../acl/shapes.js';
import { KUBERNETES_CONFIG } from '../../api/auth-methods.js';
import type { Refusal } from '../../base/errors.js';
import { isObject } from '../../languages/fields.js';
import { subjectOf } from './claims.js';
import { ConfigFault, ConfigReader, checkCertificate, refusing } from './config-reader.js';
import { FetchFault, httpUrl, jsonObject, type Outbound } from './exchange.js';
import {
  type AuthMethodType,
  CHECKS,
  type Check,
  type CheckName,
  type Examined,
  type IssuerProblem,
  type LoginFault,
  type Shown,
  type Verdict,
} from './types.js';

interface KubernetesConfig {
  readonly host: URL;
  readonly ca: string;
  readonly serviceAccountJwt: string;
}
/** A cluster, and the namespace of the method that sends requests to it. */
interface Cluster extends KubernetesConfig {
  readonly methodNamespace: string;
}
type Json = Readonly<Record<string, unknown>>;
type At = Parameters<AuthMethodType['validate']>[2];

/** An annotation of a service account that overrides its name. */
const NAME_ANNOTATION = 'consul.hashicorp.com/service-name';

/** The auth method type `kubernetes`. */
export class KubernetesMethod implements AuthMethodType {
  readonly name = 'kubernetes';
  readonly #outbound: Outbound;

  constructor(outbound: Outbound) {
    this.#outbound = outbound;
  }

  checkConfig(config: unknown, namespace: string): Refusal | undefined {
    return refusing(() => {
      const { host } = readKubernetesConfig(config);
      const problem = this.#outbound.problem(host, namespace);
      if (problem !== undefined) throw new ConfigFault(`error checking Host: ${problem}`, 'Host');
    });
  }

  /** Does nothing: the first login contacts the cluster. */
  async checkIssuer(): Promise<IssuerProblem | undefined> {
    return undefined;
  }

  shapeOf(): IdentityShape {
    return KUBERNETES_SHAPE;
  }

  vouched(_config: unknown, id: string): Json | undefined {
    const [namespace, name, ...more] = id.split('/');
    if (!namespace || !name || more.length > 0) return undefined;
    return { serviceaccount: { namespace, name } };
  }

  async validate(
    config: unknown,
    bearerToken: string,
    { namespace: methodNamespace }: At,
  ): Promise<Verdict> {
    try {
      const cluster = { ...readKubernetesConfig(config), methodNamespace };
      const account = await this.#review(cluster, bearerToken);
      if (!account.ok) return account;
      const { namespace, uid } = account;
      const name = await this.#nameOf(cluster, namespace, account.name);
      return verified({ namespace, name, uid }, account.name);
    } catch (error) {
      if (!(error instanceof FetchFault || error instanceof ConfigFault)) throw error;
      const code = error instanceof FetchFault ? 'unreachable' : 'config';
      return { ok: false, code, reason: `kubernetes: ${error.message}` };
    }
  }

  async examine(config: unknown, shown: Shown, at: At): Promise<Examined> {
    const isClaims = 'claims' in shown;
    const verdict = isClaims
      ? accountIn(shown.claims)
      : await this.validate(config, shown.bearerToken, at);
    const failed = verdict.ok ? undefined : FAILED_CHECK[verdict.code];
    const passed: readonly CheckName[] = isClaims ? ['claims'] : ['form', 'signature', 'claims'];
    const until = failed === undefined ? passed.length : passed.indexOf(failed);
    const checks = CHECKS.map((Name): Check => {
      if (Name === failed && !verdict.ok) return { Name, Result: 'failed', Detail: verdict.reason };
      const isPassed = passed.indexOf(Name) >= 0 && passed.indexOf(Name) < until;
      return { Name, Result: isPassed ? 'passed' : 'skipped', Detail: '' };
    });
    const variables = verdict.ok ? [...verdict.identity.variables] : [];
    const withValue = variables.filter(([, value]) => value !== '');
    const Values = variables.filter(([, value]) => value === '').map(([name]) => name);
    return {
      checks,
      fault: verdict.ok ? undefined : verdict,
      verified: verdict.ok && !isClaims,
      known: verdict.ok ? verdict : undefined,
      values: Object.fromEntries(withValue),
      lists: {},
      missing: { Values, Lists: [] },
      unmapped: [],
    };
  }

  /** Returns the service account of a token, or the reason why the cluster does not accept it. */
  async #review(
    cluster: Cluster,
    token: string,
  ): Promise<
    { ok: true; namespace: string; name: string; uid: string } | ({ ok: false } & LoginFault)
  > {
    const refused = (code: LoginFault['code'], reason: string) =>
      ({ ok: false, code, reason }) as const;
    if (token === '') return refused('form', 'missing jwt');
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const path = 'apis/authentication.k8s.io/v1/tokenreviews';
    const { status } = await this.#call(cluster, path, JSON.stringify(review));
    if (!isObject(status)) throw new FetchFault('the token review has no status');
    if (status['authenticated'] !== true) {
      return refused('signature', 'the token review does not authenticate the token');
    }
    // The API server could not check the token. What else the review says counts for nothing.
    if (typeof status['error'] === 'string' && status['error'] !== '') {
      return refused('signature', 'the token review reports an error');
    }
    const user: Json = isObject(status['user']) ? status['user'] : {};
    const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(String(user['username']));
    if (account === null) return refused('claims', 'the token is not one of a service account');
    const uid = typeof user['uid'] === 'string' ? user['uid'] : '';
    return { ok: true, namespace: account[1] as string, name: account[2] as string, uid };
  }

  /** Returns the name of a service account, or the name that its annotation gives it. */
  async #nameOf(cluster: Cluster, namespace: string, name: string): Promise<string> {
    const [ns, account] = [namespace, name].map(encodeURIComponent);
    const { metadata } = await this.#call(
      cluster,
      `api/v1/namespaces/${ns}/serviceaccounts/${account}`,
    );
    const annotations =
      isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : {};
    const other = Object.hasOwn(annotations, NAME_ANNOTATION) ? annotations[NAME_ANNOTATION] : '';
    return typeof other === 'string' && other !== '' ? other : name;
  }

  /**
   * Sends a request to the API server. Rejects with FetchFault unless it replies with an object.
   */
  async #call(cluster: Cluster, path: string, body?: string): Promise<Json> {
    const { host, ca, serviceAccountJwt, methodNamespace } = cluster;
    const base = host.href.endsWith('/') ? host.href : `${host.href}/`;
    const headers = {
      authorization: `Bearer ${serviceAccountJwt}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const request = { url: new URL(path, base), headers, ca };
    const reply = await this.#outbound.exchange(
      body === undefined ? request : { ...request, method: 'POST', body },
      methodNamespace,
    );
    return jsonObject(reply, host.host);
  }
}

/** A service account, with the name that selectors see. */
interface Account {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Returns the verdict for a service account. `ownName`: its name in the cluster. */
function verified(account: Account, ownName: string): Extract<Verdict, { readonly ok: true }> {
  const { namespace, name, uid } = account;
  const serviceaccount = { namespace, name, uid };
  const variables = new Map(
    Object.entries(serviceaccount).map(([key, value]) => [`serviceaccount.${key}`, value]),
  );
  const subject = JSON.stringify([namespace, ownName, uid]);
  const who = subjectOf(`${namespace}/${ownName}`);
  return { ok: true, identity: { selectable: { serviceaccount }, variables }, subject, who };
}

/** Returns the service account that claims name. */
function accountIn({ serviceaccount }: Json): Verdict {
  const account: Json = isObject(serviceaccount) ? serviceaccount : {};
  const { namespace, name, uid = '' } = account;
  const isWhole = typeof namespace === 'string' && typeof name === 'string';
  if (isWhole && typeof uid === 'string') return verified({ namespace, name, uid }, name);
  const reason = 'the claims have no serviceaccount with the texts namespace, name and uid';
  return { ok: false, code: 'claims', reason };
}

/** The check that fails for each reason of a refusal. */
const FAILED_CHECK: Readonly<Partial<Record<LoginFault['code'], CheckName>>> = {
  form: 'form',
  config: 'signature',
  unreachable: 'signature',
  signature: 'signature',
  claims: 'claims',
};

/** What Node takes as a part of a header: the signature is not decoded. */
const HEADER_TEXT = /^[!-~]+$/;

/** Reads and checks a Config. Throws ConfigFault. */
export function readKubernetesConfig(config: unknown): KubernetesConfig {
  const reader = new ConfigReader(config, KUBERNETES_CONFIG.fields);
  const [hostText, ca] = [reader.text('Host'), reader.text('CACert')];
  // A token that was read from a file ends in a newline.
  const serviceAccountJwt = reader.text('ServiceAccountJWT').trim();
  if (hostText === '') throw new ConfigFault('Config.Host is required', 'Host');
  const host = httpUrl(hostText);
  // The token of the method's service account is sent to this host.
  if (host?.protocol !== 'https:') {
    throw new ConfigFault('Config.Host is not an https URL without credentials', 'Host');
  }
  if (ca === '') throw new ConfigFault('Config.CACert is required', 'CACert');
  checkCertificate(ca, 'CACert', 'kubernetes ca cert');
  if (serviceAccountJwt === '') {
    throw new ConfigFault('Config.ServiceAccountJWT is required', 'ServiceAccountJWT');
  }
  try {
    decodeProtectedHeader(serviceAccountJwt);
    decodeJwt(serviceAccountJwt);
    if (!HEADER_TEXT.test(serviceAccountJwt)) throw new Error('not fit for a header');
  } catch {
    const message =
      'Config.ServiceAccountJWT is not a valid JWT: it is not three parts in base64url that hold JSON';
    throw new ConfigFault(message, 'ServiceAccountJWT');
  }
  return { host, ca, serviceAccountJwt };
}
