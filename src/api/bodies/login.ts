/** The bodies of a login and of a bootstrap: the two ways to a token that need none. */
import { bodyOf, given, labels, type Normal, text } from '../../languages/fields.js';

/** The body of a login. */
export const LOGIN = bodyOf({
  AuthMethod: given('The name of the auth method.', text()),
  BearerToken: given('The token that proves the identity of the client.', text()),
  Meta: given('Labels that become part of the description of the token.', labels),
  Namespace: given('The namespace of the auth method.', text()),
});
/** A decoded login. */
export type LoginBody = Normal<typeof LOGIN>;

/** The body of a bootstrap. */
export const BOOTSTRAP = bodyOf({
  BootstrapSecret: given(
    'The SecretID of the first token, a UUID. By default, the server generates one.',
    text(),
  ),
});
/** A decoded body of a bootstrap. */
export type BootstrapBody = Normal<typeof BOOTSTRAP>;
