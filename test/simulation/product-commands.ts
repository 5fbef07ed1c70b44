/** Commands of the product by chance, over a few names, so that they meet. */
import type { Random } from '../../cluster/checker/random.js';
import { decodeInSteps } from '../../src/kinds/decode.js';
import type { Command } from '../../src/state/types.js';

/** The services that entries are about. */
export const SERVICES = ['web', 'api', 'db'] as const;

const AT = '2030-01-01T00:00:00Z';
const id = (kind: number, n: number): string =>
  `${String(kind).padStart(8, '0')}-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;

/** What the first leader proposes in a new cluster. */
const init = { type: 'system.init', v: 1, createTime: AT } as const;

/**
 * `n`: another number for each command, so that no two have the same content. `isKnown`: whether
 * the server that gets it has a type of commands; by default only those of the first releases.
 */
export function productCommand(
  random: Random,
  n: number,
  isKnown = (type: string): boolean => !['set.apply', 'tokens.import'].includes(type),
): Command {
  const makers = [init, entrySet, entrySet, entrySet, entryDelete, aclCommand];
  const newer = { 'set.apply': setApply, 'tokens.import': tokensImport };
  const known = Object.entries(newer).flatMap(([type, make]) => (isKnown(type) ? [make] : []));
  const all = [...makers, ...known];
  return random.pick(all.map(called))(random, n);
}

/** Adds who caused a command, and to some a precondition. `n`: another number for each command. */
export function authored(command: Command, n: number): Command {
  const Identity = { AuthMethod: 'm1', Namespace: 'default', Subject: `user-${n % 4}` };
  const author =
    command.type === 'token.login'
      ? { AccessorID: '', Description: '', Identity }
      : { AccessorID: id(3, n % 3), Description: `token ${n % 3}` };
  const reason = `ticket ${n}`;
  // What the server reaps by itself has no precondition.
  const hasMatch = n % 7 === 0 && !command.type.endsWith('.reap');
  return {
    ...command,
    author,
    time: '2030-01-01T00:00:00.000Z',
    reason,
    ...(hasMatch && { match: 'any' as const }),
  };
}

type Make = (random: Random, n: number) => Command;
const called = (each: Make | Command): Make => (typeof each === 'function' ? each : () => each);

function bodyOf(random: Random, n: number): { Kind: string; Name: string } {
  const Name = random.pick(SERVICES);
  const other = random.pick(SERVICES);
  const Protocol = random.pick(['http', 'http', 'tcp']);
  const Splits = [
    { Weight: 40, Service: other },
    { Weight: 60, Service: Name },
  ];
  const Match = { HTTP: { PathPrefix: `/${n}` } };
  const bodies = [
    { Kind: 'service-defaults', Name, Protocol, Meta: { n: String(n) } },
    { Kind: 'service-defaults', Name, Protocol },
    { Kind: 'service-resolver', Name, ConnectTimeout: `${1 + (n % 9)}s` },
    { Kind: 'service-resolver', Name, Redirect: { Service: other } },
    { Kind: 'service-splitter', Name, Splits },
    { Kind: 'service-router', Name, Routes: [{ Match, Destination: { Service: other } }] },
    { Kind: 'service-intentions', Name, Sources: [{ Name: other, Action: 'allow' }] },
    { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: Protocol } },
  ];
  return random.pick(bodies);
}

/** An entry in the form in which it is stored. Bodies that the product refuses are drawn again. */
function entrySet(random: Random, n: number): Command {
  for (;;) {
    const steps = decodeInSteps(bodyOf(random, n), { namespace: 'default' });
    let step = steps.next();
    while (!step.done) step = steps.next();
    if (!step.value.ok) continue;
    const { entry } = step.value;
    const { Kind: kind, Name: name } = entry;
    const what = { ns: 'default', kind, name, entry: JSON.stringify(entry), cas: null };
    return { type: 'config.set', v: 1, at: AT, datacenter: 'dc1', ...what } as Command;
  }
}

function entryDelete(random: Random, n: number): Command {
  const { Kind: kind, Name: name } = bodyOf(random, n);
  const what = { ns: 'default', kind, name, cas: null };
  return { type: 'config.delete', v: 1, at: AT, datacenter: 'dc1', ...what } as Command;
}

function aclCommand(random: Random, n: number): Command {
  const ns = 'default';
  const policy = id(1, random.int(3));
  const role = id(2, random.int(3));
  const accessor = id(3, random.int(3));
  const Name = random.pick(['a', 'b']);
  const create = random.chance(0.5);
  const Policies = [{ ID: policy }];
  const Rules = random.pick(['acl = "read"', 'service "web" { policy = "write" }']);
  const token = { Description: `token ${n}`, Policies, Roles: [{ ID: role }], Local: false };
  const made = { ns, accessor, secret: id(5, n), createTime: AT };
  const commands: Record<string, object> = {
    'policy.set': {
      ns,
      id: policy,
      create,
      hash: `${n}`,
      policy: { Name, Description: '', Rules },
    },
    'policy.delete': { ns, id: policy },
    'role.set': { ns, id: role, create, role: { Name, Description: `role ${n}`, Policies } },
    'role.delete': { ns, id: role },
    'token.create': { ...made, token },
    'token.delete': { ns, accessor, callerKey: null },
  };
  const type = random.pick(Object.keys(commands));
  return { type, v: 1, ...commands[type] };
}

/** A set that makes objects that link each other, or refuses all of them because one is there. */
export function setApply(random: Random, n: number): Command {
  const ns = 'default';
  const isTaken = random.chance(0.3);
  const [policy, role] = [id(6, n), id(7, n)];
  const Policies = [{ Name: `p${n}` }];
  const made: Command[] = [
    { type: 'role.set', v: 1, ns, id: role, create: true, role: roleOf(`r${n}`, Policies) },
    { type: 'policy.set', v: 1, ns, id: policy, create: true, hash: `${n}`, policy: policyOf(n) },
  ] as object[] as Command[];
  const { name, ...entry } = entrySet(random, n) as Command & { name: string };
  const other = { ...entry, name, cas: null } as Command;
  const changes = [...made, other].map((command) => ({ command, owner: { Owner: 'sets' } }));
  // what exists already is not as it was compared: nothing of the set happens
  const kept = isTaken ? changes : changes.slice(0, 2);
  return { type: 'set.apply', v: 1, at: AT, datacenter: 'dc1', changes: kept } as Command;
}

/** From this number on secrets are those of accessors, which imports bring again and again. */
const OFTEN_FROM = 900_000;

/** Whether imports bring a secret again and again, also in entries that others overwrite. */
export const isBroughtOften = (secret: string): boolean =>
  secret.startsWith(id(5, 0).slice(0, -6)) && Number(secret.slice(-6)) >= OFTEN_FROM;

/** An import of tokens of which some are there, with their secrets or others. */
function tokensImport(random: Random, n: number): Command {
  const tokens = [random.int(3), 3 + random.int(3)].map((at) => ({
    ns: 'default',
    accessor: id(9, at),
    secret: random.chance(0.8) ? id(5, OFTEN_FROM + at) : id(5, n),
    createTime: AT,
    token: { Description: `token ${random.int(3)}`, Policies: [], Roles: [], Local: false },
  }));
  const deletes = random.chance(0.5) ? [{ ns: 'default', accessor: id(9, random.int(9)) }] : [];
  const facts = { source: 'dc1', takeOver: false, nowMs: Date.parse(AT) };
  return { type: 'tokens.import', v: 1, ...facts, tokens, deletes } as Command;
}

const roleOf = (Name: string, Policies: object) => ({ Name, Description: '', Policies });
const policyOf = (n: number) => ({ Name: `p${n}`, Description: '', Rules: '' });
