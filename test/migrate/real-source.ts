/** A real Consul on free ports of the loopback address. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts, HOST } from '../../src/dev/ports.js';
import { type Answer, send } from '../support/client.js';
import type { Json, Recorded } from './stand-in.js';

/** The program that CONSUL names; undefined if it names none. */
export const CONSUL = process.env['CONSUL'];
/** How often it is asked whether it has a leader, and the pause between. */
const TRIES = 120;
const PAUSE_MS = 500;

/** What a write may not contain. */
const OF_ANSWERS = ['ID', 'Hash', 'CreateIndex', 'ModifyIndex', 'CreateTime', 'ExpirationTime'];
const without = (one: Json, members: readonly string[]): Json =>
  Object.fromEntries(Object.entries(one).filter(([key]) => !members.includes(key)));
const linksOf = (one: Json, member: string): Json => {
  const links = one[member] as readonly Json[] | undefined;
  return links === undefined ? {} : { [member]: links.map(({ Name }) => ({ Name })) };
};

/** A server of one node with an initial management token. */
export class RealSource {
  readonly token: string;
  readonly url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  constructor(url: string, token: string, folder: string, program: ChildProcess) {
    this.url = url;
    this.token = token;
    this.#folder = folder;
    this.#process = program;
  }

  static async start(
    program: string,
    defaultPolicy: 'allow' | 'deny' = 'deny',
  ): Promise<RealSource> {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-source-'));
    const [http, server, serf] = await freePorts(3);
    const token = randomUUID();
    const config = {
      datacenter: 'dc1',
      data_dir: join(folder, 'data'),
      server: true,
      bootstrap_expect: 1,
      bind_addr: HOST,
      client_addr: HOST,
      disable_update_check: true,
      log_level: 'error',
      performance: { raft_multiplier: 1 },
      ports: { http, server, serf_lan: serf, serf_wan: -1, dns: -1, grpc: -1, grpc_tls: -1 },
      acl: {
        enabled: true,
        default_policy: defaultPolicy,
        tokens: { initial_management: token },
      },
    };
    const file = join(folder, 'source.json');
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    const child = spawn(program, ['agent', `-config-file=${file}`], { stdio: 'ignore' });
    const source = new RealSource(`http://${HOST}:${http}`, token, folder, child);
    await source.#ready();
    return source;
  }

  async #ready(): Promise<void> {
    for (let tried = 0; tried < TRIES; tried += 1) {
      // Nothing tells when another program is ready.
      await pause(PAUSE_MS);
      const answer = await this.ask('GET /acl/policies').catch(() => undefined);
      if (answer?.status === 200) return;
    }
    await this.close();
    throw new Error('the program that CONSUL names has no leader');
  }

  /** Asks it. `call` is a method and a path below /v1. */
  ask(call: string, body?: unknown, token = this.token) {
    const headers = { 'X-Consul-Token': token };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return send(this.url, call.replace(' /', ' /v1/'), { headers, ...sent });
  }

  /** Returns the body of an answer to a call that must succeed. */
  async must(call: string, body?: unknown, token = this.token): Promise<Answer['body']> {
    const { status, text } = await this.ask(call, body, token);
    if (status !== 200) throw new Error(`${call} ${JSON.stringify(body)}: ${status} ${text}`);
    return JSON.parse(text);
  }

  /** Writes what a client may write of a recorded source: no logins, and nothing that is over. */
  async fill(recorded: Recorded): Promise<void> {
    const put = (path: string, body: Json): Promise<Json> => this.must(`PUT /${path}`, body);
    for (const one of recorded.Policies)
      if (!String(one['ID']).startsWith('00000000'))
        await put('acl/policy', without(one, OF_ANSWERS));
    for (const one of recorded.Roles)
      await put('acl/role', { ...without(one, OF_ANSWERS), ...linksOf(one, 'Policies') });
    for (const one of recorded.AuthMethods) await put('acl/auth-method', without(one, OF_ANSWERS));
    for (const one of recorded.BindingRules)
      await put('acl/binding-rule', without(one, OF_ANSWERS));
    for (const one of recorded.Tokens) {
      const { ExpirationTime: end } = one;
      const isOver = Date.parse(String(end)) < Date.now();
      if (one['AuthMethod'] !== undefined || isOver) continue;
      const isBuiltIn = String(one['AccessorID']).startsWith('00000000');
      const isUuid = /^[0-9a-f-]{36}$/.test(String(one['SecretID']));
      if (isBuiltIn || !isUuid) continue;
      const links = { ...linksOf(one, 'Policies'), ...linksOf(one, 'Roles') };
      // A day is the most that it takes.
      const ends = end === undefined ? {} : { ExpirationTTL: '23h' };
      await put('acl/token', { ...without(one, OF_ANSWERS), ...links, ...ends });
    }
    for (const one of recorded.Entries)
      await put('config', without(one, ['Status', 'CreateIndex', 'ModifyIndex']));
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
