/** Whether the members would accept a certificate of one of them, and know it from the others. */
import type { X509Certificate } from 'node:crypto';

/** Certificates from a member's one to that of an authority, at most. */
const CHAIN_MAX = 10;
/** The two uses of a member's certificate (RFC 5280): members both listen and connect. */
const USES = [
  ['1.3.6.1.5.5.7.3.1', 'serverAuth'],
  ['1.3.6.1.5.5.7.3.2', 'clientAuth'],
] as const;

/**
 * Returns why the members would refuse a certificate: no authority of theirs has issued it, or it
 * is not for both sides of a connection. `chain` begins with the certificate; the rest of it may
 * lead to an authority.
 */
export function chainFault(
  chain: readonly [X509Certificate, ...X509Certificate[]],
  authorities: readonly X509Certificate[],
): string | undefined {
  const [own, ...between] = chain;
  const names = `subject "${oneLine(own.subject)}", issuer "${oneLine(own.issuer)}"`;
  const issuers = [...authorities, ...between];
  const isTrusted = (each: X509Certificate): boolean =>
    isIssuedBy(each, each) && authorities.some(({ raw }) => raw.equals(each.raw));
  const leadsToTrust = (each: X509Certificate, depth: number): boolean =>
    isTrusted(each) ||
    (depth < CHAIN_MAX &&
      issuers.some((by) => isIssuedBy(each, by) && by !== each && leadsToTrust(by, depth + 1)));
  const refused = (why: string): string =>
    `the certificate (${names}) is not ${why}, so the other members refuse it`;
  if (!leadsToTrust(own, 1)) return refused('issued by an authority in raft.tls.ca');
  // Absent: the certificate is for every use.
  const uses: readonly string[] | undefined = own.keyUsage;
  const missing = USES.filter(([id]) => uses?.includes(id) === false).map(([, name]) => name);
  if (missing.length === 0) return undefined;
  return refused(`for ${missing.join(' and ')} (extended key usage)`);
}

const isIssuedBy = (certificate: X509Certificate, by: X509Certificate): boolean =>
  certificate.checkIssued(by) && certificate.verify(by.publicKey);

const oneLine = (name: string): string => name.replaceAll('\n', ', ');

/**
 * Returns a warning if the subject of a member's certificate is not its own: it is the name that
 * the certificates of all members carry, or another member, of those that the data folder knows,
 * has shown it too.
 */
export function subjectWarning(
  { subject }: X509Certificate,
  name: string,
  seen: Readonly<Record<string, { readonly subject?: string }>>,
): string | undefined {
  const [, own] = /^CN=(.*)$/m.exec(subject) ?? [];
  const [other] = Object.entries(seen).find(([, record]) => record.subject === own) ?? [];
  if (own === undefined || (own !== name && other === undefined)) return undefined;
  const why =
    other === undefined
      ? 'is the name that the certificates of all members carry (raft.tls.name)'
      : `is also that of the member ${other}`;
  return (
    `raft.tls.cert: the subject "${own}" ${why}: give each member its own subject, so that ` +
    'a certificate identifies one member only and can be revoked alone'
  );
}
