/** The routes that every ACL object has, derived from its definition. */
import { NAMED_PATHS, OBJECT_PATHS } from '../../api/operations/object-paths.js';
import type { ListQuery, ObjectUseCases } from '../../service/acl/objects.js';
import { decodeBody } from '../../service/common/decode.js';
import { filterOf } from '../../service/common/filters.js';
import type { Service } from '../../service/common/types.js';
import type { Write } from '../../service/common/writing.js';
import { admit } from '../request/admit.js';
import { answerOne, helpOf, withIdHint } from '../response/hints.js';
import { answerList, mustHave, writeOf } from './acl-common.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

/** The parameters of paths, by the member that they name. */
const PARAMETER = { ID: 'id', AccessorID: 'accessor', Name: 'name' } as const;

const hasNames = (table: string): table is keyof typeof NAMED_PATHS => table in NAMED_PATHS;

/** Namespaces are objects of the whole cluster, whatever namespace a request names. */
const HOME = 'default';

/** List, read, read by name, create, update, delete. */
export function objectRoutes<B>(
  service: Service,
  useCases: ObjectUseCases<B>,
): readonly DeclaredRoute[] {
  const { idLabel, identity, noun, resource, table, title } = useCases.definition;
  const failure = `${title.replace(' ', '')} decoding failed`;
  const missing = `Requested ${noun} does not exist: ACL not found`;
  const isNamespaced = resource === 'acl';
  const paths = OBJECT_PATHS[table];
  const param = PARAMETER[identity];
  const help = helpOf(useCases, paths.one, paths.all);
  const writeFor = (request: ApiRequest, body?: B): Write => writeIn(isNamespaced, request, body);
  const put = async (request: ApiRequest, id: string | undefined): Promise<void> => {
    await admit(request, failure, useCases.admit(request, id));
    const body = decodeBody(failure, await request.body(failure), useCases.body);
    let lint: string | undefined;
    const noteLint = (found: string): void => {
      lint = found;
    };
    const writing = useCases.write({ ...writeFor(request, body), noteLint }, id, body);
    request.answerWritten(await withIdHint(help, id, writing), lint);
  };
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
  const remove = async (request: ApiRequest): Promise<void> => {
    const id = mustHave(request, param, idLabel);
    request.answerJson(await withIdHint(help, id, useCases.remove(writeFor(request), id)));
  };

  const readNamed = async (request: ApiRequest): Promise<void> => {
    const name = mustHave(request, 'name', `${noun} Name`);
    const ns = request.namespace();
    const useCase = useCases.readByName!(ns, name);
    const outcome = await service.read(request.caller, request.readOptions(), useCase);
    answerOne(request, outcome, missing, () => useCases.nearest?.(ns, name));
  };
  return [
    { path: paths.one, PUT: (request) => put(request, undefined) },
    { path: paths.all, GET: list },
    ...(hasNames(table) ? [{ path: NAMED_PATHS[table], GET: readNamed }] : []),
    {
      path: paths.each,
      ...(useCases.definition.secrets.length > 0 && { isSecret: true }),
      GET: read,
      PUT: (request) => put(request, request.param(param) || undefined),
      DELETE: remove,
    },
  ];
}

/** Returns the write of a request, with the namespace of its body if it names one. */
const writeIn = (isNamespaced: boolean, request: ApiRequest, body?: unknown): Write =>
  isNamespaced
    ? writeOf(request, (body as { readonly Namespace?: string } | undefined)?.Namespace)
    : { caller: request.caller, ns: HOME, timeoutMs: request.timeoutMs };

const queryOf = (request: ApiRequest): ListQuery => ({
  filter: filterOf(request.query('filter')),
  policy: request.query('policy'),
  role: request.query('role'),
  servicename: request.query('servicename'),
  authmethod: request.query('authmethod'),
  authmethodNs: request.query('authmethod-ns'),
});
