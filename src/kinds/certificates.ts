/** `inline-certificate` and `file-system-certificate`. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { always, text, textLike } from '../languages/fields.js';
import { isBase64, metaField, metaProblems } from './common.js';
import { defineKind } from './definition.js';
import { isAddress, isDomainName } from './host-names.js';
import { OF_MESH } from './permissions.js';
import { type Problem, problem } from './problems.js';

/** Minimum size of an RSA key in bits, as in Consul. Shorter keys are not secure. */
const RSA_BITS_MIN = 2048;
/** The line that begins a PEM block, with its label. */
const PEM_BEGIN = '-----BEGIN ([A-Z0-9 ]+)-----';
const pem = textLike(PEM_BEGIN, { limits: { needed: true } });
/** The same, or what keeps the stored text (state/put-form.ts). */
const hidablePem = textLike(`^<hidden>$|${PEM_BEGIN}`, { limits: { needed: true } });

/**
 * The kind `file-system-certificate`. It names files on the disks of the gateways, so the server
 * cannot check their contents.
 */
export const fileSystemCertificate = defineKind(
  'file-system-certificate',
  {
    Certificate: always('The file that holds the certificate.', text()),
    PrivateKey: always('The file that holds the private key.', text()),
    Meta: metaField,
  },
  {
    description: 'A certificate and its key, in files on the gateways.',
    permissions: OF_MESH,
    *validate(entry) {
      if (entry.Name === '') yield problem('Name is empty: serviceName is required', 'Name');
      yield* metaProblems(entry.Meta);
    },
  },
);

/** The kind `inline-certificate`. The certificate and its private key must match. */
export const inlineCertificate = defineKind(
  'inline-certificate',
  {
    Certificate: always('The certificate in PEM format.', pem),
    PrivateKey: always(
      'The private key in PEM format, or `<hidden>` for the stored one.',
      hidablePem,
    ),
    Meta: metaField,
  },
  {
    description:
      'A certificate and its key. The key is visible only to callers that may write the entry.',
    permissions: OF_MESH,
    secrets: ['PrivateKey'],
    *validate(entry) {
      if (entry.Name === '') yield problem('Name is empty: serviceName is required', 'Name');
      yield* metaProblems(entry.Meta);
      const fault = pairProblem(entry.Certificate, entry.PrivateKey);
      if (fault !== undefined) yield fault;
    },
  },
);

/** Returns the first problem of a certificate and its key. */
function pairProblem(certificatePem: string, keyPem: string): Problem | undefined {
  // OpenSSL puts the parameters of an EC key in front of it.
  const keyBlock = firstBlock(keyPem.replace(PARAMETERS, ''));
  const key = keyBlock === undefined ? undefined : parsedKey(keyBlock);
  if (keyBlock === undefined || key === undefined) {
    return problem('failed to parse private key PEM', 'PrivateKey');
  }
  if (keyBlock.label === 'RSA PRIVATE KEY') {
    // Node aborts when it is asked for the details of an EC key with too large a number.
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (bits < RSA_BITS_MIN) {
      return problem(`key length must be at least ${RSA_BITS_MIN} bits`, 'PrivateKey');
    }
  }
  const block = firstBlock(certificatePem);
  if (block === undefined) return problem('failed to parse certificate PEM', 'Certificate');
  const certificate = parsedCertificate(block.pem, key);
  if (certificate === undefined) {
    return problem('failed to parse certificate: x509: malformed certificate', 'Certificate');
  }
  if (certificate.keyType !== key.asymmetricKeyType) {
    return problem('tls: private key type does not match public key type', 'PrivateKey');
  }
  if (!certificate.hasKey) {
    return problem('tls: private key does not match public key', 'PrivateKey');
  }
  const host = certificate.names.find((name) => !isAddress(name) && !isDomainName(name));
  return host === undefined
    ? undefined
    : problem(`host ${JSON.stringify(host)} must be a valid DNS hostname`, 'Certificate');
}

const PARAMETERS = /^\s*-----BEGIN EC PARAMETERS-----[^-]*-----END EC PARAMETERS-----/;

interface Block {
  /** Such as `CERTIFICATE`. */
  readonly label: string;
  readonly pem: string;
  /** What is between its lines. */
  readonly content: string;
}

/** Returns the first PEM block of a text. */
function firstBlock(pem: string): Block | undefined {
  const label = new RegExp(PEM_BEGIN).exec(pem);
  if (label?.[1] === undefined) return undefined;
  const ending = `-----END ${label[1]}-----`;
  const end = pem.indexOf(ending, label.index);
  if (end < 0) return undefined;
  const content = pem.slice(label.index + label[0].length, end);
  return { label: label[1], pem: `${label[0]}${content}${ending}\n`, content };
}

/** The length of a DER element, in hexadecimal. */
const LENGTH = '(?:[0-7].|81..|82.{4}|83.{6})';
/** The identifiers of RSA, elliptic curves and Ed25519. */
const ALGORITHM = '(?:06092a864886f70d010101|06072a8648ce3d0201|06032b6570)';
/**
 * The encodings of keys by label, and how each begins in hexadecimal. OpenSSL gets no other key: it
 * takes any that it finds, and computes the public part of some, such as those of DSA, from numbers
 * of any size, which can take hours.
 */
const ENCODINGS: ReadonlyMap<string, readonly [type: 'pkcs1' | 'pkcs8' | 'sec1', begin: RegExp]> =
  new Map([
    ['RSA PRIVATE KEY', ['pkcs1', new RegExp(`^30${LENGTH}0201..02`)]],
    ['EC PRIVATE KEY', ['sec1', new RegExp(`^30${LENGTH}0201..04`)]],
    ['PRIVATE KEY', ['pkcs8', new RegExp(`^30${LENGTH}0201..30${LENGTH}${ALGORITHM}`)]],
  ]);
/** Characters of a key: the largest that TLS libraries take, RSA of 16,384 bits, have 13,000. */
const KEY_LENGTH_MAX = 32 * 1024;
/** Bytes of the longest of these beginnings, and more. */
const BEGIN_BYTES = 32;

function parsedKey({ label, content }: Block): KeyObject | undefined {
  const [type, begin] = ENCODINGS.get(label) ?? [];
  if (type === undefined || content.length > KEY_LENGTH_MAX) return undefined;
  if (!isBase64(content.replace(/[ \t]/g, ''))) return undefined;
  const key = Buffer.from(content, 'base64');
  if (begin?.test(key.toString('hex', 0, BEGIN_BYTES)) !== true) return undefined;
  try {
    return createPrivateKey({ key, format: 'der', type });
  } catch {
    return undefined;
  }
}

/** Returns what a certificate says, and whether a key belongs to it; undefined if it is none. */
function parsedCertificate(pem: string, key: KeyObject) {
  try {
    const certificate = new X509Certificate(pem);
    const keyType = certificate.publicKey.asymmetricKeyType;
    return { keyType, hasKey: certificate.checkPrivateKey(key), names: namesIn(certificate) };
  } catch {
    return undefined;
  }
}

/** Returns the common name, DNS names and IP addresses of a certificate. */
function namesIn(certificate: X509Certificate): string[] {
  const common = /^CN=(.*)$/m.exec(certificate.subject ?? '')?.[1] ?? '';
  const others = (certificate.subjectAltName ?? '').split(', ').flatMap((name) => {
    const [, value] = /^(?:DNS|IP Address):(.*)$/.exec(name) ?? [];
    return value === undefined ? [] : [value];
  });
  return [common, ...others];
}
