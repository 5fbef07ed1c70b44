/** A real Consul on free ports of the loopback address, filled with a recorded source. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts, HOST } from '../../src/dev/ports.js';
import { send } from '../support/client.js';
import type { Json, Recorded } from './stand-in.js';

/** The program that CONSUL names; undefined if it names none. */
export const CONSUL = process.env['CONSUL'];
/** How often it is asked whether it has a leader, and the pause between. */
const TRIES = 120;
const PAUSE_MS = 500;

/** What a write may not contain. */
const OF_ANSWERS = ['ID', 'Hash', 'CreateIndex', 'ModifyIndex', 'CreateTime'];
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

  static async start(program: string): Promise<RealSource> {
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
      ports: { http, server, serf_lan: serf, serf_wan: -1, dns: -1, grpc: -1, grpc_tls: -1 },
      acl: { enabled: true, default_policy: 'deny', tokens: { initial_management: token } },
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
      const answer = await this.#ask('GET /v1/acl/policies').catch(() => undefined);
      if (answer?.status === 200) return;
    }
    throw new Error('the program that CONSUL names has no leader');
  }

  #ask(call: string, body?: Json) {
    const headers = { 'X-Consul-Token': this.token };
    return send(this.url, call, { headers, ...(body && { body: JSON.stringify(body) }) });
  }

  async #put(path: string, body: Json): Promise<void> {
    const { status, text } = await this.#ask(`PUT /v1/${path}`, body);
    if (status !== 200) throw new Error(`PUT ${path} ${JSON.stringify(body)}: ${status} ${text}`);
  }

  /** Writes what a client may write of a recorded source: no logins, and nothing that is over. */
  async fill(recorded: Recorded): Promise<void> {
    for (const one of recorded.Policies)
      if (!String(one['ID']).startsWith('00000000'))
        await this.#put('acl/policy', without(one, OF_ANSWERS));
    for (const one of recorded.Roles)
      await this.#put('acl/role', { ...without(one, OF_ANSWERS), ...linksOf(one, 'Policies') });
    for (const one of recorded.AuthMethods)
      await this.#put('acl/auth-method', without(one, OF_ANSWERS));
    for (const one of recorded.BindingRules)
      await this.#put('acl/binding-rule', without(one, OF_ANSWERS));
    for (const one of recorded.Tokens) {
      const isOver = Date.parse(String(one['ExpirationTime'])) < Date.now();
      if (one['AuthMethod'] !== undefined || isOver) continue;
      const isBuiltIn = String(one['AccessorID']).startsWith('00000000');
      const isUuid = /^[0-9a-f-]{36}$/.test(String(one['SecretID']));
      if (isBuiltIn || !isUuid) continue;
      const links = { ...linksOf(one, 'Policies'), ...linksOf(one, 'Roles') };
      await this.#put('acl/token', { ...without(one, OF_ANSWERS), ...links });
    }
    for (const one of recorded.Entries) await this.#put('config', without(one, ['Status']));
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
