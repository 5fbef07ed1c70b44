/** The texts of the page of settings. */

/** Part of `TEXT`. */
export const SETTINGS_TEXT = {
  page: 'Settings',
  about: 'Settings of the whole cluster, and of the node that serves this page.',
  level: {
    title: 'Level',
    about: 'Members take up what a release adds once all of them support it.',
    inForce: (level: number) => `Level ${level} is in force.`,
    waiting: (names: string) => `It rises once these support more: ${names}.`,
    members: 'Members',
    columns: ['Member', 'Supports'],
    unknown: 'no answer',
  },
  history: {
    title: 'History',
    about: 'How much is kept. What is dropped does not come back.',
  },
  acl: {
    title: 'Logins',
    about: 'How long the tokens of logins are valid. Auth methods may set less.',
  },
  autopilot: {
    title: 'Health of members',
    about: 'When a member counts as healthy, and what happens to dead ones.',
  },
  backup: {
    title: 'Backup',
    about: 'The archive contains all secrets. Store it where nobody else can read it.',
    last: 'Last archive from this node',
    now: 'Back up now',
    saved: (name: string, size: string) => `${name} is saved: ${size}`,
  },
  audit: 'Where the audit log is written',
  node: {
    title: 'Settings of this node',
    about: 'In force, with secrets hidden. The file of the node changes them, and a restart.',
    columns: ['Setting', 'Value'],
  },
  changes: ['Setting', 'Before', 'After'],
  save: 'Save',
  saved: 'Saved',
  noNumber: 'Expected a whole number',
  outdated: 'Somebody else has changed this meanwhile. Compare, and save again.',
  help: {
    VersionsPerObject: 'Versions of one object, the present one included. 0 keeps none.',
    Bytes: 'Bytes of the whole history. 0 keeps nothing.',
    LoginBytes: 'Bytes of these for the tokens of logins. 0 keeps none.',
    MaxAge: 'Such as 720h. If empty, there is no limit.',
    LoginTokenTTL: 'If the auth method sets none, such as 8h. If empty, they do not expire.',
    LoginTokenTTLMax: 'The most that an auth method may set. If empty, there is no limit.',
    TokensPerIdentity: 'Tokens of logins that one identity may have. 0 for any number.',
    OnTokenLimit: 'What a login does at that limit: refuse, or replace the oldest.',
    LastContactThreshold: 'How long a healthy member may go without contact, such as 200ms.',
    MaxTrailingLogs: 'Log entries that a healthy member may be behind.',
    ServerStabilizationTime: 'How long a member must be healthy before it votes.',
    MinQuorum: 'Voters that are never removed.',
    CleanupDeadServers: '',
  } as Readonly<Record<string, string>>,
} as const;
