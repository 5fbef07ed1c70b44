/** URLs as the audit log and decisions show them: without the secrets that clients put there. */
import type { IncomingMessage } from 'node:http';
import { HIDDEN } from '../../service/common/reading.js';
import { isSecretId, withoutSecrets } from '../../service/explain/secrets.js';
import type { Front } from '../front.js';
import { decode } from './parameters.js';

/** Parameters with a secret: the token, and what a provider of identities sends to a page. */
const SECRETS: ReadonlySet<string> = new Set(['token', 'code', 'state']);

/** Segments and values that are long enough for a SecretID: shorter ones are words. */
const PARTS = /[^/?&=]{16,}/g;

/** Returns the path and query of a request with what is secret hidden, however it is written. */
export function shownUrl(
  { options }: { readonly options: Pick<Front['options'], 'service'> },
  { url = '' }: IncomingMessage,
): string {
  const shown = url.replace(PARTS, (part) => {
    const text = decode(part) ?? part;
    const { view } = options.service;
    return isSecretId(view, text) || withoutSecrets(view, text) !== text ? HIDDEN : part;
  });
  const end = shown.indexOf('?');
  if (end < 0) return shown;
  const query = shown
    .slice(end + 1)
    .split('&')
    .map((pair) => {
      const name = pair.split('=', 1)[0]!;
      return isSecretName(name) ? `${name}=${HIDDEN}` : pair;
    });
  return `${shown.slice(0, end)}?${query.join('&')}`;
}

/** Whether a parameter has a secret. One that cannot be read may have. */
function isSecretName(sent: string): boolean {
  const name = decode(sent.replaceAll('+', ' '));
  return name === undefined || SECRETS.has(name.trim().toLowerCase());
}
