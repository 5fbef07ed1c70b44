/** The routes that all ACL objects have, by their definitions. */
import { NAMED_PATHS, OBJECT_PATHS } from '../../api/endpoints/objects.js';
import { allUseCases } from '../../service/acl/object-list.js';
import type { ListQuery, ObjectUseCases } from '../../service/acl/objects.js';
import { patchObject } from '../../service/acl/patch-object.js';
import { filterOf } from '../../service/common/filters.js';
import type { Service } from '../../service/common/types.js';
import type { Write } from '../../service/common/writing.js';
import {
  type AclParts,
  admit,
  answerOne,
  etagOf,
  helpOf,
  type IdHelp,
  mustBePatch,
  mustHave,
  withIdHint,
  writeOf,
} from './common.js';
import { explainRoutes } from './explain.js';
import { identityRoutes } from './identities.js';
import { importRoutes } from './imports.js';
import { lintRoutes } from './lint.js';
import { answerList } from './lists.js';
import { loginRoutes } from './logins.js';
import { subjectIn } from './pages.js';
import { setRoutes } from './sets.js';
import { templateRoutes } from './templated-policies.js';
import { tokenRoutes } from './tokens.js';
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
