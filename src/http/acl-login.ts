/** Routes of auth methods, binding rules, login and logout. */

import { reject } from '../errors.js';
import {
  deleteMethod,
  listMethods,
  METHOD_FIELDS,
  readMethod,
  writeMethod,
} from '../service/auth-methods.js';
import {
  deleteRule,
  listRules,
  RULE_FIELDS,
  readRule,
  writeRule,
} from '../service/binding-rules.js';
import { decodeBody } from '../service/decode.js';
import { filterOf } from '../service/filters.js';
import { LOGIN_FIELDS, login, logout } from '../service/login.js';
import { mayWriteSomewhere } from '../service/writing.js';
import { type AclParts, answerList, mustHave, writeOf } from './acl-common.js';
import { admit } from './admit.js';
import type { ApiRequest, Route } from './types.js';

const METHOD_FAILURE = 'AuthMethod decoding failed';
const RULE_FAILURE = 'BindingRule decoding failed';
const LOGIN_FAILURE = 'Failed to decode request body';

export function methodRoutes(parts: AclParts): readonly Route[] {
  const { service } = parts;
  const put = async (request: ApiRequest, name: string | undefined): Promise<void> => {
    await admit(request, METHOD_FAILURE, mayWriteSomewhere(service, request));
    const body = decodeBody(METHOD_FAILURE, await request.body(METHOD_FAILURE), METHOD_FIELDS);
    const write = writeOf(request, body.Namespace);
    request.answerJson(await writeMethod(parts, write, name, body));
  };
  return [
    { path: '/v1/acl/auth-method', PUT: (request) => put(request, undefined) },
    {
      path: '/v1/acl/auth-methods',
      GET: async (request) => {
        const useCase = listMethods(request.namespaceOrAll(), filterOf(request.query('filter')));
        await answerList(service, request, useCase);
      },
    },
    {
      path: '/v1/acl/auth-method/:name',
      GET: async (request) => {
        const name = mustHave(request, 'name', 'auth method name');
        const useCase = readMethod(request.namespace(), name);
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(outcome, 'Requested auth method does not exist: ACL not found');
      },
      PUT: (request) => put(request, request.param('name') || undefined),
      DELETE: async (request) => {
        const name = mustHave(request, 'name', 'auth method name');
        request.answerJson(await deleteMethod(service, writeOf(request), name));
      },
    },
  ];
}

export function ruleRoutes({ service, methodTypes }: AclParts): readonly Route[] {
  const put = async (request: ApiRequest, id: string | undefined): Promise<void> => {
    await admit(request, RULE_FAILURE, mayWriteSomewhere(service, request));
    const body = decodeBody(RULE_FAILURE, await request.body(RULE_FAILURE), RULE_FIELDS);
    const write = writeOf(request, body.Namespace);
    request.answerJson(await writeRule(service, write, methodTypes, id, body));
  };
  return [
    { path: '/v1/acl/binding-rule', PUT: (request) => put(request, undefined) },
    {
      path: '/v1/acl/binding-rules',
      GET: async (request) => {
        const useCase = listRules(request.namespaceOrAll(), {
          authmethod: request.query('authmethod'),
          filter: filterOf(request.query('filter')),
        });
        await answerList(service, request, useCase);
      },
    },
    {
      path: '/v1/acl/binding-rule/:id',
      GET: async (request) => {
        const useCase = readRule(request.namespace(), mustHave(request, 'id', 'binding rule ID'));
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(outcome, 'Requested binding rule does not exist: ACL not found');
      },
      PUT: (request) => put(request, request.param('id') || undefined),
      DELETE: async (request) => {
        const id = mustHave(request, 'id', 'binding rule ID');
        request.answerJson(await deleteRule(service, writeOf(request), id));
      },
    },
  ];
}

export function loginRoutes(parts: AclParts): readonly Route[] {
  return [
    {
      path: '/v1/acl/login',
      counts: 'login',
      POST: async (request) => {
        const sent = await request.bodyValue(LOGIN_FAILURE, { small: true });
        if (sent === null) reject('invalid', 'Invalid Login request: Missing auth parameters');
        const body = decodeBody(LOGIN_FAILURE, sent, LOGIN_FIELDS);
        const { timeoutMs } = request;
        const ns = request.namespace(body.Namespace);
        const method = `${ns}/${(body.AuthMethod ?? '').toLowerCase()}`;
        request.spendLogin('loginsPerMethod', method);
        const admit = (subject: string): void =>
          request.spendLogin('loginsPerIdentity', `${method}/${subject}`);
        request.answerJson(await login(parts, { ns, timeoutMs, admit }, body));
      },
    },
    {
      path: '/v1/acl/logout',
      POST: async (request) => request.answerJson(await logout(parts.service, request)),
    },
  ];
}
