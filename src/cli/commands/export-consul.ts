/** `export --consul`: a folder that Consul's own command line loads (moving-in.md 9). */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SetItem } from '../../api/endpoints/sets.js';
import type { Call } from '../cli.js';
import { ConsulFolder, type Left } from '../files/consul-folder.js';
import { scriptOf } from '../files/consul-script.js';
import type { Exported } from '../files/sets.js';
import { EXIT, misused } from '../print/error.js';
import { counted } from '../print/text.js';

/** The options of the folder. */
export interface ConsulOptions {
  readonly consul?: string;
  readonly withSecrets?: boolean;
  readonly namespaces?: string;
}

type Body = Readonly<Record<string, unknown>>;

const ANONYMOUS = '00000000-0000-0000-0000-000000000002';

/** Writes the folder. Exits with 4 if something of it is not loaded. */
export async function exportToConsul(call: Call<ConsulOptions>): Promise<void> {
  const { api, options, print } = call;
  const { consul: folder = '', withSecrets = false } = options;
  await mustBeEmpty(folder);
  const wanted = await namespacesOf(call);
  const answer = await api.get('/v1/export', { query: { ns: '*' } });
  const all = answer.json<Exported>().Objects.filter((item) => wanted.has(placeOf(item)));
  const items = withSecrets ? await Promise.all(all.map((item) => shown(call, item))) : all;
  let tokens: readonly Body[] = [];
  for (const ns of withSecrets ? wanted : [])
    tokens = tokens.concat((await api.get('/v1/acl/tokens', { query: { ns } })).json<Body[]>());
  const anonymous = wanted.has('default')
    ? await api.get(`/v1/acl/token/${ANONYMOUS}`, { query: { ns: 'default' } })
    : undefined;
  const isOther = ({ AccessorID }: Body): boolean => AccessorID !== ANONYMOUS;
  const made = new ConsulFolder({
    items,
    tokens: withSecrets ? tokens.filter(isOther) : undefined,
    anonymous: anonymous?.json<Body>() ?? {},
    nowMs: Date.now(),
  });
  if (answer.header('X-Consul-Results-Filtered-By-ACLs') === 'true')
    made.left.push({
      ref: '–',
      lost: 'what this token may not read',
      act: 'export with a token that may read everything',
    });
  const texts = new Map(made.files)
    .set('load.sh', scriptOf(made.calls, made.enterpriseCalls))
    .set('NOT-LOADED.md', notLoaded(made));
  for (const [file, text] of texts) {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { flag: 'wx', mode: file === 'load.sh' ? 0o700 : 0o600 });
  }
  print.note(
    `${counted(texts.size, 'file')} written to ${folder}; load them with ${folder}/load.sh`,
  );
  const count = made.left.length + made.leftByCommunity.length;
  if (count === 0) return;
  print.note(`${counted(count, 'finding')} in ${join(folder, 'NOT-LOADED.md')}`);
  call.fails(EXIT.incomplete);
}

async function mustBeEmpty(folder: string): Promise<void> {
  try {
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code !== 'ENOTDIR') throw error;
  }
  misused(`--consul: ${folder} exists and is not an empty folder`);
}

async function namespacesOf({ api, options }: Call<ConsulOptions>): Promise<ReadonlySet<string>> {
  const { namespaces = 'all' } = options;
  if (namespaces === 'none') return new Set(['default']);
  const { json } = await api.get('/v1/namespaces', { query: { ns: 'default' } });
  const known = json<{ Name: string; DeletedAt?: string }[]>()
    .filter(({ DeletedAt }) => DeletedAt === undefined)
    .map(({ Name }) => Name);
  if (namespaces === 'all') return new Set(['default', ...known]);
  const named = namespaces.split(',');
  const unknown = named.find((name) => name !== 'default' && !known.includes(name));
  if (unknown !== undefined) misused(`--namespaces: no namespace ${JSON.stringify(unknown)}`);
  return new Set(named);
}

const placeOf = ({ Type, Namespace = 'default', Object: body }: SetItem): string =>
  Type === 'namespace' ? String(body['Name']) : Namespace;

/** Returns an object with the secrets that its own read shows. */
async function shown({ api }: Call<object>, item: SetItem): Promise<SetItem> {
  if (!JSON.stringify(item).includes('"<hidden>"')) return item;
  const { Type, Namespace = 'default', Object: body } = item;
  const name = encodeURIComponent(String(body['Name']));
  const path = Type === 'config' ? `config/${body['Kind']}/${name}` : `acl/${Type}/${name}`;
  const whole = (await api.get(`/v1/${path}`, { query: { ns: Namespace } })).json<Body>();
  const members = Object.keys(body).map((key): [string, unknown] => [key, whole[key] ?? body[key]]);
  return { ...item, Object: Object.fromEntries(members) };
}

function notLoaded({ left, leftByCommunity }: ConsulFolder): string {
  const table = (title: string, found: readonly Left[]): string[] =>
    found.length === 0
      ? []
      : [
          `## ${title}\n`,
          '| object | not loaded | what to do |',
          '| --- | --- | --- |',
          ...found.map(({ ref, lost, act }) => `| ${cell(ref)} | ${cell(lost)} | ${cell(act)} |`),
          '',
        ];
  return [
    '# Not loaded',
    '',
    'Consul has no place for these, so they are not in this folder: the history, owners, handles',
    'of binding rules, blocks of identities, `SubjectTypes` and the limits of login tokens.',
    'Policies, roles and binding rules get new IDs. Tokens are in it with `--with-secrets` alone.',
    '',
    ...table('Not loaded', left),
    ...table('Not loaded by the community edition', leftByCommunity),
    ...(left.length + leftByCommunity.length === 0 ? ['All objects are loaded.', ''] : []),
  ].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
