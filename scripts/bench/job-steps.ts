/** The steps of the five jobs, with the pages of this build and with those of commit 5984ef8. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { button, field, saved } from '../../test/browser/actions.js';
import type { Stage } from '../../test/browser/stage.js';
import type { Person } from './job-person.js';

/** Where the jobs are done, one after the other. */
export interface Scene {
  readonly stage: Stage;
  /** The program of the build. */
  readonly program: string;
  /** The page of who manages access. */
  readonly page: Page;
  /** Opens the page of whoever logs in. */
  readonly deployer: () => Promise<Page>;
  /** A JWT for the auth method `ci`, whose binding rule is mistyped. */
  readonly jwt: string;
}

/** Plays a job. */
type Play = (scene: Scene, person: Person) => Promise<void>;

/** The jobs. Each begins where the one before it has ended. */
export const JOBS = [
  'policy',
  'role',
  'token',
  'login refused and mended',
  'conflict',
  'conflict about the same field',
] as const;

/** How each job is played. */
export type Steps = Readonly<Record<(typeof JOBS)[number], Play>>;

const RULES = 'service "web" {\npolicy = "read"\n}';
const link = (page: Page, name: string): Locator => page.getByRole('link', { name, exact: true });
const dialogButton = (page: Page, name: string): Locator =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const selected = (page: Page): Locator => page.getByRole('button', { name: 'Apply' });

/** What somebody else changes while the entry is edited. */
const changeMeanwhile = ({ stage }: Scene, members: object): Promise<unknown> =>
  stage.api('PUT /v1/config', { Kind: 'service-defaults', Name: 'web', ...members });

/** Fails unless the entry has the protocol, and what somebody else has changed. */
async function mustHave({ stage }: Scene, protocol: string): Promise<void> {
  const entry = await stage.api<Record<string, unknown>>('GET /v1/config/service-defaults/web');
  const { Protocol, MaxInboundConnections } = entry;
  if (Protocol !== protocol || MaxInboundConnections !== 7) throw new Error(JSON.stringify(entry));
}

const OTHER_FIELD = { Protocol: 'http', MaxInboundConnections: 7 };
const SAME_FIELD = { Protocol: 'http2', MaxInboundConnections: 7 };

/** Fails unless the policy that was made means what it is to mean. */
async function mustGrant({ stage }: Scene): Promise<void> {
  const { Rules } = await stage.api<{ Rules: string }>('GET /v1/acl/policy/name/web-team');
  if (Rules.replaceAll(/\s/g, '') !== RULES.replaceAll(/\s/g, '')) throw new Error(Rules);
}

/** The jobs with the pages of this build. */
export const STEPS: Steps = {
  async policy(scene, person) {
    const { page } = scene;
    await person.click(link(page, 'Policies'));
    await person.click(link(page, 'New policy'));
    await page.locator('input:focus').waitFor();
    await person.type(page, 'web-team');
    await person.press(page, 'Tab', 'Tab');
    await person.complete(page, 'ser');
    await person.type(page, 'web');
    await person.press(page, 'Tab');
    await person.complete(page, 'r');
    await person.command(page, 'Control+Enter');
    await saved(page);
    await mustGrant(scene);
  },
  async role({ page }, person) {
    await person.click(link(page, 'New role'));
    await page.locator('input:focus').waitFor();
    await person.type(page, 'deploy-web');
    await person.press(page, 'Enter');
    await saved(page);
  },
  async token({ page }, person) {
    await person.click(link(page, 'New token'));
    await page.locator('input:focus').waitFor();
    await person.type(page, 'web deploys');
    await person.press(page, 'Enter');
    await person.click(button(page, 'Copy'));
    await page.getByText('Copied').waitFor();
    // Not counted: the box of the secret stays until then.
    await button(page, 'I have it').click();
  },
  async 'login refused and mended'({ page, deployer, jwt }, person) {
    const job = await deployer();
    await person.click(job.getByRole('tab', { name: 'With a JWT' }));
    await person.click(field(job, 'Auth method'));
    await person.type(job, 'ci');
    await person.press(job, 'Tab', 'Tab');
    await person.paste(job, jwt);
    await person.press(job, 'Enter');
    const refusal = job.getByRole('alert').filter({ hasText: 'The login was refused' });
    await person.read(refusal);
    const decision = /decision ([-0-9a-f]+)/.exec(String(await refusal.first().textContent()))![1]!;
    await person.click(refusal.first(), 2);
    await person.press(job, 'Control+c');
    await person.command(page, 'Control+k');
    await person.paste(page, decision);
    await person.read(page.getByRole('option', { name: decision }));
    await person.press(page, 'Enter');
    await person.read(page.getByText(/^Login by ci/));
    await person.click(page.getByRole('link', { name: 'role deploy-web' }));
    await person.click(field(page, 'Selector'));
    await person.press(page, 'End', 'ArrowLeft', 'Backspace', 'Backspace', 'Backspace');
    await person.type(page, 'web');
    await person.command(page, 'Control+Enter');
    await person.read(selected(page));
    await person.command(page, 'Control+Enter');
    await saved(page);
    await person.click(button(job, 'Log in'));
    await job.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  },
  async conflict(scene, person) {
    const { page } = scene;
    await person.click(page.getByLabel('Protocol'));
    await person.press(page, 'g', 'Enter');
    await changeMeanwhile(scene, OTHER_FIELD);
    await person.click(button(page, 'Save'));
    await person.read(selected(page));
    await person.click(dialogButton(page, 'Apply'));
    await saved(page);
    await mustHave(scene, 'grpc');
  },
  async 'conflict about the same field'(scene, person) {
    const { page } = scene;
    await person.click(page.getByLabel('Protocol'));
    await person.press(page, 't', 'Enter');
    await changeMeanwhile(scene, SAME_FIELD);
    await person.click(button(page, 'Save'));
    await person.read(page.getByRole('alert').filter({ hasText: /changed meanwhile/i }));
    if ((await selected(page).count()) === 0)
      await person.click(button(page, 'Keep mine and review'));
    await person.read(selected(page));
    await person.click(dialogButton(page, 'Apply'));
    await saved(page);
    await mustHave(scene, 'tcp');
  },
};

/** Saves with the pages of before: a review first, whatever is saved. */
async function saveBefore(page: Page, person: Person): Promise<void> {
  await person.click(button(page, 'Save'));
  await person.read(selected(page));
  await person.click(dialogButton(page, 'Apply'));
}

/** Logs in by the command, which is how a JWT was used. Returns what it prints. */
async function runLogin({ program, stage, jwt }: Scene): Promise<string> {
  const [bearer, sink] = ['ci.jwt', 'ci.token'].map((name) => join(stage.cluster.dir, name));
  writeFileSync(bearer!, jwt);
  const files = ['--bearer-token-file', bearer!, '--token-sink-file', sink!];
  const args = [
    program,
    'login',
    '--http-addr',
    stage.cluster.urls[0]!,
    '--method',
    'ci',
    ...files,
  ];
  try {
    return (await promisify(execFile)(process.execPath, args)).stdout;
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}

const LOGIN = 'conclave login --method ci --bearer-token-file ci.jwt --token-sink-file ci.token';

/** The jobs with the pages of commit 5984ef8. */
export const STEPS_BEFORE: Steps = {
  async policy(scene, person) {
    const { page } = scene;
    await person.click(link(page, 'Policies'));
    await person.click(link(page, 'New policy'));
    await person.click(field(page, 'Name'));
    await person.type(page, 'web-team');
    await person.press(page, 'Tab', 'Tab');
    await person.type(page, RULES);
    await saveBefore(page, person);
    await saved(page);
    await mustGrant(scene);
  },
  async role({ page }, person) {
    await person.click(link(page, 'Roles'));
    await person.click(link(page, 'New role'));
    await person.click(field(page, 'Name'));
    await person.type(page, 'deploy-web');
    await person.press(page, 'Tab', 'Tab');
    await person.pick(page, 'web', 'web-team');
    await person.press(page, 'Enter');
    await saveBefore(page, person);
    await saved(page);
  },
  async token({ page }, person) {
    await person.click(link(page, 'Tokens'));
    await person.click(link(page, 'New token'));
    await person.click(field(page, 'Description'));
    await person.type(page, 'web deploys');
    await person.press(page, 'Tab', 'Tab', 'Tab');
    await person.pick(page, 'dep', 'deploy-web');
    await person.press(page, 'Enter');
    await saveBefore(page, person);
    await saved(page);
    await person.click(button(page, 'Copy'));
  },
  async 'login refused and mended'(scene, person) {
    const { page, deployer } = scene;
    await person.enter(LOGIN);
    const refusal = await runLogin(scene);
    const [, decision = ''] = /decision ([-0-9a-f]+)/.exec(refusal)!;
    await person.copyFromTerminal();
    await person.press(page, 'Control+c');
    await person.click(link(page, 'Explain'));
    await person.click(field(page, 'Decision id'));
    await person.paste(page, decision);
    await person.press(page, 'Enter');
    await person.read(page.getByText(/Login by ci|ci/));
    await person.click(link(page, 'Binding rules'));
    await person.click(page.getByRole('table').getByRole('link').first());
    await person.click(field(page, 'Selector'));
    await person.press(page, 'End', 'ArrowLeft', 'Backspace', 'Backspace', 'Backspace');
    await person.type(page, 'web');
    await saveBefore(page, person);
    await saved(page);
    await person.enter(LOGIN, { isAgain: true });
    await runLogin(scene);
    await person.enter('cat ci.token');
    await person.copyFromTerminal();
    await person.press(page, 'Control+c');
    const job = await deployer();
    const { SecretID } = await scene.stage.api<{ SecretID: string }>(
      'POST /v1/acl/login',
      { AuthMethod: 'ci', BearerToken: scene.jwt },
      '',
    );
    await person.click(field(job, 'Token'));
    await person.paste(job, SecretID);
    await person.press(job, 'Enter');
    await job.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  },
  async conflict(scene, person) {
    const { page } = scene;
    const protocol = page.locator('.cm-content').getByText('"http"');
    await person.click(protocol, 2);
    await person.type(page, 'grpc');
    await changeMeanwhile(scene, OTHER_FIELD);
    await saveBefore(page, person);
    await person.read(page.getByRole('alert').filter({ hasText: /changed meanwhile/i }));
    // "Keep mine" would undo what the other person has changed.
    await person.click(button(page, 'Go on from theirs'));
    await person.click(protocol, 2);
    await person.type(page, 'grpc');
    await saveBefore(page, person);
    await saved(page);
    await mustHave(scene, 'grpc');
  },
  async 'conflict about the same field'(scene, person) {
    const { page } = scene;
    await person.click(page.locator('.cm-content').getByText('"grpc"'), 2);
    await person.type(page, 'tcp');
    await changeMeanwhile(scene, SAME_FIELD);
    await saveBefore(page, person);
    await person.read(page.getByRole('alert').filter({ hasText: /changed meanwhile/i }));
    await person.click(button(page, 'Keep mine and review'));
    await person.read(selected(page));
    await person.click(dialogButton(page, 'Apply'));
    await saved(page);
    await mustHave(scene, 'tcp');
  },
};
