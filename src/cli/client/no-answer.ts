/** Requests that got no answer, and what to do about them. */

/** A request that got no answer. */
export class NoAnswer extends Error {
  /** Whether the server may have received it. */
  readonly wasSent: boolean;
  readonly reason: NodeJS.ErrnoException;
  constructor(reason: NodeJS.ErrnoException, wasSent: boolean) {
    super(reason.message);
    this.reason = reason;
    this.wasSent = wasSent;
  }
}

/** The reason of a request that timed out. */
export class NoAnswerInTime extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1000} s`);
  }
}

/** Returns what became of a request that a server may have received. */
export const lossOf = (url: URL, { message }: NoAnswer): string =>
  `the connection to ${url.origin} was lost before the answer arrived: ${message}`;

const CERTIFICATE_HINT = 'it may require a client certificate: use --client-cert and --client-key';

/** Returns what to do about a connection that could not be made. */
export function connectionHint(
  url: URL,
  reason: NodeJS.ErrnoException,
  wasSent: boolean,
): string | undefined {
  if (reason instanceof NoAnswerInTime) return 'use --timeout to give the server more time';
  const { code, message } = reason;
  if (code === 'ECONNREFUSED')
    return 'is a node running there? use --http-addr or CONCLAVE_HTTP_ADDR for another address';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'use --tls-server-name to set the name to expect in the certificate';
  if (url.protocol === 'https:' && /\balert\b/.test(message)) return CERTIFICATE_HINT;
  if (/CERT|SIGNATURE/.test(code ?? ''))
    return 'use --ca-file or CONCLAVE_CACERT to name the CA that issued its certificate';
  if (/wrong version number|packet length/i.test(message))
    return `it seems to speak http: try http://${url.host}`;
  if (wasSent && url.protocol === 'http:') return `it may speak https: try https://${url.host}`;
  if (url.protocol === 'https:' && (wasSent || code === 'ECONNRESET')) return CERTIFICATE_HINT;
  return undefined;
}
