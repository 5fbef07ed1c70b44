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
  about: 'The changes of objects, as they happen. Nothing from before you came is shown.',
  topic: 'Topic',
  logins: 'Show logins',
  pause: 'Pause',
  goOn: 'Go on',
  waiting: 'Waiting for changes…',
  paused: 'Paused. What happens meanwhile comes when you go on.',
  columns: ['When', 'Index', 'What', 'Object', 'Namespace', 'Who', 'Reason'],
  table: 'Events (scrolls sideways)',
  gap: (from: number, to: number, why: string) =>
    `Changes after index ${from} up to ${to} may be missing: ${why}.`,
  again: 'Connecting…',
  ended: (why: string) => `The stream has ended: ${why}`,
} as const;
