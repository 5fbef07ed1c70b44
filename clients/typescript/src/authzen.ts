/** Asks any server of the Authorization API 1.0 (AuthZEN) for decisions. */
import { type CallOptions, type ClientOptions, Conclave } from './calls.js';
import { ConclaveError } from './nodes.js';
import type {
  EvaluateAllBody,
  EvaluateBody,
  EvaluateResult,
  SearchActionsBody,
  SearchResourcesBody,
  SearchResult,
  SearchSubjectsBody,
} from './operations.js';

/** Where decisions are made, by the names of its configuration. */
const PATHS = {
  access_evaluation_endpoint: '/access/v1/evaluation',
  access_evaluations_endpoint: '/access/v1/evaluations',
  search_subject_endpoint: '/access/v1/search/subject',
  search_resource_endpoint: '/access/v1/search/resource',
  search_action_endpoint: '/access/v1/search/action',
};
type Endpoints = Readonly<Partial<Record<keyof typeof PATHS, string>>>;
type Evaluations = EvaluateResult & { readonly evaluations?: readonly EvaluateResult[] };
const CONFIGURATION = '/.well-known/authzen-configuration';

/** How a server is found: by one URL, or for Conclave by the addresses of several nodes. */
export type AuthZenOptions = Omit<ClientOptions, 'addresses'> &
  ({ readonly url: string } | Pick<ClientOptions, 'addresses'>);

/** A server that decides. Calls throw ConclaveError: none of its errors is a permit. */
export class AuthZen {
  readonly #server: Conclave;
  readonly #endpoints: Endpoints;

  /** Uses the paths of the specification, unless others are given. */
  constructor(options: AuthZenOptions, endpoints: Endpoints = PATHS) {
    const addresses = 'url' in options ? [options.url] : options.addresses;
    this.#server = new Conclave({ ...options, addresses });
    this.#endpoints = endpoints;
  }

  /** Uses the endpoints that the server at a URL names in its configuration. */
  static async discover(options: AuthZenOptions & { readonly url: string }): Promise<AuthZen> {
    const { origin, pathname } = new URL(options.url);
    const path = `${origin}${CONFIGURATION}${pathname.replace(/\/$/, '')}`;
    const { token: _, tokenProvider: __, ...others } = options;
    const stranger = new Conclave({ ...others, addresses: [options.url] });
    const { body } = await stranger.call<Record<string, string>>({ method: 'GET', path }, {});
    // The configuration of another server must not get the token.
    if (body['policy_decision_point'] !== options.url)
      throw new ConclaveError(0, 'invalid', `the configuration at ${path} is of another server`);
    return new AuthZen(options, body);
  }

  /** Decides one question. */
  async evaluate(body: EvaluateBody, options?: CallOptions): Promise<EvaluateResult> {
    const answer = await this.#ask<EvaluateResult>('access_evaluation_endpoint', body, options);
    return decided(answer);
  }

  /** Decides many questions. */
  async evaluations(
    body: EvaluateAllBody,
    options?: CallOptions,
  ): Promise<readonly EvaluateResult[]> {
    const answer = await this.#ask<Evaluations>('access_evaluations_endpoint', body, options);
    return (answer.evaluations ?? [answer]).map(decided);
  }

  /** Finds who may do something. */
  searchSubjects(body: SearchSubjectsBody, options?: CallOptions): Promise<SearchResult> {
    return this.#ask('search_subject_endpoint', body, options);
  }

  /** Finds what a subject may do something to. */
  searchResources(body: SearchResourcesBody, options?: CallOptions): Promise<SearchResult> {
    return this.#ask('search_resource_endpoint', body, options);
  }

  /** Finds what a subject may do to a resource. */
  searchActions(body: SearchActionsBody, options?: CallOptions): Promise<SearchResult> {
    return this.#ask('search_action_endpoint', body, options);
  }

  async #ask<T>(name: keyof Endpoints, body: object, options?: CallOptions): Promise<T> {
    const path = this.#endpoints[name];
    if (path === undefined) throw new ConclaveError(0, 'not_found', `the server has no ${name}`);
    const asked = { method: 'POST', path, isRead: true };
    return (await this.#server.call<T>(asked, { body }, options)).body;
  }
}

function decided(answer: EvaluateResult): EvaluateResult {
  if (typeof answer?.decision !== 'boolean')
    throw new ConclaveError(0, 'invalid', 'the answer has no decision');
  return answer;
}
