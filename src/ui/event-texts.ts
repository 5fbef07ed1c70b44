/** The texts of the page of events. */

/** The topics that the page offers; '' for all of objects. */
export const TOPICS = [
  'all',
  'ACLPolicy',
  'ACLRole',
  'ACLToken',
  'ACLAuthMethod',
  'ACLBindingRule',
  'Namespace',
  'ConfigEntry',
  'Rights',
] as const;

export const EVENT_TEXT = {
  about:
    'The changes of objects, as they happen. Changes from before you opened this page are not ' +
    'shown.',
  topic: 'Topic',
  logins: 'Show logins',
  pause: 'Pause',
  goOn: 'Resume',
  waiting: 'Waiting for changes…',
  paused: 'Paused. New changes appear when you resume.',
  columns: ['When', 'Index', 'What', 'Object', 'Namespace', 'Who', 'Reason'],
  table: 'Events (scrolls sideways)',
  gap: (from: number, to: number, why: string) =>
    `Changes after index ${from} up to ${to} may be missing: ${why}.`,
  again: 'Connecting…',
} as const;
