/** What makes each alert fire. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalNode, PROGRAM } from '../../src/dev/local.js';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { corruptChecksum } from '../../test/cluster/corrupt.js';
import { configure, peersOf, settingsOf, until } from '../../test/cluster/operator.js';
import { unpackRelease } from '../../test/cluster/releases.js';
import { type Lab, meanwhile, pulse, READY_MS } from './lab.js';

/** Entries that a peer lacks in excess of those of the alert. */
const LACKED = 1500;
/** What a slow disk adds to each write, in milliseconds. */
const SLOW_MS = 200;
/** The same where a write of a client, or a restore, must take long. */
const VERY_SLOW_MS = 1200;
const HELD_MAX = 5;

/** How to provoke one or several alerts. */
export interface Provocation {
  readonly alerts: readonly string[];
  readonly cause: string;
  /** Brings the cause about until `over` is settled, then undoes it. */
  run(lab: Lab, over: Promise<void>): Promise<void>;
}

/** All of them, in the order in which they are run. */
export const PROVOCATIONS: readonly Provocation[] = [
  {
    alerts: ['ConclaveNodeDown'],
    cause: 'n3 is killed',
    run: async (lab, over) => {
      await killed([lab.node(3)], over);
    },
  },
  {
    alerts: ['ConclaveMemberNotScraped'],
    cause: 'n3 is no target any more',
    run: (lab, over) => lab.withoutTarget(lab.node(3), over),
  },
  {
    alerts: ['ConclaveNoLeader', 'ConclaveServerErrors'],
    cause: 'n2 and n3 are killed, and n1 is read from',
    run: async (lab, over) => {
      const read = (): Promise<unknown> => lab.ask(lab.node(1), 'GET', '/v1/acl/policies');
      await Promise.all([
        killed([lab.node(2), lab.node(3)], over),
        meanwhile(over, read, { parallel: 16 }),
      ]);
    },
  },
  {
    alerts: ['ConclaveLeaderChanges'],
    cause: 'leadership is transferred again and again',
    run: (lab, over) => {
      const path = '/v1/operator/raft/transfer-leader';
      return meanwhile(over, () => lab.ask(lab.node(1), 'POST', path), { pauseMs: 1500 });
    },
  },
  {
    alerts: ['ConclaveFaulted', 'ConclaveDiskFilling'],
    cause: 'the file system of n3 reports no free space',
    run: (lab, over) => withFault(lab, [3], { noSpace: true }, over),
  },
  {
    alerts: ['ConclaveDiskHangs'],
    cause: 'writes to the disk of n3 do not return, and n1 is written to',
    run: (lab, over) =>
      withFault(lab, [3], { hangs: true }, meanwhile(over, writesOf(lab), { pauseMs: 100 })),
  },
  {
    alerts: ['ConclaveDiskSlow'],
    cause: `each write to the disk of n3 takes ${SLOW_MS} ms longer, and n1 is written to`,
    run: (lab, over) =>
      withFault(lab, [3], { syncMs: SLOW_MS }, meanwhile(over, writesOf(lab), { pauseMs: 50 })),
  },
  {
    alerts: ['ConclaveWritesSlow'],
    cause: `each write to any disk takes ${VERY_SLOW_MS} ms longer, and n1 is written to`,
    run: (lab, over) =>
      withFault(lab, [1, 2, 3], { syncMs: VERY_SLOW_MS }, meanwhile(over, writesOf(lab))),
  },
  {
    alerts: ['ConclaveReadsSlow'],
    cause: 'n1, which leads, stops for half a second at a time, and n2 is read from',
    run: async (lab, over) => {
      await lab.leadByFirst();
      const read = (): Promise<unknown> => lab.ask(lab.node(2), 'GET', '/v1/acl/policies');
      await Promise.all([
        pulse(over, lab.node(1), { stoppedMs: 500, runningMs: 300 }),
        meanwhile(over, read, { pauseMs: 50 }),
      ]);
    },
  },
  {
    alerts: ['ConclaveEventLoopSlow'],
    cause: 'n3 stops for 300 ms at a time',
    run: (lab, over) => pulse(over, lab.node(3)),
  },
  {
    alerts: ['ConclavePeerLagging'],
    cause: `n3 is stopped, and n1 takes ${LACKED} writes`,
    run: async (lab, over) => {
      await lab.leadByFirst();
      await lab.node(3).kill('SIGSTOP');
      await writeMany(lab, LACKED);
      await over;
      await lab.node(3).kill('SIGCONT');
    },
  },
  {
    alerts: ['ConclaveStateNotCompared'],
    cause: 'n3 is stopped',
    run: async (lab, over) => {
      await lab.leadByFirst();
      await lab.node(3).kill('SIGSTOP');
      await over;
      await lab.node(3).kill('SIGCONT');
    },
  },
  {
    alerts: ['ConclaveStateDiffers'],
    cause: "n3 starts with another checksum of the table 'config'",
    run: async (lab, over) => {
      const third = lab.node(3);
      await lab.leadByFirst();
      await lab.write(lab.node(1), 1);
      await third.kill('SIGTERM');
      await corruptChecksum(third.entry.dataDir, 'config');
      third.start();
      await meanwhile(over, writesOf(lab), { pauseMs: 200 });
      await lab.restart(third);
    },
  },
  {
    alerts: ['ConclaveApplyLagging'],
    cause: `n3 restores to a disk that is ${VERY_SLOW_MS} ms slower, and n1 is written to`,
    run: async (lab, over) => {
      await lab.leadByFirst();
      await fill(lab);
      await withFault(lab, [3], { syncMs: VERY_SLOW_MS }, restoreAndWrite(lab, over));
    },
  },
  {
    alerts: ['ConclaveLimitNear', 'ConclaveRequestsRefused'],
    cause: `n3 has limits.held ${HELD_MAX}, and gets more blocking queries`,
    run: async (lab, over) => {
      const third = lab.node(3);
      const { limits, ...settings } = settingsOf(third);
      const few = { heldPerClient: HELD_MAX, heldPerToken: HELD_MAX, heldAnonymous: HELD_MAX };
      configure(third, { limits: { ...(limits as object), ...few, held: HELD_MAX } });
      await lab.restart(third);
      const path = '/v1/acl/policies?index=99999999&wait=10s';
      const parallel = 2 * HELD_MAX;
      await meanwhile(over, () => lab.ask(third, 'GET', path), { parallel, pauseMs: 50 });
      configure(third, { ...settings, limits: limits ?? {} });
      await lab.restart(third);
    },
  },
  {
    alerts: ['ConclaveLoginsRefused'],
    cause: 'logins by an auth method that does not exist',
    run: (lab, over) => {
      const body = { AuthMethod: 'none', BearerToken: 'x' };
      const login = (): Promise<unknown> => lab.ask(lab.node(2), 'POST', '/v1/acl/login', body);
      return meanwhile(over, login, { parallel: 4, pauseMs: 100 });
    },
  },
  {
    alerts: ['ConclaveReleasesDiffer'],
    cause: 'n3 runs a copy of this build that calls itself another release',
    run: async (lab, over) => {
      await lab.restart(lab.node(3), lab.otherRelease('99.0.0'));
      await over;
      await lab.restart(lab.node(3));
    },
  },
  {
    alerts: ['ConclaveCertificateExpires', 'ConclaveCertificateExpiresNow'],
    cause: 'a node whose certificate ends in two days',
    run: async (lab, over) => {
      // The members of this cluster have no shared key.
      const raft = { sharedKeyFile: undefined, tls: lab.raftTls(2) };
      const cluster = await lab.startCluster('certificates', 1, { settings: { raft } });
      await over;
      await lab.stopCluster('certificates', cluster);
    },
  },
  {
    alerts: ['ConclaveLevelsDiffer'],
    cause:
      'n3 of a cluster at level 1 is removed while it is down, the level rises, and n3 starts ' +
      'again with a shared key that the others refuse',
    run: levelsDiffer,
  },
];

async function killed(nodes: readonly LocalNode[], over: Promise<void>): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill('SIGKILL')));
  await over;
  for (const node of nodes) node.start();
  await Promise.all(nodes.map((node) => node.ready(READY_MS)));
}

/** Injects a fault into nodes while work goes on. */
async function withFault(
  lab: Lab,
  numbers: readonly number[],
  fault: Parameters<ReturnType<Lab['control']>['set']>[0],
  work: Promise<void>,
): Promise<void> {
  const controls = numbers.map((number) => lab.control(lab.node(number).name));
  for (const control of controls) control.set(fault);
  try {
    await work;
  } finally {
    for (const control of controls) control.heal();
  }
}

/** Returns work that writes one entry after the other to n1. */
function writesOf(lab: Lab): () => Promise<void> {
  let number = 0;
  return () => {
    number += 1;
    return lab.write(lab.node(1), number);
  };
}

/** Writes as many entries to n1, many at a time. */
const writeMany = (lab: Lab, count: number): Promise<void> =>
  times(count, (number) => lab.write(lab.node(1), number));

/** Does work for each number from 1, many at a time. */
async function times(count: number, work: (number: number) => Promise<unknown>): Promise<void> {
  let number = 0;
  const one = async (): Promise<void> => {
    while (number < count) {
      number += 1;
      await work(number);
    }
  };
  await Promise.all(Array.from({ length: 32 }, one));
}

/** Bytes and number of roles that make a state of many batches. */
const ROLE_BYTES = 16_000;
const ROLES = 600;

const fill = (lab: Lab): Promise<void> =>
  times(ROLES, (number) => {
    // Text that does not compress.
    const Description = randomBytes(ROLE_BYTES / 2).toString('hex');
    return lab.ask(lab.node(1), 'PUT', '/v1/acl/role', { Name: `large-${number}`, Description });
  });

/** Restores the present state, and writes meanwhile and afterwards. */
async function restoreAndWrite(lab: Lab, over: Promise<void>): Promise<void> {
  const first = lab.node(1);
  const archive = await lab.archive(first);
  const restored = lab.ask(first, 'PUT', '/v1/snapshot', archive);
  await Promise.all([
    // On a busy machine it takes longer than a request may.
    restored.catch(() => undefined),
    meanwhile(over, writesOf(lab), { parallel: 128 }),
  ]);
}

/** A member that was removed while it was down, and that the others refuse, stays at its level. */
async function levelsDiffer(lab: Lab, over: Promise<void>): Promise<void> {
  const old = await unpackRelease(join(lab.dir, 'old'));
  const programs = new Map([['n3', old]]);
  const cluster = await lab.startCluster('levels', 3, {
    run: (name) => ({ preload: [], env: {}, main: () => programs.get(name) ?? PROGRAM }),
  });
  const [first, , third] = cluster.nodes;
  const peers = await peersOf(cluster, first!.url);
  const { ID } = peers.find(({ Node }) => Node === 'n3')!;
  await third!.kill('SIGTERM');
  await lab.ask(first!, 'DELETE', `/v1/operator/raft/peer?id=${ID}`);
  const levelOf = async (): Promise<string> =>
    (await lab.ask(first!, 'GET', '/v1/operator/level')).text;
  await until(levelOf, (text) => (JSON.parse(text) as { Level: number }).Level === SUPPORTED_LEVEL);
  const otherKey = join(lab.dir, 'other.key');
  writeFileSync(otherKey, randomBytes(32).toString('base64'), { mode: 0o600 });
  const raft = settingsOf(third!)['raft'] as object;
  configure(third!, { raft: { ...raft, sharedKeyFile: otherKey } });
  programs.delete('n3');
  third!.start();
  await over;
  await lab.stopCluster('levels', cluster);
}
