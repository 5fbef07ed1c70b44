/**
 * Lists of revoked certificates (RFC 5280, section 5): who issued them and when they end, which
 * Node does not tell. Signatures are checked by OpenSSL, when members connect.
 *
 *     CertificateList  SEQUENCE { tbsCertList, signatureAlgorithm, signature }
 *     TBSCertList      SEQUENCE { version?, signature, issuer, thisUpdate, nextUpdate?, … }
 *     Certificate      SEQUENCE { tbsCertificate, … }
 *     TBSCertificate   SEQUENCE { [0] version?, serialNumber, signature, issuer, … }
 */
import type { X509Certificate } from 'node:crypto';

/** What a list says about itself. */
export interface RevocationList {
  /** The name of the authority in DER, as hexadecimal digits. */
  readonly issuer: string;
  /** Unix milliseconds; undefined for a list without an end. */
  readonly nextUpdateMs: number | undefined;
}

/** The first byte of a value, by its type. */
const TAG = { integer: 0x02, sequence: 0x30, utcTime: 0x17, time: 0x18, version: 0xa0 } as const;
const BEGIN = '-----BEGIN X509 CRL-----';
const LIST = /-----BEGIN X509 CRL-----[A-Za-z0-9+/=\s]*-----END X509 CRL-----/g;
/** The times of RFC 5280: UTC with seconds. */
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/**
 * Returns each list of a PEM file as PEM: of a text with several, Node reads the first alone.
 * Throws Error if there is none, or if one is cut short: it must not be passed over.
 */
export function listTexts(pem: string): string[] {
  const texts = pem.match(LIST) ?? [];
  if (texts.length === 0) throw new Error('contains no list of revoked certificates');
  if (texts.length < pem.split(BEGIN).length - 1)
    throw new Error('contains a list of revoked certificates that is not PEM, or is truncated');
  return texts;
}

/** Reads all lists of a PEM file. Throws Error if there is none, or one cannot be read. */
export const revocationLists = (pem: string): readonly RevocationList[] =>
  listTexts(pem).map((text) => listOf(Buffer.from(text.replace(/-----[^-]+-----/g, ''), 'base64')));

/** Returns the name of the authority that issued a certificate, spelled as in a list. */
export function issuerOf(certificate: X509Certificate): string {
  const fields = new Reader(certificate.raw).enter().enter();
  fields.skip(TAG.version);
  fields.take(TAG.integer);
  fields.take(TAG.sequence);
  return fields.take(TAG.sequence).toString('hex');
}

/**
 * Returns when the first of some lists ends; undefined if none does. Of several lists by one
 * authority the last end counts, since a file may still hold an old one.
 */
export function endOfLists(lists: readonly RevocationList[]): number | undefined {
  const ends = new Map<string, number>();
  for (const { issuer, nextUpdateMs = Number.POSITIVE_INFINITY } of lists)
    ends.set(issuer, Math.max(ends.get(issuer) ?? 0, nextUpdateMs));
  const first = Math.min(...ends.values());
  return Number.isFinite(first) ? first : undefined;
}

function listOf(der: Buffer): RevocationList {
  const fields = new Reader(der).enter().enter();
  fields.skip(TAG.integer);
  fields.take(TAG.sequence);
  const issuer = fields.take(TAG.sequence).toString('hex');
  // thisUpdate
  fields.time();
  return { issuer, nextUpdateMs: fields.isAtTime ? fields.time() : undefined };
}

/** Reads values of DER, one after the other. Throws Error for what is not DER. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtTime(): boolean {
    return this.#tag === TAG.utcTime || this.#tag === TAG.time;
  }

  get #tag(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** Returns a reader of what a sequence holds. */
  enter(): Reader {
    return new Reader(this.take(TAG.sequence));
  }

  /** Passes over a value if it is there. */
  skip(tag: number): void {
    if (this.#tag === tag) this.take(tag);
  }

  /** Returns the content of a value of this type. */
  take(tag: number): Buffer {
    if (this.#tag !== tag) throw new Error('is not DER of the expected form');
    let start = this.#at + 2;
    let length = this.#bytes[this.#at + 1] ?? Number.NaN;
    if (length > 0x80) {
      const size = length - 0x80;
      const isThere = size <= 4 && start + size <= this.#bytes.length;
      length = isThere ? this.#bytes.readUIntBE(start, size) : Number.NaN;
      start += size;
    } else if (length === 0x80) length = Number.NaN;
    const end = start + length;
    if (!(end <= this.#bytes.length)) throw new Error('is not DER, or is truncated');
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }

  /** Returns the time that comes next, in Unix milliseconds. */
  time(): number {
    const isShort = this.#tag === TAG.utcTime;
    const text = this.take(isShort ? TAG.utcTime : TAG.time).toString('latin1');
    // Two digits stand for 1950 to 2049.
    const full = isShort ? `${text < '5' ? '20' : '19'}${text}` : text;
    const [, ...parts] = TIME.exec(full) ?? [];
    if (parts.length === 0) throw new Error('contains a time that is not UTC with seconds');
    const [year, month, ...rest] = parts.map(Number) as [number, number, number];
    return Date.UTC(year, month - 1, ...rest);
  }
}
