/** Routes of login and logout. */
import { LOGIN } from '../../api/bodies/login.js';
import { reject } from '../../base/errors.js';
import { decodeBody } from '../../service/common/decode.js';
import { login, logout } from '../../service/login/login.js';
import type { AclParts } from './acl-common.js';
import type { DeclaredRoute } from './types.js';

const LOGIN_FAILURE = 'Failed to decode request body';

/** Login and logout. */
export function loginRoutes(parts: AclParts): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/acl/login',
      counts: 'login',
      POST: async (request) => {
        const sent = await request.bodyValue(LOGIN_FAILURE, { small: true });
        if (sent === null) reject('invalid', 'Invalid Login request: Missing auth parameters');
        const body = decodeBody(LOGIN_FAILURE, sent, LOGIN);
        const { timeoutMs } = request;
        const ns = request.namespace(body.Namespace);
        const method = `${ns}/${(body.AuthMethod ?? '').toLowerCase()}`;
        // after the token is verified: others cannot spend what the users of a method have
        const admit = (subject: string): void => {
          request.spendLogin('loginsPerIdentity', `${method}/${subject}`);
          request.spendLogin('loginsPerMethod', method);
        };
        request.answerJson(await login(parts, { ns, timeoutMs, admit }, body));
      },
    },
    {
      path: '/v1/acl/logout',
      POST: async (request) => request.answerJson(await logout(parts.service, request)),
    },
  ];
}
