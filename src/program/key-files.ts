/**
 * Checks the files of certificates and keys that a configuration names, before anything uses them.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { sinksOf } from '../audit/settings.js';
import { IDENTITY_FILE } from '../base/data-folder.js';
import type { Config } from '../config/config.js';
import { BOOTSTRAP_SECRET, UUID } from '../config/rules.js';
import type { Identity } from '../replica/members/identity.js';
import { endOfLists, issuerOf, listTexts, revocationLists } from '../transport/revocation-lists.js';
import { checkSecurity } from '../transport/security.js';
import { chainFault, subjectWarning } from './certificate-chain.js';
import { certificateEnds, expiryWarnings } from './certificates.js';

/** What is wrong with the files. */
export interface KeyFileReport {
  /** One line per fault, with its setting. With such a file nobody could connect. */
  readonly faults: readonly string[];
  /**
   * Faults of the list of revoked certificates. A node starts with them, since others may hold a
   * good list and the operator needs it to run, but neither reloads such a list nor passes a check.
   */
  readonly listFaults: readonly string[];
  /** Problems with which the node starts. */
  readonly warnings: readonly string[];
}

/** Reads and checks all files. Never throws. */
export function checkKeyFiles(config: Omit<Config, 'log'>): KeyFileReport {
  const { http, raft } = config;
  const faults: string[] = [];
  const listFaults: string[] = [];
  const warnings: string[] = [];
  if (http.tls !== undefined) checkTls('http.tls', http.tls, faults);
  if (raft.tls !== undefined) {
    const { own, chain, authorities } = checkTls('raft.tls', raft.tls, faults);
    if (own !== undefined && own.checkHost(raft.tls.name) === undefined)
      faults.push(
        `raft.tls.cert: the certificate does not carry the name ${raft.tls.name} (raft.tls.name), so it does not identify a member`,
      );
    const fault = chain && authorities && chainFault(chain, authorities);
    if (fault !== undefined) faults.push(`raft.tls.cert: ${fault}`);
    const alike = own && subjectWarning(own, raft.tls.name, seenIn(config.dataDir));
    if (alike !== undefined) warnings.push(alike);
    const { crl } = raft.tls;
    if (crl !== undefined)
      attempt('raft.tls.crl', faults, () => listFaults.push(...checkLists(crl, own)));
  }
  const { sharedKeyFile } = raft;
  if (sharedKeyFile !== undefined)
    attempt('raft.sharedKeyFile', faults, () =>
      checkSecurity({ mode: 'key', keys: sharedKeys(readFileSync(sharedKeyFile, 'utf8')) }, []),
    );
  attempt('acl.initialManagementFile', faults, () => initialManagement(config));
  attempt('acl.bootstrapSecretFile', faults, () => bootstrapSecret(config));
  warnings.push(...expiryWarnings(certificateEnds(config), Date.now()));
  return { faults, listFaults, warnings };
}

/** Bytes of the key of a chain: as many as the hash has. */
const CHAIN_KEY_BYTES = 32;

/** Reads the key of a chain. Throws Error unless the file holds 32 bytes in base64. */
export function chainKey(file: string): Uint8Array {
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== CHAIN_KEY_BYTES)
    throw new Error(`${file} does not hold 32 bytes in base64 (openssl rand -base64 32)`);
  return key;
}

/** Returns what is wrong with the key files and folders of audit sinks, a line for each fault. */
export function sinkFileFaults({ audit }: Pick<Config, 'audit'>): readonly string[] {
  const faults: string[] = [];
  for (const { name, type, path, keyFile } of sinksOf(audit.sinks)) {
    const key = `audit.sinks.${name}`;
    if (type === 'file' && !existsSync(dirname(path)))
      faults.push(`${key}.path: the folder ${dirname(path)} does not exist`);
    if (keyFile !== undefined) attempt(`${key}.keyFile`, faults, () => chainKey(keyFile));
  }
  return faults;
}

/** Returns what a data folder has recorded of the members, if there is one that can be read. */
function seenIn(dataDir: string): Identity['seen'] {
  try {
    const { seen } = JSON.parse(readFileSync(join(dataDir, IDENTITY_FILE), 'utf8')) as Identity;
    return seen;
  } catch {
    // A start reports it.
    return {};
  }
}

/**
 * Returns the configured SecretID of the first management token, if there is one. The file may be
 * missing or empty if this start creates no cluster: the folder is in use, or the node joins
 * others. Throws Error if the file cannot be read or does not hold a UUID.
 */
export function initialManagement({
  acl,
  cluster,
  dataDir,
}: Pick<Config, 'acl' | 'cluster' | 'dataDir'>): string | undefined {
  const { initialManagementFile: file } = acl;
  if (file === undefined) return acl.initialManagement;
  const begins = cluster.join.length === 0 && !existsSync(join(dataDir, IDENTITY_FILE));
  if (!begins && !existsSync(file)) return undefined;
  const secret = readFileSync(file, 'utf8').trim();
  if (!begins && secret === '') return undefined;
  if (!UUID.test(secret)) throw new Error(`${file} does not contain a UUID in lower case`);
  return secret;
}

/**
 * Returns the secret that a bootstrap must present, if one is configured. Throws Error if its file
 * cannot be read or does not hold such a secret.
 */
export function bootstrapSecret({ acl }: Pick<Config, 'acl'>): string | undefined {
  const { bootstrapSecretFile: file } = acl;
  if (file === undefined) return acl.bootstrapSecret;
  const secret = readFileSync(file, 'utf8').trim();
  if (BOOTSTRAP_SECRET.test(secret)) return secret;
  throw new Error(
    `${file} does not contain 16 to 256 printable characters other than space and comma`,
  );
}

/** Returns the keys of a shared key file, one per line. */
export const sharedKeys = (text: string): string[] =>
  text.split(/\s+/).filter((line) => line !== '');

/**
 * Returns why no member could connect with the lists of revoked certificates in a file. Throws
 * Error if they cannot be read.
 */
function checkLists(path: string, own: X509Certificate | undefined): string[] {
  const text = readFileSync(path, 'utf8');
  createSecureContext({ crl: listTexts(text) });
  const lists = revocationLists(text);
  const where = 'raft.tls.crl: the list of revoked certificates';
  const faults: string[] = [];
  const endMs = endOfLists(lists);
  if (endMs !== undefined && endMs <= Date.now())
    faults.push(
      `${where} is out of date since ${new Date(endMs).toISOString()}, so nobody could connect`,
    );
  if (own !== undefined && !lists.some(({ issuer }) => issuer === issuerOf(own)))
    faults.push(`${where} was not issued by the authority of the certificate in raft.tls.cert`);
  return faults;
}

/** What can be read of the files of TLS: the certificate, its chain, and the authorities. */
interface TlsFiles {
  readonly own?: X509Certificate | undefined;
  readonly chain?: Certificates | undefined;
  readonly authorities?: Certificates | undefined;
}
type Certificates = readonly [X509Certificate, ...X509Certificate[]];

/** Checks certificate, key and authority. */
function checkTls(
  where: string,
  files: NonNullable<Config['http']['tls']>,
  faults: string[],
): TlsFiles {
  const before = faults.length;
  const chain = attempt(`${where}.cert`, faults, () => certificatesIn(files.cert));
  const own = chain?.[0];
  const key = attempt<KeyObject>(`${where}.key`, faults, () =>
    createPrivateKey(readFileSync(files.key)),
  );
  const { ca } = files;
  const authorities =
    ca === undefined ? undefined : attempt(`${where}.ca`, faults, () => certificatesIn(ca));
  if (own !== undefined && key !== undefined && !own.checkPrivateKey(key))
    faults.push(`${where}.key: is not the key of the certificate in ${files.cert}`);
  // OpenSSL refuses some files that can be read, as those in DER or with too short a key.
  if (faults.length === before)
    attempt(where, faults, () =>
      createSecureContext({
        cert: readFileSync(files.cert),
        key: readFileSync(files.key),
        ...(ca !== undefined && { ca: readFileSync(ca) }),
      }),
    );
  return { own, chain, authorities };
}

const CERTIFICATE = /^.*-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE(?! REQUEST)/;

/**
 * Reads all certificates of a PEM file. Throws Error if one cannot be parsed: OpenSSL would ignore
 * it and all after it in a file of authorities.
 */
function certificatesIn(path: string): Certificates {
  const bytes = readFileSync(path);
  const blocks = bytes.toString().split(/^(?=.*-----BEGIN )/m);
  const certificates = blocks.filter((block) => CERTIFICATE.test(block));
  if (certificates.length === 0) return [new X509Certificate(bytes)];
  const [first, ...rest] = certificates.map((block, at) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      const why = (error as Error).message;
      throw new Error(`certificate ${at + 1} in ${path} cannot be used (${why})`);
    }
  });
  return [first!, ...rest];
}

function attempt<T>(where: string, faults: string[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // OpenSSL's message about a file that is not PEM is no help on its own.
    const openssl = code?.startsWith('ERR_OSSL') ? `cannot be used (${message})` : message;
    faults.push(`${where}: ${openssl}`);
    return undefined;
  }
}
