/** The texts about intentions, and about requests that are tried on chains. */
import type { Decision } from './intentions/decide.js';

const words = { allow: 'allowed', deny: 'denied', requests: 'by request' } as const;

export const INTENTION_TEXT = {
  intentions: {
    about: 'Which service may connect to which.',
    ways: 'How intentions are shown',
    matrix: 'Matrix',
    around: 'Around a service',
    table: 'Intentions (scrolls sideways)',
    corner: 'From \\ to',
    any: 'any other',
    filter: 'Names that contain',
    words,
    why: (source: string, destination: string, { is, by }: Decision) => {
      const what = `${source} to ${destination}: ${words[is]}`;
      if (by === undefined) return `${what}, by the default policy`;
      return `${what}, by the source ${by.source} of the intentions of ${by.entry}`;
    },
    cut: (count: number) =>
      `${count.toLocaleString('en')} services do not fit. Type part of a name to see them.`,
    more: (count: number) => `${count.toLocaleString('en')} more entries are not read.`,
    hidden: 'Intentions that you may not read are left out. They may decide otherwise.',
    first: 'Make the first one.',
    empty: (is: Decision['is']) =>
      `There are no intentions here. By the default policy, all connections are ${words[is]}.`,
    picture: 'Picture (scrolls sideways)',
    label: (service: string, callers: number, called: number) =>
      `${service}: ${callers} may call it, it may call ${called}`,
    callers: (service: string) => `May call ${service}`,
    called: (service: string) => `${service} may call`,
    noCallers: 'No service may call it.',
    noCalled: 'It may call no service.',
  },
  trial: {
    title: 'Try a request',
    path: 'Path',
    method: 'Method',
    headers: 'Headers',
    headersHelp: 'One per line, such as x-user: ann.',
    query: 'Query parameters',
    queryHelp: 'One per line, such as debug=1. Those in the path count too.',
    ask: 'Where does it go?',
    route: (router: string, nth: number, match: string) =>
      `Route ${nth} of the router ${router} takes it: ${match}.`,
    noRoute: (router: string) => `No route of the router ${router} takes it.`,
    split: (splitter: string, count: number) =>
      `The splitter ${splitter} divides the requests into ${count} parts:`,
    target: (percent: string, name: string) => `${percent} go to ${name}.`,
    unsure: (routes: string) =>
      `Before it, route ${routes} has a regular expression, which only proxies evaluate.`,
    failover: (names: string) => `If it has no healthy instance: ${names}.`,
  },
} as const;
