/** What helps a caller whose token did not arrive, or is not known. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../../base/errors.js';

/** Headers in which other servers take a token, with the spelling in which they are shown. */
const ELSEWHERE: readonly (readonly [name: string, shown: string])[] = [
  ['x-api-token', 'X-Api-Token'],
  ['x-api-key', 'X-Api-Key'],
  ['x-auth-token', 'X-Auth-Token'],
  ['x-access-token', 'X-Access-Token'],
  ['x-vault-token', 'X-Vault-Token'],
  ['x-nomad-token', 'X-Nomad-Token'],
  ['x-token', 'X-Token'],
  ['token', 'Token'],
];

/**
 * Returns what helps against a refusal; undefined if it has nothing to do with how the token was
 * sent. `header` is the name of the header for tokens. Quotes nothing of the request.
 */
export function tokenHint(
  { code, about }: Refusal,
  headers: IncomingHttpHeaders,
  { hasToken, header }: { readonly hasToken: boolean; readonly header: string },
): string | undefined {
  if (hasToken) {
    return about?.kind === 'caller' ? 'the token sent is not known to this cluster' : undefined;
  }
  const needsToken = about?.kind === 'denied' || about?.kind === 'token';
  if (!needsToken && code !== 'unauthenticated') return undefined;
  return `${whyNone(headers)}; send it as "${header}: TOKEN" or "Authorization: Bearer TOKEN"`;
}

function whyNone(headers: IncomingHttpHeaders): string {
  if (headers.authorization) return 'the header Authorization does not hold "Bearer TOKEN"';
  const found = ELSEWHERE.find(([name]) => headers[name] !== undefined);
  if (found !== undefined) return `the header ${found[1]} is not read here`;
  return 'no token came with the request';
}
