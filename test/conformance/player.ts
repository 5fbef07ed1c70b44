/** Plays one case against a cluster, each request to a random node. README.md has the format. */
import { randomUUID } from 'node:crypto';
import type { Exchange } from '../openapi/checker.js';
import { type Reply, send } from '../support/client.js';
import { type Json, mismatches } from './matchers.js';

export interface Step {
  call: string;
  token?: string;
  headers?: Record<string, string>;
  body?: Json;
  raw?: string;
  expect?: {
    status?: Json;
    headers?: Record<string, Json>;
    body?: Json;
    text?: Json;
    minMs?: number;
    maxMs?: number;
  };
  save?: Record<string, string>;
  during?: Step[];
  duringAfterMs?: number;
}
export interface Case {
  name: string;
  tags?: string[];
  steps: Step[];
  cleanup?: Step[];
}
export interface Target {
  urls: readonly string[];
  token: string;
  /** Sees every request with its answer. */
  observe?: (exchange: Exchange) => void;
}
type Variables = Map<string, Json>;

const PREFIX = 'X-Service';
const headerName = (name: string): string =>
  (name.startsWith('@') ? `${PREFIX}-${name.slice(1)}` : name).toLowerCase();

/** Inserts variables into every text of a value; a text that is a variable gets its type too. */
function fill(value: Json, variables: Variables): Json {
  if (typeof value === 'string') {
    const whole = /^\$\{(\w+)\}$/.exec(value)?.[1];
    if (whole !== undefined) {
      if (!variables.has(whole)) throw new Error(`variable ${whole} has not been saved`);
      return variables.get(whole);
    }
    return value.replace(/\$\{(\w+)\}/g, (all, name: string) =>
      variables.has(name) ? String(variables.get(name)) : all,
    );
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [fill(key, variables), fill(item, variables)]),
  );
}

function pick(from: string, reply: Reply, json: Json): Json {
  if (from.startsWith('@')) return reply.headers[headerName(from)];
  if (from === '.') return json;
  return from
    .split('.')
    .reduce<Json>((value, key) => (value as Record<string, Json> | undefined)?.[key], json);
}

function judge(
  expected: NonNullable<Step['expect']>,
  reply: Reply,
  json: Json,
  tookMs: number,
): string[] {
  const found: string[] = [];
  if (expected.status !== undefined)
    found.push(...mismatches(expected.status, reply.status, 'status'));
  for (const [name, wanted] of Object.entries(expected.headers ?? {}))
    found.push(...mismatches(wanted, reply.headers[headerName(name)], `header ${name}`));
  if (expected.body !== undefined)
    found.push(...mismatches(expected.body, json === undefined ? reply.text : json));
  if (expected.text !== undefined)
    found.push(...mismatches(expected.text, reply.text.trim(), 'text'));
  if (expected.minMs !== undefined && tookMs < expected.minMs)
    found.push(`answered after ${tookMs.toFixed(0)} ms, should hold for ${expected.minMs} ms`);
  if (expected.maxMs !== undefined && tookMs > expected.maxMs)
    found.push(`answered after ${tookMs.toFixed(0)} ms, should take at most ${expected.maxMs} ms`);
  return found;
}

function requestOf(step: Step, variables: Variables) {
  const [method = '', ...rest] = String(fill(step.call, variables)).split(' ');
  const headers: Record<string, string> = {};
  const token =
    step.token === undefined ? variables.get('management') : fill(step.token, variables);
  if (step.token !== '') headers[headerName('@Token')] = String(token);
  for (const [name, value] of Object.entries(step.headers ?? {}))
    headers[headerName(name)] = String(fill(value, variables));
  let payload: string | undefined;
  if (step.raw !== undefined) payload = String(fill(step.raw, variables));
  else if (step.body !== undefined) payload = JSON.stringify(fill(step.body, variables));
  if (payload !== undefined) headers['content-type'] ??= 'application/json';
  return { method, path: rest.join(' '), headers, payload };
}

async function playStep(step: Step, variables: Variables, target: Target): Promise<string[]> {
  const { method, path, headers, payload } = requestOf(step, variables);
  const base = target.urls[Math.floor(Math.random() * target.urls.length)] ?? '';
  const started = performance.now();
  const sent = { headers, ...(payload !== undefined && { body: payload }) };
  const pending = send(base, `${method} ${path}`, sent);
  const found: string[] = [];
  if (step.during) {
    // The call must be held by the server before the others are made; nothing announces that.
    await new Promise((resolve) => setTimeout(resolve, step.duringAfterMs ?? 300));
    for (const inner of step.during) found.push(...(await playStep(inner, variables, target)));
  }
  const reply = await pending;
  target.observe?.({ method, path, payload, ...reply });
  let json: Json;
  try {
    json = JSON.parse(reply.text);
  } catch {
    json = undefined;
  }
  const expected = fill(step.expect ?? {}, variables) as NonNullable<Step['expect']>;
  found.push(...judge(expected, reply, json, performance.now() - started));
  for (const [name, from] of Object.entries(step.save ?? {})) {
    const value = pick(from, reply, json);
    if (value === undefined) found.push(`nothing to save as ${name} from ${from}`);
    else variables.set(name, value);
  }
  return found.map(
    (one) =>
      `${method} ${path} -> ${reply.status} ${reply.text.slice(0, 200).trim()}\n      ${one}`,
  );
}

/** Plays a case and removes its objects again; returns the differences from the record. */
export async function play(one: Case, target: Target): Promise<string[]> {
  const variables: Variables = new Map<string, Json>([
    ['management', target.token],
    ['run', randomUUID().slice(0, 8)],
    ['uuid', randomUUID()],
  ]);
  try {
    for (const step of one.steps) {
      const found = await playStep(step, variables, target);
      if (found.length > 0) return found;
    }
    return [];
  } finally {
    for (const { call, token, headers, body, raw } of one.cleanup ?? []) {
      const bare: Step = { call };
      if (token !== undefined) bare.token = token;
      if (headers !== undefined) bare.headers = headers;
      if (body !== undefined) bare.body = body;
      if (raw !== undefined) bare.raw = raw;
      await playStep(bare, variables, target).catch(() => undefined); // may not exist
    }
  }
}
