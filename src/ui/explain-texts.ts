/** The texts about why something is allowed, and who may do it. */
import { plural } from './change-texts.js';

/** Part of `TEXT`. */
export const EXPLAIN_TEXT = {
  explain: {
    about: 'Why is a token allowed or denied something?',
    ask: 'Explain',
    allowed: 'Allowed.',
    refused: 'Not allowed.',
    winner: 'The rule that decides',
    others: 'Other rules that match',
    merged: 'overridden by a stronger level',
    more: (count: number) => `and ${count} more`,
    decision: 'Decision',
    refusedBy: (node: string) => `was refused by ${node}`,
    login: (method: string, reason: string) => `Login by ${method}: ${reason}`,
    method: 'Open the auth method',
    changed: 'In the current state, the decision differs:',
    unchanged: 'In the current state, the decision is the same:',
    tryIt: 'Try it',
    tryAbout: 'What could a token do with only these rules? You need not save them first.',
    whys: {
      less_specific: '– less specific',
      lower_layer: '– a default of the namespace',
      fallback: '– not consulted',
      other_namespace_block: '– applies to another namespace',
      other_datacenter: '– applies to another datacenter',
      dangling: '– a link to a deleted object',
      not_for_anonymous: '– does not apply to the anonymous token',
    } as Readonly<Record<string, string>>,
  },
  whoCan: {
    about: 'Which tokens may read or write something? Each question is a column.',
    ask: 'Who can?',
    clear: 'Clear',
    searching: 'Searching all tokens…',
    tokens: 'Tokens',
    table: 'Who can (scrolls sideways)',
    why: 'Why they can',
    close: 'Close',
    yes: 'yes',
    no: 'no',
    unknown: 'not known',
    nothing: 'no grants of their own',
    logins: (method: string) => `logins of ${method}`,
    count: (count: number) => `(${plural(count, 'token')})`,
    found: (question: string, allowed: number, scanned: number) =>
      `${question}: ${plural(allowed, 'token')} of ${scanned.toLocaleString('en')}.`,
    more: (count: number) =>
      count === 1 ? '1 more group is not shown.' : `${plural(count, 'more group')} are not shown.`,
    truncated: 'The search stopped before it had seen all tokens.',
    filtered: 'Namespaces that you may not read are left out.',
  },
} as const;
