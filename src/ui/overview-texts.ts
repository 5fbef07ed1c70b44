/** The texts of the first page. */
import { plural } from './change-texts.js';

export const OVERVIEW_TEXT = {
  overview: {
    health: 'Health',
    healthy: 'All members are healthy',
    unhealthy: (names: string) => (names === '' ? 'Unhealthy' : `Unhealthy: ${names}`),
    leader: 'Leader',
    noLeader: 'None',
    tolerance: 'Fault tolerance',
    losses: (count: number) => `Can lose ${plural(count, 'more voter')}`,
    unknown: 'unknown',
    unknownHealth: 'Unknown without a leader',
    own:
      'No leader answers: writes and default reads are refused. ' +
      'This is what the node that serves this page knows itself.',
    late: (time: string) => `Nothing new since ${time}: what is shown below may be wrong.`,
    asOf: (time: string) => `As of ${time}`,
    connected: 'connected',
    unconnected: 'not connected',
    level: 'Level',
    waiting: (level: number, names: string) => `${level}, waiting for ${names}`,
    members: 'Members',
    columns: [
      'Name',
      'Role',
      'Health',
      'Last contact',
      'Index',
      'Behind',
      'Level',
      'Version',
      'Address',
      'Actions',
    ],
    roles: { leader: 'leader', voter: 'voter', 'non-voter': 'learner' },
    well: 'healthy',
    failed: 'failed',
    acts: (name: string) => `Actions for ${name}`,
    handOver: {
      title: (name: string) => `Hand over to ${name}`,
      about:
        'The leader stops taking writes until this member leads: usually a few milliseconds. ' +
        'Writes that arrive meanwhile wait.',
      confirm: 'Hand over',
    },
    remove: {
      title: (name: string) => `Remove ${name}`,
      about:
        'The server stops being a member, and the cluster needs one vote less. It cannot come ' +
        'back with its data folder: empty the folder, and let it join again.',
      confirm: 'Remove',
    },
    typeName: (name: string) => `Type ${name} to confirm`,
    sinks: 'Audit sinks',
    warnings: 'Warnings',
    noWarnings: 'Lint found no problems.',
  },
  figures: {
    heading: (node: string) => `${node} in the last hour`,
    writes: 'Writes',
    reads: 'Reads',
    sync: 'Time to sync the log',
    unapplied: 'Committed, not applied',
    loop: 'Event loop delay',
    cpu: 'CPU',
    memory: 'Memory',
    disk: 'Free disk space',
    held: 'Blocking queries',
    refusals: 'Refused with 429',
    failures: 'Failed with 5xx',
    elections: 'Changes of the leader',
    term: (term: number) => `term ${term.toLocaleString('en')}`,
    missing: 'no data',
    label: (title: string, now: string, most: string) => `${title}: now ${now}, at most ${most}`,
    certificate: (use: string) => `Certificate (${use}) expires`,
    backup: 'Last backup sent by this node',
    noBackup: 'none since it was started',
    warnings: 'Last warnings of the log',
    noWarnings: 'None since it was started.',
    times: (count: number) => `(${count.toLocaleString('en')} times)`,
  },
} as const;
