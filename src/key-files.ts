/** The files of certificates and keys that a configuration names, looked at before anything uses them. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Config, TlsFiles } from './config.js';
import { checkSecurity } from './transport/security.js';

export interface KeyFileReport {
  /** One line per fault, each with its setting: by these files nobody could connect. */
  readonly faults: readonly string[];
  /** What lets the node start, and the others refuse it. */
  readonly warnings: readonly string[];
}

/** Reads all of them. Never throws. */
export function checkKeyFiles({ http, raft }: Pick<Config, 'http' | 'raft'>): KeyFileReport {
  const report = { faults: [] as string[], warnings: [] as string[] };
  if (http.tls !== undefined) checkTls('http.tls', http.tls, report);
  if (raft.tls !== undefined) {
    const own = checkTls('raft.tls', raft.tls, report);
    if (own !== undefined && own.checkHost(raft.tls.name) === undefined)
      report.faults.push(
        `raft.tls.cert: the certificate does not carry the name ${raft.tls.name} (raft.tls.name), so it makes no member`,
      );
    const { crl } = raft.tls;
    if (crl !== undefined)
      attempt('raft.tls.crl', report.faults, () => createSecureContext({ crl: readFileSync(crl) }));
  }
  const { sharedKeyFile } = raft;
  if (sharedKeyFile !== undefined)
    attempt('raft.sharedKeyFile', report.faults, () =>
      checkSecurity({ mode: 'key', keys: sharedKeys(readFileSync(sharedKeyFile, 'utf8')) }, []),
    );
  return report;
}

/** The keys of a shared key file: one a line. */
export const sharedKeys = (text: string): string[] =>
  text.split(/\s+/).filter((line) => line !== '');

/** Gives the certificate if it can be read. */
function checkTls(
  where: string,
  files: TlsFiles,
  { faults, warnings }: { faults: string[]; warnings: string[] },
): X509Certificate | undefined {
  const certificate = (path: string) => new X509Certificate(readFileSync(path));
  const own = attempt(`${where}.cert`, faults, () => certificate(files.cert));
  const key = attempt<KeyObject>(`${where}.key`, faults, () =>
    createPrivateKey(readFileSync(files.key)),
  );
  const { ca } = files;
  if (ca !== undefined) attempt(`${where}.ca`, faults, () => certificate(ca));
  if (own !== undefined && key !== undefined && !own.checkPrivateKey(key))
    faults.push(`${where}.key: is not the key of the certificate in ${files.cert}`);
  if (own !== undefined && Date.parse(own.validTo) < Date.now())
    warnings.push(`${where}.cert: the certificate expired on ${own.validTo}`);
  return own;
}

function attempt<T>(where: string, faults: string[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // what OpenSSL says of a file that is no PEM helps nobody
    const openssl = code?.startsWith('ERR_OSSL') ? `cannot be used (${message})` : message;
    faults.push(`${where}: ${openssl}`);
    return undefined;
  }
}
