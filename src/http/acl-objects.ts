/** The routes that every ACL object has, derived from its definition. */
import { isUuid } from '../acl/names.js';
import { decodeBody } from '../service/decode.js';
import { filterOf } from '../service/filters.js';
import type { ListQuery, ObjectUseCases } from '../service/objects.js';
import type { ReadOutcome, Service } from '../service/types.js';
import type { Write } from '../service/writing.js';
import { answerList, mustHave, writeOf } from './acl-common.js';
import { admit } from './admit.js';
import { isHeld, suggestion, withHint } from './hints.js';
import type { ApiRequest, Route } from './types.js';

/** The parameters of paths, by the member that they name. */
const PARAMETER = { ID: 'id', AccessorID: 'accessor', Name: 'name' } as const;

/** Names that a hint repeats. Others stay out of it. */
const PLAIN_NAME = /^[\w-]{1,64}$/;

/** Namespaces are objects of the whole cluster, whatever namespace a request names. */
const HOME = 'default';

/** The paths of an object, with its use cases. */
interface Group<B> {
  readonly service: Service;
  readonly useCases: ObjectUseCases<B>;
  /** Of one object, without what names it. */
  readonly path: string;
  readonly listPath: string;
  readonly param: (typeof PARAMETER)[keyof typeof PARAMETER];
  readonly isNamespaced: boolean;
}

/** List, read, read by name, create, update, delete. */
export function objectRoutes<B>(service: Service, useCases: ObjectUseCases<B>): readonly Route[] {
  const { identity, noun, plural, resource } = useCases.definition;
  const isNamespaced = resource === 'acl';
  const pathOf = (words: string): string =>
    `${isNamespaced ? '/v1/acl' : '/v1'}/${words.replace(' ', '-')}`;
  const path = pathOf(noun);
  const listPath = pathOf(plural);
  const param = PARAMETER[identity];
  const group = { service, useCases, path, listPath, param, isNamespaced };
  const { put, remove } = writesOf(group);
  const { list, read, readNamed } = readsOf(group);
  return [
    { path, PUT: (request) => put(request, undefined) },
    { path: listPath, GET: list },
    ...(readNamed === undefined ? [] : [{ path: `${path}/name/:name`, GET: readNamed }]),
    {
      path: `${path}/:${param}`,
      GET: read,
      PUT: (request) => put(request, request.param(param) || undefined),
      DELETE: remove,
    },
  ];
}

function writesOf<B>(group: Group<B>) {
  const { isNamespaced, param, useCases } = group;
  const { idLabel, title } = useCases.definition;
  const failure = `${title.replace(' ', '')} decoding failed`;
  const writeFor = (request: ApiRequest, body?: B): Write =>
    isNamespaced
      ? writeOf(request, (body as { readonly Namespace?: string } | undefined)?.Namespace)
      : { caller: request.caller, ns: HOME, timeoutMs: request.timeoutMs };
  return {
    async put(request: ApiRequest, id: string | undefined): Promise<void> {
      await admit(request, failure, useCases.admit(request, id));
      const body = decodeBody(failure, await request.body(failure), useCases.body);
      let lint: string | undefined;
      const noteLint = (found: string): void => {
        lint = found;
      };
      const writing = useCases.write({ ...writeFor(request, body), noteLint }, id, body);
      request.answerWritten(await withIdHint(group, id, writing), lint);
    },
    async remove(request: ApiRequest): Promise<void> {
      const id = mustHave(request, param, idLabel);
      request.answerJson(await withIdHint(group, id, useCases.remove(writeFor(request), id)));
    },
  };
}

function readsOf<B>(group: Group<B>) {
  const { isNamespaced, param, service, useCases } = group;
  const { idLabel, identity, noun } = useCases.definition;
  const missing = `Requested ${noun} does not exist: ACL not found`;
  const { readByName } = useCases;
  const answer = (
    request: ApiRequest,
    outcome: ReadOutcome<string | undefined>,
    named?: { readonly ns: string; readonly name: string },
  ): void => {
    if (outcome.value === undefined) {
      const asked = isHeld(request) ? undefined : named;
      const near = asked && useCases.nearest?.(asked.ns, asked.name);
      request.answerMissing(outcome, missing, suggestion(near));
    } else request.answerRead(outcome);
  };
  return {
    async list(request: ApiRequest): Promise<void> {
      const ns = isNamespaced ? request.namespaceOrAll() : HOME;
      const useCase = useCases.list(ns, queryOf(request));
      await answerList(service, request, useCase, isNamespaced ? undefined : true);
    },
    async read(request: ApiRequest): Promise<void> {
      const id = mustHave(request, param, idLabel);
      const ns = isNamespaced ? request.namespace() : HOME;
      const useCase = useCases.read(ns, id, request.flag('expanded'));
      const reading = service.read(request.caller, request.readOptions(), useCase);
      const outcome = await withIdHint(group, id, reading);
      answer(request, outcome, identity === 'Name' ? { ns, name: id } : undefined);
    },
    ...(readByName !== undefined && {
      async readNamed(request: ApiRequest): Promise<void> {
        const name = mustHave(request, 'name', `${noun} Name`);
        const ns = request.namespace();
        const useCase = readByName(ns, name);
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        answer(request, outcome, { ns, name });
      },
    }),
  };
}

/** Returns what `work` does. A refusal of an id that is none says what it may be. */
function withIdHint<B, T>(group: Group<B>, id: string | undefined, work: Promise<T>): Promise<T> {
  const { listPath, path, useCases } = group;
  if (id === undefined || useCases.definition.identity === 'Name' || isUuid(id)) return work;
  const list = `the list is ${listPath}`;
  const name = PLAIN_NAME.test(id) ? id : ':name';
  const byName = `by name it is ${path}/name/${name}; `;
  return withHint(work, /UUID/, (useCases.readByName === undefined ? '' : byName) + list);
}

const queryOf = (request: ApiRequest): ListQuery => ({
  filter: filterOf(request.query('filter')),
  policy: request.query('policy'),
  role: request.query('role'),
  servicename: request.query('servicename'),
  authmethod: request.query('authmethod'),
  authmethodNs: request.query('authmethod-ns'),
});
