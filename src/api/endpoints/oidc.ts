/** Logins at an OpenID provider (beyond.md 7.4). */
import {
  always,
  bodyOf,
  ifSent,
  labels,
  type Sent,
  text,
  whole64,
} from '../../languages/fields.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { ok, read, tagged, write } from './operation.js';
import { rows, shape } from './shapes.js';

const AuthMethod = ifSent('The name of the auth method.', text());
const Namespace = ifSent('The namespace of the auth method.', text());
const ClientNonce = ifSent(
  'A random text that the client keeps, so that nobody else can complete the login.',
  text(),
);

/** What a Prompt may be. */
export const PROMPTS = ['', 'none', 'login', 'select_account'] as const;

/** The body of `POST /v1/acl/oidc/auth-url`. */
export const AUTH_URL = bodyOf({
  AuthMethod,
  RedirectURI: ifSent(
    'Where the provider sends the browser back: one of the AllowedRedirectURIs.',
    text(),
  ),
  ClientNonce,
  Meta: ifSent('Labels that become part of the description of the token.', labels),
  Namespace,
  Prompt: ifSent(
    'What the provider asks of the user. Empty: what it finds fit.',
    text({ values: PROMPTS }),
  ),
});
export type AuthUrlBody = Sent<(typeof AUTH_URL)['fields']>;

/** The body of `POST /v1/acl/oidc/callback`. */
export const CALLBACK = bodyOf({
  AuthMethod,
  State: ifSent('The state that the provider sent back.', text()),
  Code: ifSent('The code that the provider sent back.', text()),
  ClientNonce,
  Namespace,
});
export type CallbackBody = Sent<(typeof CALLBACK)['fields']>;

/** The body of `POST /v1/acl/oidc/renew`. */
export const RENEW = bodyOf({
  AuthMethod,
  Namespace,
  Renewal: ifSent('The Renewal that came with the token. It can be used once.', text()),
});
export type RenewBody = Sent<(typeof RENEW)['fields']>;

const METHODS = rows({
  Name: always('The name of the auth method.', text()),
  DisplayName: always('Its name for humans. Empty if it has none.', text()),
  Kind: always('Always oidc.', text()),
  Namespace: always('Its namespace.', text()),
});

export const OIDC_OPERATIONS = tagged('login', {
  'POST /v1/acl/oidc/auth-url': read('oidcAuthUrl', {
    description: 'Returns the address at which a user logs in. Nothing is written.',
    body: { members: AUTH_URL.fields },
    answers: ok('The address.', shape({ AuthURL: always('The address.', text()) })),
    refuses: [503],
  }),
  'POST /v1/acl/oidc/callback': write('oidcCallback', {
    description: 'Completes a login, which creates a token.',
    body: { members: CALLBACK.fields },
    answers: ok('The token.', 'OidcToken'),
  }),
  'POST /v1/acl/oidc/renew': write('oidcRenew', {
    description:
      'Replaces the token of the request by a new one, for which the provider is asked ' +
      'again who the user is.',
    body: { members: RENEW.fields },
    answers: ok('The new token.', 'OidcToken'),
  }),
  'POST /v1/acl/oidc/logout': write('oidcLogout', {
    description: 'Deletes the token of the request, which must come from an OIDC login.',
    answers: ok(
      'Where to go on.',
      shape({
        LogoutURL: always(
          'Where the session at the provider ends. Empty if the provider does not tell.',
          text(),
        ),
      }),
    ),
    refuses: [401],
  }),
  'GET /v1/internal/ui/oidc-auth-methods': read('listOidcAuthMethods', {
    description: 'Lists the auth methods of a namespace by which a browser can log in.',
    answers: ok('The auth methods.', METHODS, 'index'),
    blocks: true,
  }),
  'POST /v1/operator/oidc/rotate': write('rotateOidcKey', {
    level: COMMAND_LEVELS['oidc.rotate']!,
    description:
      'Makes a new key for what clients keep of OIDC logins. What older keys than the one ' +
      'before it have encrypted is refused.',
    answers: ok('The index.', shape({ ModifyIndex: always('The index of the change.', whole64) })),
    rights: ['operator:write', 'acl:write'],
  }),
});
