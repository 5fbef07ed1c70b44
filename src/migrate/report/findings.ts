/** What each code of a finding means to people (moving-in.md 4.1). */
import type { Finding, FindingCode } from '../../api/migration-report.js';

/** What is lost, and what to do, by code. */
const WORDS: Readonly<Record<FindingCode, readonly [lost: string, toDo: string]>> = {
  auth_method_type: [
    'logins by this method, its binding rules and its tokens',
    'give its users another way to log in before the switch',
  ],
  partition: ['what other partitions hold', 'move each partition to a cluster of its own'],
  kind: ['the entry', 'keep what it does at the source'],
  wildcard: ['the object', 'write one object for each name that is meant'],
  member: ['the entry', 'take the member out at the source, or use --mend if it is empty'],
  legacy_token: ['the token', 'make a token with the policy that is shown'],
  dangling: ['nothing: the link grants nothing', 'nothing'],
  expired: ['nothing: the token is over', 'nothing'],
  no_secret: ['the token', 'use a source token with acl:write, or --new-secrets'],
  hidden_secret: ['the secret', 'write the object with its secret after the switch'],
  invalid: ['the object', 'correct it at the source'],
  rules: ['the policy', 'correct its rules at the source, or use --mend'],
  intentions_source: ['nothing: these members have no effect', 'nothing'],
  other_datacenter: ['nothing: it grants nothing in this datacenter', 'nothing'],
  not_readable: ['what is not shown', 'use a source token with the right that is missing'],
};

/** Returns a finding. An object is not left out unless `more` says so. */
export function finding(
  ref: string,
  code: FindingCode,
  message: string,
  more: Partial<Omit<Finding, 'Ref' | 'Code' | 'Message'>> = {},
): Finding {
  const [Lost, Do] = WORDS[code];
  return { Ref: ref, Code: code, Message: message, Lost, Do, LeftOut: false, ...more };
}
