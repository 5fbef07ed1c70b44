/**
 * A fuzz run: a cluster of three, a warm-up, shots for a time or a number, and the state of the
 * nodes afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../cluster/checker/random.js';
import { startCluster } from '../../cluster/local.js';
import type { LocalCluster } from '../../src/dev/local.js';
import { Setting } from '../bench/setting.js';
import { allEndpoints, type Fuzzed, labelOf } from './endpoints.js';
import { FIGURES_VARIABLE, type Figures, memoryOf } from './figures.js';
import { Gun } from './gun.js';
import { HttpShots } from './http-shots.js';
import { problemOf } from './judge.js';
import { Issuer } from './jwt.js';
import { MemberShots } from './members.js';
import { rawShot } from './raw-shots.js';
import { Findings, type FuzzReport } from './report.js';
import type { Shot } from './shot.js';
import { figuresFile, Watch } from './watch.js';
import { Writers } from './writers.js';

export interface FuzzPlan {
  readonly seed: number;
  readonly dir: string;
  /** When the shots end: after a number of seconds, or of shots. */
  readonly seconds?: number;
  readonly shots?: number;
  /** Shots before the figures with which later ones are compared. */
  readonly warmUp: number;
  /** Shots per second. */
  readonly rate: number;
  readonly note: (text: string) => void;
}

const PRELOAD = new URL('./preload.js', import.meta.url).href;
/** The number of concurrent shots. */
const ABREAST = 128;
const TICK_MS = 20;
const LOOK_MS = 1000;
const NOTE_MS = 30_000;
/** The proportions of shots at the connection and at the members' port. */
const RAW = 0.08;
const MEMBERS = 0.06;
/** The number of silent HTTP connections per node that are open all the time. */
const HELD = 20;
/** The proportion of restore bodies that are a complete archive. */
const WHOLE_ARCHIVE = 0.03;
const SETTINGS = {
  // Long, so that a busy machine does not raise the term, which only a forged message should.
  raft: { electionMs: 3000, heartbeatMs: 100, leaseMs: 1000 },
  // About 65,000 results of requests are remembered. After a secret was deleted they are dropped
  // within this time. Most shots are refused, and no refusal should be delayed.
  limits: { requestMs: 12_000, secretsGoneMs: 48_000, refusalsPerAddress: 0 },
};
const WEAK_RULES =
  'key_prefix "" { policy = "read" } service "web" { policy = "read" } agent_prefix "" { policy = "read" }';

export async function fuzz(plan: FuzzPlan): Promise<FuzzReport> {
  const { dir } = plan;
  const run = (name: string) => ({
    preload: [PRELOAD],
    env: { [FIGURES_VARIABLE]: figuresFile(dir, name) },
  });
  const cluster = await startCluster({ nodes: 3, dir, run, settings: SETTINGS });
  try {
    return await new Run(plan, cluster).all();
  } finally {
    await cluster.stop();
  }
}

class Run {
  readonly #plan: FuzzPlan;
  readonly #cluster: LocalCluster;
  readonly #setting: Setting;
  readonly #gun: Gun;
  readonly #random: Random;
  readonly #findings = new Findings();
  readonly #issuer = new Issuer();
  readonly #watch: Watch;
  readonly #endpoints = allEndpoints();
  #archive = Buffer.alloc(0);
  #http: HttpShots | undefined;
  #members: MemberShots | undefined;
  #firstTerm = 0;
  #newestTerm = 0;
  #termTold = false;
  #flying = 0;

  constructor(plan: FuzzPlan, cluster: LocalCluster) {
    this.#plan = plan;
    this.#cluster = cluster;
    this.#setting = new Setting(cluster);
    this.#gun = new Gun(cluster.urls);
    this.#random = new Random(plan.seed);
    this.#watch = new Watch(this.#setting);
  }

  async all(): Promise<FuzzReport> {
    const { warmUp, note } = this.#plan;
    const writers = new Writers(this.#setting);
    let [before, after]: [Figures[], Figures[]] = [[], []];
    await this.#setUp();
    try {
      // Each endpoint is called once before anything is measured, so that its code is loaded.
      for (const endpoint of this.#endpoints) this.#shoot(this.#http!.at(endpoint));
      await this.#fire(() => this.#findings.shots < warmUp);
      await this.#calm();
      before = await this.#watch.figures();
      note(`warm after ${this.#findings.shots} shots`);
      writers.start();
      await this.#fire(this.#untilTheEnd());
      await writers.stop();
      await this.#calm();
      note('calm: looking at what is left');
      const settled = await this.#watch.settled(before);
      after = settled.figures;
      this.#findings.addAll([...settled.problems, ...(await this.#watch.disagreement())]);
      await this.#checkReached();
    } catch (error) {
      this.#findings.addAll([`the run broke off: ${(error as Error).message}`]);
      await writers.stop();
    }
    await this.#look();
    this.#findings.addAll(writers.problems);
    return this.#findings.report({
      ...{ seed: this.#plan.seed, before, after },
      ...{ written: writers.written, slowestWriteMs: Math.round(writers.slowestMs) },
      ...{ members: this.#members!.counts, logLines: this.#watch.lines },
      ...{ term: this.#newestTerm, transfers: this.#http!.transfers },
      stallMs: await this.#watch.stallMs().catch(() => 0),
    });
  }

  /** Whether to send more shots after the warm-up. */
  #untilTheEnd(): () => boolean {
    const { seconds, shots } = this.#plan;
    const until = performance.now() + (seconds ?? Number.POSITIVE_INFINITY) * 1000;
    const most = this.#findings.shots + (shots ?? Number.POSITIVE_INFINITY);
    return () => performance.now() < until && this.#findings.shots < most;
  }

  /** Creates a weak token, an auth method, and an archive to which the state is reset. */
  async #setUp(): Promise<void> {
    await this.#setting.put('/v1/acl/policy', { Name: 'fuzz-weak', Rules: WEAK_RULES });
    const weak = await this.#setting.put('/v1/acl/token', { Policies: [{ Name: 'fuzz-weak' }] });
    for (const [path, body] of this.#issuer.setUp) await this.#setting.put(path, body);
    const { SecretID } = JSON.parse(weak.body.toString()) as { SecretID: string };
    const answer = await fetch(`${this.#cluster.urls[0]}/v1/snapshot`, {
      headers: { 'x-service-token': this.#cluster.token, connection: 'close' },
    });
    this.#archive = Buffer.from(await answer.arrayBuffer());
    const plan = {
      endpoints: this.#endpoints,
      hosts: this.#cluster.urls.map((url) => new URL(url).host),
      tokens: { management: this.#cluster.token, weak: SecretID },
      bodyFor: (endpoint: Fuzzed, random: Random) => this.#bodyFor(endpoint, random),
    };
    this.#http = new HttpShots(plan, this.#random.fork());
    this.#members = await MemberShots.of(this.#cluster, this.#random.fork());
    this.#findings.addAll(await this.#members.greet());
    this.#firstTerm = await this.#watch.term();
  }

  #bodyFor(endpoint: Fuzzed, random: Random): Buffer | undefined {
    const label = labelOf(endpoint);
    if (label === 'POST /v1/acl/login' && random.chance(0.7))
      return Buffer.from(JSON.stringify(this.#issuer.login(random)));
    if (label === 'POST /access/v1/evaluation' && random.chance(0.4))
      return Buffer.from(JSON.stringify(this.#issuer.decision(random)));
    return label === 'PUT /v1/snapshot' ? this.#anArchive(random) : undefined;
  }

  #anArchive(random: Random): Buffer {
    if (random.chance(WHOLE_ARCHIVE)) return this.#archive;
    const changed = Buffer.from(this.#archive);
    for (let n = 1 + random.int(3); n > 0; n--)
      changed[random.int(changed.length)]! ^= 1 << random.int(8);
    return random.chance(0.7) ? changed : changed.subarray(0, random.int(changed.length));
  }

  /** Sends shots at the planned rate while `goesOn` is true. Resolves once all have ended. */
  async #fire(goesOn: () => boolean): Promise<void> {
    const { rate, note } = this.#plan;
    for (let node = 0; node < this.#cluster.nodes.length; node++)
      for (let n = 0; n < HELD; n++) this.#gun.hold(node);
    const began = performance.now();
    const first = this.#findings.shots;
    let [looked, noted] = [began, began];
    while (goesOn()) {
      const now = performance.now();
      // A delayed client does not catch up.
      const due = Math.min(((now - began) * rate) / 1000 - (this.#findings.shots - first), rate);
      for (let n = 0; n < due && this.#flying < ABREAST && goesOn(); n++) this.#next();
      if (now - looked > LOOK_MS) {
        looked = now;
        if (!(await this.#look())) break;
      }
      if (now - noted > NOTE_MS) {
        noted = now;
        note(`${this.#findings.summary()}; ${memoryOf(await this.#watch.figures())}`);
      }
      await sleep(TICK_MS);
    }
    while (this.#flying > 0) await sleep(TICK_MS);
  }

  #next(): void {
    const draw = this.#random.next();
    if (draw < MEMBERS) this.#shootMember();
    else if (draw < MEMBERS + RAW) this.#shoot(rawShot(this.#random, this.#cluster.nodes.length));
    else this.#shoot(this.#http!.next());
  }

  #shoot(shot: Shot): void {
    this.#findings.remember({ ...shot, bytes: Buffer.concat(shot.parts) });
    this.#flying += 1;
    this.#findings.shots += 1;
    void this.#gun.fire(shot).then((outcome) => {
      this.#flying -= 1;
      this.#findings.count(shot, outcome);
      for (const reply of outcome.replies) this.#http!.learn(shot, reply);
      const problem = problemOf(shot, outcome);
      if (problem !== undefined) this.#findings.add(problem, shot, this.#cluster.urls[shot.node]!);
    });
  }

  #shootMember(): void {
    this.#flying += 1;
    this.#findings.shots += 1;
    void this.#members!.next().then((shot) => {
      this.#flying -= 1;
      this.#findings.remember(shot);
    });
  }

  /** Whether there is still a cluster to fuzz. */
  async #look(): Promise<boolean> {
    const problems = this.#watch.problems();
    this.#findings.addAll(problems);
    if (this.#cluster.nodes.some(({ pid }) => pid === undefined)) return false;
    try {
      this.#newestTerm = await this.#watch.term();
      // Each transfer that was sent may have raised it.
      const allowed = this.#firstTerm + this.#http!.transfers;
      if (this.#newestTerm > allowed && !this.#termTold) {
        this.#termTold = true;
        this.#findings.addAll([`the term is ${this.#newestTerm}, ${allowed} at most was expected`]);
      }
    } catch (error) {
      this.#findings.addAll([`a node does not tell its metrics: ${(error as Error).message}`]);
    }
    return true;
  }

  /**
   * Disconnects all clients, restores the first state, and deletes a secret, so that the results of
   * requests are dropped.
   */
  async #calm(): Promise<void> {
    await Promise.all([this.#gun.close(), this.#members!.close()]);
    const answer = await fetch(`${this.#cluster.urls[0]}/v1/snapshot`, {
      method: 'PUT',
      headers: { 'x-service-token': this.#cluster.token, connection: 'close' },
      body: new Uint8Array(this.#archive),
    });
    const text = await answer.text();
    if (answer.status !== 200)
      this.#findings.addAll([`the archive of the beginning is refused: ${answer.status} ${text}`]);
    const made = await this.#setting.put('/v1/acl/token', {});
    const { AccessorID } = JSON.parse(made.body.toString()) as { AccessorID: string };
    await this.#setting.ask({ method: 'DELETE', path: `/v1/acl/token/${AccessorID}` });
    await this.#watch.quiet();
  }

  /**
   * Checks that every endpoint has responded, by the nodes' own count, and that no wrong key was
   * accepted.
   */
  async #checkReached(): Promise<void> {
    const reached = await this.#watch.reached();
    for (const endpoint of this.#endpoints)
      if (!reached.has(labelOf(endpoint)))
        this.#findings.addAll([`${labelOf(endpoint)} was never reached`]);
    if (this.#members!.counts['wrong key: let in'])
      this.#findings.addAll(['a wrong key was let in']);
  }
}
