/** Routes of logins: by a bearer token, and at an OpenID provider. */
import { AUTH_URL, CALLBACK, RENEW } from '../../api/endpoints/oidc.js';
import { LOGIN } from '../../api/endpoints/tokens.js';
import { reject } from '../../base/errors.js';
import { decodeBody } from '../../service/common/decode.js';
import { type LoginParts, type LoginRequest, login, logout } from '../../service/login/login.js';
import {
  authUrl,
  browserMethods,
  completeLogin,
  oidcLogout,
  renewLogin,
  rotateKey,
} from '../../service/oidc/logins.js';
import { UNDECODED } from './common.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const SMALL = { small: true };

export const loginRoutes = (parts: LoginParts): readonly DeclaredRoute[] => [
  ...bearerRoutes(parts),
  ...oidcRoutes(parts),
];

function bearerRoutes(parts: LoginParts): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/acl/login',
      counts: 'login',
      POST: async (request) => {
        const sent = await request.bodyValue(UNDECODED, LOGIN, SMALL);
        if (sent === null) reject('invalid', 'Invalid Login request: Missing auth parameters');
        const body = decodeBody(UNDECODED, sent, LOGIN);
        request.answerJson(await login(parts, loginRequest(request, body), body));
      },
    },
    {
      path: '/v1/acl/logout',
      POST: async (request) => request.answerJson(await logout(parts.service, request)),
    },
  ];
}

const OF_LOGIN = { counts: 'login', isNew: true, isSecret: true } as const;

function oidcRoutes(parts: LoginParts): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/acl/oidc/auth-url',
      ...OF_LOGIN,
      POST: async (request) => {
        const body = await request.decoded(UNDECODED, AUTH_URL, SMALL);
        const AuthURL = await authUrl(parts, loginRequest(request, body), body);
        request.answerValue({ AuthURL });
      },
    },
    {
      path: '/v1/acl/oidc/callback',
      ...OF_LOGIN,
      POST: async (request) => {
        const body = await request.decoded(UNDECODED, CALLBACK, SMALL);
        request.answerJson(await completeLogin(parts, loginRequest(request, body), body));
      },
    },
    {
      path: '/v1/acl/oidc/renew',
      ...OF_LOGIN,
      POST: async (request) => {
        const body = await request.decoded(UNDECODED, RENEW, SMALL);
        const { tokenKey } = request.caller;
        request.answerJson(await renewLogin(parts, loginRequest(request, body), tokenKey, body));
      },
    },
    {
      path: '/v1/acl/oidc/logout',
      isNew: true,
      POST: async (request) => {
        request.answerValue({ LogoutURL: await oidcLogout(parts, request) });
      },
    },
    {
      path: '/v1/internal/ui/oidc-auth-methods',
      isNew: true,
      GET: async (request) => {
        const useCase = browserMethods(request.namespace());
        const { service } = parts;
        request.answerRead(await service.read(request.caller, request.readOptions(), useCase));
      },
    },
    {
      path: '/v1/operator/oidc/rotate',
      isNew: true,
      POST: async (request) => request.answerJson(await rotateKey(parts.service, request)),
    },
  ];
}

function loginRequest(
  request: ApiRequest,
  body: { readonly AuthMethod?: string; readonly Namespace?: string },
): LoginRequest {
  const { timeoutMs, reason, notes } = request;
  const ns = request.namespace(body.Namespace);
  const method = `${ns}/${(body.AuthMethod ?? '').toLowerCase()}`;
  // after the login is verified: others cannot spend what the users of a method have
  const admit = (subject: string): void => {
    request.spendLogin('loginsPerIdentity', `${method}/${subject}`);
    request.spendLogin('loginsPerMethod', method);
  };
  return { ns, timeoutMs, reason, admit, notes };
}
