/** The commands that read the files of a stopped node, or a snapshot file. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BadLine } from '../audit/verify.js';
import { asOwner } from '../base/as-owner.js';
import { type Field, renderFields, renderTable } from '../cli/print/table.js';
import { ConfigError, memberOf } from '../config/config.js';
import { memberFaults } from '../config/rules.js';
import type { FolderFacts, RecoverOptions } from '../node/recover.js';
import type { SnapshotContent } from '../service/archives/snapshot-file.js';
import { StorageError } from '../storage/errors.js';

/** What a command prints: JSON for programs, and lines for people. */
export interface Offline {
  readonly value: unknown;
  readonly text: string;
  /** Whether what was checked is bad. */
  readonly failed?: boolean;
}

const WIDTH = process.stdout.isTTY ? process.stdout.columns : undefined;
const COLOUR = process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';

const fields = (lines: readonly Field[]): string => renderFields(lines, COLOUR);

/** Shows what folders hold. */
export async function inspect(folders: readonly string[]): Promise<Offline> {
  const { inspectFolder } = await import('../node/recover.js');
  const found: (readonly [string, FolderFacts])[] = [];
  for (const folder of folders)
    found.push([folder, await stopped(folder, () => inspectFolder(folder))]);
  if (found.length === 1) {
    const [, facts] = found[0]!;
    return { value: facts, text: fields(factFields(facts)) };
  }
  const verdicts = compare(found);
  const value = { folders: Object.fromEntries(found), verdicts };
  const heads = ['FOLDER', 'NODE', 'LAST TERM', 'LAST INDEX', 'APPLIED', 'DAMAGE'];
  const rows = found.map(([folder, facts]) => [
    folder,
    nameOf(facts),
    ...[facts.lastTerm, facts.lastIndex, facts.appliedIndex].map(String),
    facts.damage.join('; ') || 'none',
  ]);
  const table = renderTable(heads, rows, { width: WIDTH, colour: COLOUR });
  return { value, text: `${table}\n${verdicts.map((line) => `${line}\n`).join('')}` };
}

const nameOf = ({ configuration, nodeId }: FolderFacts): string =>
  configuration.members.find(({ id }) => id === nodeId)?.name ?? nodeId;

function factFields(facts: FolderFacts): readonly Field[] {
  const members = facts.configuration.members.map(
    ({ name, address, voter }) => `${name} at ${address}${voter ? '' : ', a learner'}`,
  );
  return [
    ['Node', `${nameOf(facts)} (${facts.nodeId})`],
    ['Cluster', facts.clusterId ?? 'none yet'],
    ['Term', String(facts.term)],
    ['Last entry', `index ${facts.lastIndex} of term ${facts.lastTerm}`],
    ['Applied', `up to index ${facts.appliedIndex}`],
    ['Members', members],
    ['Damage', facts.damage.length === 0 ? 'none' : facts.damage],
  ];
}

type Found = readonly (readonly [folder: string, facts: FolderFacts])[];

/** Says which folder has the most, and whether states that can be compared are alike. */
export function compare(found: Found): string[] {
  const clusters = new Set(found.map(([, { clusterId }]) => clusterId));
  if (clusters.size > 1) return ['these folders belong to different clusters'];
  const isBehind = (one: FolderFacts, other: FolderFacts): boolean =>
    one.lastTerm < other.lastTerm ||
    (one.lastTerm === other.lastTerm && one.lastIndex < other.lastIndex);
  const whole = found.filter(([, { damage }]) => damage.length === 0);
  const judged = whole.length > 0 ? whole : found;
  const best = judged.filter(([, one]) => !judged.some(([, other]) => isBehind(one, other)));
  const names = best.map(([folder]) => folder).join(', ');
  const most =
    best.length === found.length
      ? 'all have the same log'
      : `${names}: the most complete ${whole.length > 0 ? 'log without damage' : 'log'}`;
  return [most, ...found.flatMap(([folder, facts], at) => differences(folder, facts, found, at))];
}

/** States at one index must be alike. */
function differences(folder: string, facts: FolderFacts, found: Found, at: number): string[] {
  return found.slice(at + 1).flatMap(([other, { appliedIndex, checksums }]) => {
    if (appliedIndex !== facts.appliedIndex) return [];
    const tables = new Set([...Object.keys(checksums), ...Object.keys(facts.checksums)]);
    const differing = [...tables].filter((table) => checksums[table] !== facts.checksums[table]);
    const place = `the states of ${folder} and ${other} at index ${appliedIndex}`;
    if (differing.length === 0) return [`${place} are alike`];
    return [`${place} DIFFER in ${differing.join(', ')}`];
  });
}

/** What `recover` was told. */
export interface RecoverFlags {
  readonly dataDir: string;
  readonly nodeName: string;
  readonly advertise: string;
  readonly members: string | undefined;
  readonly acceptLoss: boolean;
  readonly dryRun: boolean;
}

/** Makes a new cluster of a folder, or says what would be done. */
export async function recover(flags: RecoverFlags): Promise<Offline> {
  const { recoverFolder } = await import('../node/recover.js');
  const { HANDLERS } = await import('../state/handlers.js');
  const { nodeName: name, dataDir, acceptLoss, dryRun } = flags;
  const members = flags.members?.split(',').map(memberOf) ?? [{ name, address: flags.advertise }];
  const faults = memberFaults('--members', members);
  if (faults.length > 0) throw new Error(faults.join('; '));
  const options: RecoverOptions = { name, members, handlers: HANDLERS, acceptLoss };
  if (!dryRun) {
    const done = await stopped(dataDir, () => recoverFolder(dataDir, options));
    const lost: Field = ['Not applied', `${done.notApplied} commands`];
    return { value: done, text: fields([...factFields(done), lost]) };
  }
  return planOf(dataDir, options);
}

async function planOf(dataDir: string, options: RecoverOptions): Promise<Offline> {
  const { recoverFolder, UNFINISHED } = await import('../node/recover.js');
  const check = { ...options, dryRun: true };
  const { notApplied: _, ...facts } = await stopped(dataDir, () => recoverFolder(dataDir, check));
  const { lastIndex, appliedIndex, damage } = facts;
  const { members } = options;
  const end = Math.max(lastIndex, appliedIndex);
  const value = { dryRun: true, entriesToApply: end - appliedIndex, members, folder: facts };
  const shown = members.map((member) => `${member.name} at ${member.address}`);
  const entries = `${end - appliedIndex}, up to index ${end}`;
  const plan: readonly Field[] = [
    ['Would apply', entries],
    ['New members', shown],
  ];
  const what = damage.includes(UNFINISHED)
    ? 'the recovery that was begun is completed'
    : 'the folder becomes a new cluster';
  const done = `nothing was changed; without --dry-run ${what}\n`;
  return { value, text: `${fields([...factFields(facts), ...plan])}\n${done}` };
}

/** Shows what a snapshot file holds. With `check`, checks it as a restore does. */
export async function snapshot(file: string, check: boolean): Promise<Offline> {
  const { readSnapshotFile } = await import('../service/archives/snapshot-file.js');
  const content = await readSnapshotFile(file, check);
  return { value: content, text: fields(contentFields(file, content, check)) };
}

function contentFields(file: string, content: SnapshotContent, check: boolean): readonly Field[] {
  const { index, term, level, bytes, records, objects } = content;
  const counts = Object.entries(objects).map(([type, count]) => `${type}: ${count}`);
  return [
    ['File', `${file}, ${statSync(file).size} bytes`],
    ['Entry', `index ${index} of term ${term}`],
    ['Level', String(level)],
    ['State', `${bytes} bytes, ${records} records`],
    ['Objects', counts],
    ['Checked', check ? 'all records: it can be restored' : 'checksums'],
  ];
}

/** Runs work on the folder of a stopped node. Throws if the node runs, with its process. */
async function stopped<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await asOwner(dataDir, work);
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'locked')) throw error;
    const pid = holderOf(join(dataDir, 'log', 'lock', 'LOCK'));
    const which = pid === undefined ? '' : ` (process ${pid})`;
    throw new Error(`a node runs on ${dataDir}: stop it first${which}`, { cause: error });
  }
}

/** Returns the process that holds the lock of a file. Linux alone tells. */
function holderOf(file: string): number | undefined {
  const locks = '/proc/locks';
  if (!existsSync(locks) || !existsSync(file)) return undefined;
  const { ino } = statSync(file);
  const line = readFileSync(locks, 'utf8').match(new RegExp(`(\\d+) \\S+:${ino} `));
  return line === null ? undefined : Number(line[1]);
}

/** What is wrong with the first bad line of an audit log. */
const BAD_LINES: Readonly<Record<BadLine, string>> = {
  json: 'it is not an audit record',
  hash: 'its hash is not that of its text: it was changed, or the key is another',
  seq: 'its number does not follow that of the line before: a line is missing',
  prev: 'it does not name the hash of the line before: that line was replaced',
  torn: 'it is incomplete: the node was killed, or the file is still being written',
  cut: 'the record of --last is not among them: the end was cut off, or a file is missing',
};

/** What a file without records cannot tell. */
const EMPTIED =
  'A file that was emptied looks the same. To know, give --last SEQ:HASH: the record that was\n' +
  'shipped last, or Seq and Hash as "conclave operator audit" shows them.\n';

/** Checks the files of an audit sink. Throws ConfigError for options that cannot be used. */
export async function auditVerify(
  files: readonly string[],
  keyFile: string | undefined,
  last: string | undefined,
): Promise<Offline> {
  const { verify } = await import('../audit/verify.js');
  const { chainKey } = await import('./key-files.js');
  const keyOf = (file: string): Uint8Array => {
    try {
      return chainKey(file);
    } catch (error) {
      throw new ConfigError([`--key-file: ${(error as Error).message}`]);
    }
  };
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(last ?? '') ?? [];
  if (last !== undefined && hash === undefined)
    throw new ConfigError(['--last: expected a number and a hash, such as 17:9f86…']);
  const key = keyFile === undefined ? undefined : keyOf(keyFile);
  const seen = hash === undefined ? undefined : { seq: Number(seq), hash };
  const verdict = await verify(files, { key, seen });
  const { bad, records, first } = verdict;
  if (bad === undefined && records === 0)
    return { value: verdict, text: `good: there are no records\n${EMPTIED}` };
  if (bad === undefined) {
    const end = `last: ${verdict.last}:${verdict.hash}`;
    const text = `good: ${records} records, ${first} to ${verdict.last}\n${end}\n`;
    return { value: verdict, text };
  }
  const { file, line, why, rewritten } = bad;
  const said = rewritten
    ? `record ${bad.seq} is there with another hash: the chain was rewritten`
    : BAD_LINES[why];
  const which = bad.seq === 0 ? '' : `, record ${bad.seq}`;
  const text = `bad: ${file}, line ${line}${which} (${why}): ${said}\n`;
  return { value: verdict, text, failed: true };
}
