/** Routes of tokens and of bootstrap. */
import { hash, timingSafeEqual } from 'node:crypto';
import { reject } from '../errors.js';
import { BOOTSTRAP_FIELDS, bootstrap } from '../service/bootstrap.js';
import { decodeBody } from '../service/decode.js';
import { readTokenExpanded } from '../service/expanded.js';
import { filterOf } from '../service/filters.js';
import { listTokens, readOwnToken, readToken } from '../service/token-reads.js';
import {
  cloneToken,
  createToken,
  deleteToken,
  TOKEN_FIELDS,
  updateToken,
} from '../service/tokens.js';
import { mayWriteSomewhere } from '../service/writing.js';
import { type AclParts, answerList, mustHave, writeOf } from './acl-common.js';
import { admit } from './admit.js';
import type { ApiRequest, Route } from './types.js';

const FAILURE = 'Token decoding failed';
const BOOTSTRAP_FAILURE = 'Request decoding failed';

export function tokenRoutes(parts: AclParts): readonly Route[] {
  const { service, nowMs } = parts;
  const bodyOf = async (request: ApiRequest) => {
    await admit(request, FAILURE, mayWriteSomewhere(service, request));
    return decodeBody(FAILURE, await request.body(FAILURE), TOKEN_FIELDS);
  };

  const create = async (request: ApiRequest): Promise<void> => {
    const body = await bodyOf(request);
    const write = writeOf(request, body.Namespace);
    request.answerJson(await createToken(service, write, body, nowMs()));
  };
  const update = async (request: ApiRequest): Promise<void> => {
    const accessor = request.param('accessor');
    if (accessor === '') return create(request);
    const body = await bodyOf(request);
    const write = writeOf(request, body.Namespace);
    request.answerJson(await updateToken(service, write, accessor, body, nowMs()));
  };
  const read = async (request: ApiRequest): Promise<void> => {
    const accessor = mustHave(request, 'accessor', 'token AccessorID');
    const ns = request.namespace();
    const useCase = request.flag('expanded')
      ? readTokenExpanded(ns, accessor, parts, nowMs)
      : readToken(ns, accessor, nowMs);
    request.answerRead(await service.read(request.caller, request.readOptions(), useCase));
  };
  const list = async (request: ApiRequest): Promise<void> => {
    const selection = {
      policy: request.query('policy'),
      role: request.query('role'),
      servicename: request.query('servicename'),
      authmethod: request.query('authmethod'),
      authmethodNs: request.query('authmethod-ns'),
      filter: filterOf(request.query('filter')),
    };
    const useCase = listTokens(request.namespaceOrAll(), selection, nowMs);
    return answerList(service, request, useCase);
  };

  return [
    { path: '/v1/acl/bootstrap', PUT: (request) => putBootstrap(parts, request) },
    { path: '/v1/acl/token', PUT: create },
    { path: '/v1/acl/tokens', GET: list },
    {
      path: '/v1/acl/token/self',
      GET: async (request) => {
        const useCase = readOwnToken(request.caller.tokenKey);
        request.answerRead(await service.read(request.caller, request.readOptions(), useCase));
      },
    },
    {
      path: '/v1/acl/token/:accessor/clone',
      PUT: async (request) => {
        const accessor = mustHave(request, 'accessor', 'token AccessorID');
        const body = await bodyOf(request);
        const write = writeOf(request, body.Namespace);
        request.answerJson(await cloneToken(service, write, accessor, body, nowMs()));
      },
    },
    {
      path: '/v1/acl/token/:accessor',
      GET: read,
      PUT: update,
      DELETE: async (request) => {
        const accessor = mustHave(request, 'accessor', 'token AccessorID');
        request.answerJson(await deleteToken(service, writeOf(request), accessor));
      },
    },
  ];
}

async function putBootstrap(parts: AclParts, request: ApiRequest): Promise<void> {
  mustKnowSecret(parts, request);
  const sent = await request.bodyValue(BOOTSTRAP_FAILURE, { optional: true, small: true });
  const body = decodeBody(BOOTSTRAP_FAILURE, sent, BOOTSTRAP_FIELDS);
  const { service, nowMs, bootstrapReset: reset } = parts;
  request.answerJson(await bootstrap(service, request, body, { nowMs: nowMs(), reset }));
}

/**
 * Where the configuration has a bootstrap secret, only who knows it makes the first token. Throws
 * 403.
 */
function mustKnowSecret({ bootstrapSecret }: AclParts, { caller }: ApiRequest): void {
  if (bootstrapSecret === undefined) return;
  // hashes of one length, so that the time taken tells nothing
  const wanted = Buffer.from(hash('sha256', bootstrapSecret));
  const given = Buffer.from(caller.tokenKey ?? hash('sha256', ''));
  if (timingSafeEqual(wanted, given)) return;
  reject('permission_denied', 'Permission denied: this bootstrap needs a secret', {
    hint: 'send acl.bootstrapSecret of the node as the token of the request',
  });
}
