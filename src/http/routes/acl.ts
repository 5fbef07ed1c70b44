/** The routes of ACL objects: those that all have, by their definitions, and those of one. */
import { hash, timingSafeEqual } from 'node:crypto';
import { NAMED_PATHS, OBJECT_PATHS } from '../../api/endpoints/objects.js';
import { BOOTSTRAP, PREVIEW_VARIABLES } from '../../api/endpoints/tokens.js';
import { reject } from '../../base/errors.js';
import { bootstrap } from '../../service/acl/bootstrap.js';
import { allUseCases } from '../../service/acl/object-list.js';
import type { ListQuery, ObjectUseCases } from '../../service/acl/objects.js';
import { patchObject } from '../../service/acl/patch-object.js';
import {
  listTemplates,
  mustPreview,
  previewTemplate,
  readTemplate,
} from '../../service/acl/templated-policies.js';
import { readOwnToken, refuseOwnToken } from '../../service/acl/token-reads.js';
import { cloneToken, TOKEN_BODY } from '../../service/acl/tokens.js';
import { decodeValue } from '../../service/common/decode.js';
import { filterOf } from '../../service/common/filters.js';
import type { Service } from '../../service/common/types.js';
import { maySomewhere, type Write } from '../../service/common/writing.js';
import {
  type AclParts,
  admit,
  answerList,
  answerOne,
  etagOf,
  helpOf,
  type IdHelp,
  mustBePatch,
  mustHave,
  UNDECODED,
  withIdHint,
  writeOf,
} from './common.js';
import { explainRoutes, lintRoutes } from './explain.js';
import { identityRoutes } from './identities.js';
import { importRoutes } from './imports.js';
import { loginRoutes } from './logins.js';
import { subjectIn } from './pages.js';
import { setRoutes } from './sets.js';
import type { ApiRequest, DeclaredRoute } from './types.js';
import { usageRoutes } from './usage.js';

/** Fixed paths stand before those with parameters. */
export const aclRoutes = (parts: AclParts): readonly DeclaredRoute[] => [
  ...lintRoutes(parts),
  ...explainRoutes(parts),
  ...tokenRoutes(parts),
  ...identityRoutes(parts),
  ...usageRoutes(parts),
  ...importRoutes(parts),
  ...setRoutes(parts),
  ...allUseCases(parts).flatMap((useCases) => objectRoutes(parts.service, useCases)),
  ...templateRoutes(parts),
  ...loginRoutes(parts),
];

/** The parameters of paths, by the member that they name. */
const PARAMETER = { ID: 'id', AccessorID: 'accessor', Name: 'name' } as const;

const hasNames = (table: string): table is keyof typeof NAMED_PATHS => table in NAMED_PATHS;

/** Namespaces are objects of the whole cluster, whatever namespace a request names. */
const HOME = 'default';

/** List, read, read by name, create, update, delete. */
function objectRoutes<B>(service: Service, useCases: ObjectUseCases<B>): readonly DeclaredRoute[] {
  const { idLabel, identity, noun, resource, table } = useCases.definition;
  const missing = `Requested ${noun} does not exist: ACL not found`;
  const isNamespaced = resource === 'acl';
  const paths = OBJECT_PATHS[table];
  const param = PARAMETER[identity];
  const help = helpOf(useCases, paths.one, paths.all);
  const { put, patch, remove } = writesOf(service, useCases, help);
  const list = async (request: ApiRequest): Promise<void> => {
    const ns = isNamespaced ? request.namespaceOrAll() : HOME;
    const useCase = useCases.list(ns, queryOf(request));
    await answerList(service, request, useCase, isNamespaced ? undefined : true);
  };
  const read = async (request: ApiRequest): Promise<void> => {
    const id = mustHave(request, param, idLabel);
    const ns = isNamespaced ? request.namespace() : HOME;
    const useCase = useCases.read(ns, id, request.flag('expanded'));
    const reading = service.read(request.caller, request.readOptions(), useCase);
    const outcome = await withIdHint(help, id, reading);
    answerOne(request, outcome, missing, () => useCases.nearest?.(ns, id));
  };
  const readNamed = async (request: ApiRequest): Promise<void> => {
    const name = mustHave(request, 'name', `${noun} Name`);
    const ns = request.namespace();
    const useCase = useCases.readByName!(ns, name);
    const outcome = await service.read(request.caller, request.readOptions(), useCase);
    answerOne(request, outcome, missing, () => useCases.nearest?.(ns, name));
  };
  const ifNoneMatch = identity === 'Name' && ({ ifMatch: true, ifNoneMatch: true } as const);
  return [
    { path: paths.one, ...ifNoneMatch, PUT: (request) => put(request, undefined) },
    { path: paths.all, GET: list },
    ...(hasNames(table) ? [{ path: NAMED_PATHS[table], GET: readNamed }] : []),
    {
      path: paths.each,
      ifMatch: true,
      ...ifNoneMatch,
      ...(useCases.definition.secrets.length > 0 && { isSecret: true }),
      GET: read,
      PUT: (request) => put(request, request.param(param) || undefined),
      PATCH: patch,
      DELETE: remove,
    },
  ];
}

/** Create, update, change, delete. */
function writesOf<B>(service: Service, useCases: ObjectUseCases<B>, help: IdHelp) {
  const { idLabel, identity, resource, title } = useCases.definition;
  const failure = `${title.replace(' ', '')} decoding failed`;
  const param = PARAMETER[identity];
  const isNamespaced = resource === 'acl';
  const writeFor = (request: ApiRequest, body?: B): Write => writeIn(isNamespaced, request, body);
  const put = async (request: ApiRequest, id: string | undefined): Promise<void> => {
    await admit(request, failure, useCases.admit(request, id));
    const body = await request.decoded(failure, useCases.body);
    const write = writeFor(request, body);
    await answer(request, write, id, (noted) => useCases.write(noted, id, body));
  };
  const answer = async (
    request: ApiRequest,
    write: Write,
    id: string | undefined,
    work: (write: Write) => Promise<string>,
    hasTag = write.match !== undefined,
  ): Promise<void> => {
    let lint: string | undefined;
    const noteLint = (found: string): void => {
      lint = found;
    };
    const text = await withIdHint(help, id, work({ ...write, noteLint }));
    request.answerWritten(text, { lint, etag: hasTag ? etagOf(text) : undefined });
  };
  const patch = async (request: ApiRequest): Promise<void> => {
    mustBePatch(request);
    const id = mustHave(request, param, idLabel);
    await admit(request, failure, useCases.admit(request, id));
    const sent = await request.body(failure, useCases.body);
    const work = (write: Write) => patchObject(service, useCases, write, { id, sent, failure });
    await answer(request, writeFor(request, sent as B), id, work, true);
  };
  const remove = async (request: ApiRequest): Promise<void> => {
    const id = mustHave(request, param, idLabel);
    request.answerJson(await withIdHint(help, id, useCases.remove(writeFor(request), id)));
  };
  return { put, patch, remove };
}

/** Returns the write of a request, with the namespace of its body if it names one. */
const writeIn = (isNamespaced: boolean, request: ApiRequest, body?: unknown): Write =>
  isNamespaced
    ? writeOf(request, (body as { readonly Namespace?: string } | undefined)?.Namespace)
    : { ...writeOf(request), ns: HOME };

const queryOf = (request: ApiRequest): ListQuery => ({
  filter: filterOf(request.query('filter'), request.query('search')),
  policy: request.query('policy'),
  role: request.query('role'),
  servicename: request.query('servicename'),
  authmethod: request.query('authmethod'),
  subject: subjectIn(request),
  authmethodNs: request.query('authmethod-ns'),
});

const TOKEN_FAILURE = 'Token decoding failed';
const BOOTSTRAP_FAILURE = 'Request decoding failed';

/** Bootstrap, the token of the request, and clones. */
export function tokenRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const { service, nowMs } = parts;
  return [
    { path: '/v1/acl/bootstrap', PUT: (request) => putBootstrap(parts, request) },
    {
      path: '/v1/acl/token/self',
      GET: async (request) => {
        const useCase = readOwnToken(request.caller.tokenKey, request.flag('expanded'));
        const outcome = service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(await outcome.catch(refuseOwnToken));
      },
    },
    {
      path: '/v1/acl/token/:accessor/clone',
      PUT: async (request) => {
        const accessor = mustHave(request, 'accessor', 'token AccessorID');
        await admit(request, TOKEN_FAILURE, maySomewhere(service, request, 'acl', 'write'));
        const body = await request.decoded(TOKEN_FAILURE, TOKEN_BODY);
        const write = writeOf(request, body.Namespace);
        request.answerJson(await cloneToken(service, write, accessor, body, nowMs()));
      },
    },
  ];
}

async function putBootstrap(parts: AclParts, request: ApiRequest): Promise<void> {
  mustKnowSecret(parts, request);
  const how = { optional: true, small: true };
  const body = await request.decoded(BOOTSTRAP_FAILURE, BOOTSTRAP, how);
  const { service, nowMs, bootstrapReset: reset } = parts;
  request.answerJson(await bootstrap(service, request, body, { nowMs: nowMs(), reset }));
}

/**
 * Checks the bootstrap secret, if the node has one: only callers who know it create the first
 * token. Throws ApiError 403.
 */
function mustKnowSecret({ bootstrapSecret }: AclParts, { caller }: ApiRequest): void {
  if (bootstrapSecret === undefined) return;
  // Hashes have one length, so that the duration of the comparison reveals nothing.
  const wanted = Buffer.from(hash('sha256', bootstrapSecret));
  const given = Buffer.from(caller.tokenKey ?? hash('sha256', ''));
  if (timingSafeEqual(wanted, given)) return;
  reject('permission_denied', 'Permission denied: this bootstrap needs a secret', {
    hint: 'send acl.bootstrapSecret of the node as the token of the request',
  });
}

const WHAT = 'templated policy Name';

/** Templated policies: list, read and preview them. */
function templateRoutes({ service }: AclParts): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/acl/templated-policies',
      GET: async (request) => request.answerValue(await listTemplates(service, writeOf(request))),
    },
    {
      path: '/v1/acl/templated-policy/name/:name',
      GET: async (request) => {
        const name = mustHave(request, 'name', WHAT);
        request.answerValue(await readTemplate(service, writeOf(request), name));
      },
    },
    {
      path: '/v1/acl/templated-policy/preview/:name',
      counts: 'read',
      POST: async (request) => {
        const name = mustHave(request, 'name', WHAT);
        await mustPreview(service, writeOf(request), name);
        const body = (await request.bodyValue(UNDECODED, PREVIEW_VARIABLES)) ?? {};
        const variables = decodeValue(UNDECODED, body, PREVIEW_VARIABLES);
        request.answerValue(previewTemplate(name, variables));
      },
    },
  ];
}
