/**
 * The work of the web UI as a person does it: clicks, keys and seconds for five jobs, in this build
 * and in that of commit 5984ef8, the last one before the pages were redesigned.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { Stage } from '../../test/browser/stage.js';
import { RealCluster } from '../../test/support/real-cluster.js';
import { type Effort, MODEL, Person } from './job-person.js';
import { JOBS, type Scene, STEPS, STEPS_BEFORE, type Steps } from './job-steps.js';
import { figure, row, title } from './report.js';

type Efforts = Readonly<Record<(typeof JOBS)[number], Effort>>;

/** An auth method with a rule that has a slip, and an entry. Returns a JWT for the method. */
async function prepare(stage: Stage): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const Config = {
    JWTValidationPubKeys: [await exportSPKI(publicKey)],
    ClaimMappings: { team: 'team' },
  };
  await stage.api('PUT /v1/acl/auth-method', {
    Name: 'ci',
    Type: 'jwt',
    MaxTokenTTL: '1h',
    Config,
  });
  await stage.api('PUT /v1/acl/binding-rule', {
    AuthMethod: 'ci',
    Selector: 'value.team=="wbe"',
    BindType: 'role',
    BindName: 'deploy-web',
  });
  const entry = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };
  await stage.api('PUT /v1/config', entry);
  return new SignJWT({ team: 'web' })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
}

/** Plays all jobs with the pages of a build: that in `folder`, or this one. */
async function play(steps: Steps, folder: string): Promise<Efforts> {
  const module = pathToFileURL(resolve(folder, 'dist/cluster/local.js')).href;
  const { startCluster } = (await import(module)) as typeof import('../../cluster/local.js');
  const stage = new Stage((nodes) => RealCluster.open(nodes, {}, startCluster));
  try {
    await stage.open(1);
    const jwt = await prepare(stage);
    const { page } = await stage.visit('/', { width: 1400 });
    const scene: Scene = {
      stage,
      program: resolve(folder, 'dist/program/main.js'),
      page,
      deployer: async () => (await stage.visit('/', { token: '', width: 1400 })).page,
      jwt,
    };
    const efforts: [string, Effort][] = [];
    for (const job of JOBS) {
      // Whoever changes the entry has it open.
      if (job.startsWith('conflict')) await page.goto(stage.hrefOf('/config/service-defaults/web'));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const person = new Person();
      await steps[job](scene, person);
      efforts.push([job, person.effort]);
    }
    return Object.fromEntries(efforts) as Efforts;
  } finally {
    await stage.close();
  }
}

const KINDS = ['clicks', 'keys', 'seconds'] as const;

/** Plays the jobs in this build, and in that in the folder `other`, if there is one. */
export async function measureJobs(other: string | undefined): Promise<void> {
  const before = other === undefined ? undefined : await play(STEPS_BEFORE, other);
  const after = await play(STEPS, '.');
  const { key, point, click, think } = MODEL;
  title(
    `Jobs: clicks, keys and seconds (${key} ms a key, ${point} ms to point, ${click} ms a ` +
      `click, ${think} ms a thought; the pages in real time)`,
    ['job', ...KINDS.map((kind) => `${kind}, before`), ...KINDS, ...KINDS.map(() => '% less')],
  );
  for (const job of JOBS) {
    const [old, now] = [before?.[job], after[job]];
    const less = KINDS.map((kind) => old && figure(Math.round(100 * (1 - now[kind] / old[kind]))));
    const shown = [old, now].flatMap((effort) =>
      KINDS.map((kind) => effort && figure(effort[kind])),
    );
    row([job, ...[...shown, ...less].map((text) => text ?? '')]);
  }
}
