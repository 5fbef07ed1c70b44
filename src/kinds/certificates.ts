/** `inline-certificate` and `file-system-certificate`. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { always, text, textLike } from '../languages/fields.js';
import { metaField, metaProblems } from './common.js';
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
  const key = keyBlock === undefined ? undefined : parsedKey(keyBlock.pem);
  if (keyBlock === undefined || key === undefined) {
    return problem('failed to parse private key PEM', 'PrivateKey');
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? RSA_BITS_MIN;
  if (keyBlock.label === 'RSA PRIVATE KEY' && bits < RSA_BITS_MIN) {
    return problem(`key length must be at least ${RSA_BITS_MIN} bits`, 'PrivateKey');
  }
  const block = firstBlock(certificatePem);
  if (block === undefined) return problem('failed to parse certificate PEM', 'Certificate');
  const certificate = parsedCertificate(block.pem);
  if (certificate === undefined) {
    return problem('failed to parse certificate: x509: malformed certificate', 'Certificate');
  }
  if (certificate.publicKey.asymmetricKeyType !== key.asymmetricKeyType) {
    return problem('tls: private key type does not match public key type', 'PrivateKey');
  }
  if (!certificate.checkPrivateKey(key)) {
    return problem('tls: private key does not match public key', 'PrivateKey');
  }
  const host = namesIn(certificate).find((name) => !isAddress(name) && !isDomainName(name));
  return host === undefined
    ? undefined
    : problem(`host ${JSON.stringify(host)} must be a valid DNS hostname`, 'Certificate');
}

const PARAMETERS = /^\s*-----BEGIN EC PARAMETERS-----[^-]*-----END EC PARAMETERS-----/;

/** Returns the first PEM block of a text with its label, such as `CERTIFICATE`. */
function firstBlock(pem: string): { label: string; pem: string } | undefined {
  const label = new RegExp(PEM_BEGIN).exec(pem);
  if (label?.[1] === undefined) return undefined;
  const ending = `-----END ${label[1]}-----`;
  const end = pem.indexOf(ending, label.index);
  if (end < 0) return undefined;
  return { label: label[1], pem: `${pem.slice(label.index, end)}${ending}\n` };
}

function parsedKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function parsedCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
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
