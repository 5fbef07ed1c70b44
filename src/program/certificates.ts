/** When the certificates that a configuration names expire. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.js';
import type { Log } from '../log/log.js';
import { endOfLists, revocationLists } from '../transport/revocation-lists.js';

/** The end of the certificates, or of the lists of revoked ones, in one file. */
export interface CertificateEnd {
  /** The label of the metric: `api`, `api_ca`, `raft`, `raft_ca` or `raft_crl`. */
  readonly use: string;
  readonly setting: string;
  /** Unix milliseconds. */
  readonly notAfterMs: number;
}

/** The use of the lists of revoked certificates. */
const LIST_USE = 'raft_crl';
/** How long before its end the log warns of a certificate. */
const WARN_DAYS = 30;
/** How often it does. */
const DAY_MS = 86_400_000;

/**
 * Reads when the certificates expire. Of a certificate and its chain the first end counts, since
 * the chain breaks then; of authorities the last one, since a file may still hold an old one; of
 * lists the first end of an authority's last list. Files that cannot be read are left out.
 */
export function certificateEnds({ http, raft }: Pick<Config, 'http' | 'raft'>): CertificateEnd[] {
  const ends: CertificateEnd[] = [];
  const add = (use: string, setting: string, path: string | undefined, of: typeof Math.min) => {
    const all = path === undefined ? [] : endsIn(path);
    if (all.length > 0) ends.push({ use, setting, notAfterMs: of(...all) });
  };
  for (const [use, tls] of [['api', http.tls] as const, ['raft', raft.tls] as const]) {
    const where = use === 'api' ? 'http.tls' : 'raft.tls';
    add(use, `${where}.cert`, tls?.cert, Math.min);
    add(`${use}_ca`, `${where}.ca`, tls?.ca, Math.max);
  }
  const listEnd = endOfListsIn(raft.tls?.crl);
  if (listEnd !== undefined)
    ends.push({ use: LIST_USE, setting: 'raft.tls.crl', notAfterMs: listEnd });
  return ends;
}

/** Returns when the lists of revoked certificates in a file must be renewed, if ever. */
function endOfListsIn(path: string | undefined): number | undefined {
  try {
    return path === undefined ? undefined : endOfLists(revocationLists(readFileSync(path, 'utf8')));
  } catch {
    // checkKeyFiles reports it.
    return undefined;
  }
}

/** Returns the ends of all certificates in a PEM file. */
function endsIn(path: string): number[] {
  try {
    const text = readFileSync(path, 'utf8');
    const all = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    return all.map((pem) => Date.parse(new X509Certificate(pem).validTo));
  } catch {
    // checkKeyFiles reports it.
    return [];
  }
}

/** Returns a warning for each certificate that has expired or is about to. */
export function expiryWarnings(ends: readonly CertificateEnd[], nowMs: number): string[] {
  return ends.flatMap(({ use, setting, notAfterMs }) => {
    const what = `${setting}: the ${nounOf(use)}`;
    const at = new Date(notAfterMs).toISOString();
    const days = Math.floor((notAfterMs - nowMs) / DAY_MS);
    if (notAfterMs <= nowMs) return [`${what} expired at ${at}`];
    if (days >= WARN_DAYS) return [];
    const left = days === 0 ? 'less than a day' : `${days} ${days === 1 ? 'day' : 'days'}`;
    return [`${what} expires at ${at}, in ${left}; renew it and send SIGHUP`];
  });
}

function nounOf(use: string): string {
  if (use === LIST_USE) return 'list of revoked certificates';
  return use.endsWith('_ca') ? 'authority' : 'certificate';
}

/** The certificates in use: when they expire, and warnings in the log before they do. */
export class CertificateWatch {
  readonly #config: Config;
  readonly #log: Log;
  #ends: readonly CertificateEnd[];
  #timer: NodeJS.Timeout | undefined;

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#ends = certificateEnds(config);
  }

  get ends(): readonly CertificateEnd[] {
    return this.#ends;
  }

  /** Warns now, and once a day. */
  start(): void {
    this.#warn();
    this.#timer = setInterval(() => this.#warn(), DAY_MS).unref();
  }

  /** Reads the files again: what they hold is in use now. */
  reload(): void {
    this.#ends = certificateEnds(this.#config);
    this.#warn();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #warn(): void {
    for (const warning of expiryWarnings(this.#ends, Date.now()))
      this.#log.warn({ event: 'certificate_expires' }, warning);
  }
}
