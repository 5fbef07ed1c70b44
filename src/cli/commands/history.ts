/** `history` and `undo`: who changed what, when and why, and one change taken back. */
import type { Command } from 'commander';
import type { Author, Feed, Versions } from '../../api/endpoints/history.js';
import { type Call, type Cli, whole } from '../cli.js';
import { WAIT, WAIT_MS } from '../client/watch.js';
import { differenceLines } from '../print/diff-view.js';
import { misused } from '../print/error.js';
import type { Column } from '../print/output.js';
import type { Plan } from '../print/plan-view.js';
import { type Paint, painted } from '../print/table.js';
import { localTime, oneLine } from '../print/text.js';
import {
  type Applied,
  type ApplyOptions,
  isAgreed,
  mayAsk,
  sent,
  tellApplied,
  withQuestion,
} from './apply-set.js';
import { type HistoryObject, objectCalled, withObject } from './object-argument.js';

type FeedLine = Feed['Changes'][number];
type Version = NonNullable<Versions['Versions']>[number];
/** What changes and versions have in common. */
type Deed = Pick<FeedLine, keyof Version & keyof FeedLine>;

const PAINTS: Readonly<Record<string, Paint>> = {
  create: 'green',
  update: 'yellow',
  delete: 'red',
};

/** Returns who made a change: `ci`, `jwt1/user-1`, or the beginning of an AccessorID. */
export function authorText(author: Author): string {
  if (author === null) return '';
  const { AccessorID, Description, Identity } = author;
  if (Identity !== undefined) return `${Identity.AuthMethod}/${Identity.Subject}`;
  return Description || AccessorID.slice(0, 8);
}

/** The columns that changes and versions share. */
const COLUMNS: readonly Column<Deed>[] = [
  { head: 'INDEX', isWhole: true, cell: ({ Index }) => String(Index) },
  { head: 'TIME', isWhole: true, cell: ({ Time }) => localTime(Time ?? undefined) },
  {
    head: 'OPERATION',
    isWhole: true,
    cell: ({ Operation }) => {
      const paint = PAINTS[Operation];
      return paint === undefined ? Operation : { text: Operation, paint };
    },
  },
];
const WHY: readonly Column<Deed>[] = [
  { head: 'AUTHOR', cell: ({ Author }) => authorText(Author) },
  { head: 'REASON', cell: ({ Reason }) => Reason ?? '' },
];
const VERSION_COLUMNS: readonly Column<Version>[] = [
  ...COLUMNS,
  { head: 'CURRENT', isMinor: true, cell: ({ Current }) => (Current ? 'yes' : '') },
  ...WHY,
];
const FEED_COLUMNS: readonly Column<FeedLine>[] = [
  ...COLUMNS,
  {
    head: 'OBJECT',
    isWhole: true,
    cell: ({ Count, Ref }) => (Count === undefined ? Ref : `${Ref} (${Count})`),
  },
  ...WHY,
];

interface ListOptions {
  readonly limit?: number;
  readonly before?: number;
  readonly show?: number;
}

export function addHistory(program: Command, cli: Cli): void {
  const history = withObject(
    program.command('history').description('show the versions of an object: who, when and why'),
  );
  history
    .option('--show <index>', 'print the object as it was in this version', whole)
    .option('--limit <count>', 'how many versions to show (default: 50)', whole)
    .option('--before <index>', 'only versions before this index', whole)
    .action(
      cli.action<ListOptions>(async (call, type, name) => {
        const object = await objectCalled(call, type, name);
        await (call.options.show === undefined ? versions(call, object) : version(call, object));
      }),
    );
  withObject(history.command('diff').description('show what differs between two versions'))
    .option('--from <index>', 'the older version (default: the one before the newest)', whole)
    .option('--to <index>', 'the newer version (default: what is there now)', whole)
    .action(
      cli.action<{ from?: number; to?: number }>(async (call, type, name) =>
        difference(call, await objectCalled(call, type, name)),
      ),
    );
  addFeed(history, cli);
  addUndo(program, cli);
}

async function versions(call: Call<ListOptions>, { path }: HistoryObject): Promise<void> {
  const { api, options, print } = call;
  const { before, limit } = options;
  const query = { before: textOf(before), limit: textOf(limit) };
  const found = (await api.get(path, { query })).json<Versions>();
  if (print.format !== 'table') return print.value(found);
  const { Versions: shown = [] } = found;
  print.table(VERSION_COLUMNS, shown);
  if (!found.Exists) print.note('it does not exist now');
  const last = shown.at(-1);
  if (found.More) print.note(`there are older versions: --before ${last?.Index}`);
}

const textOf = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

async function version(call: Call<ListOptions>, { path }: HistoryObject): Promise<void> {
  const { api, options, print } = call;
  const query = { version: textOf(options.show) };
  const found = (await api.get(path, { query })).json<Versions>();
  await print.value(print.format === 'table' ? found.Object : found);
}

async function difference(
  { api, options, print }: Call<{ from?: number; to?: number }>,
  { path }: HistoryObject,
): Promise<void> {
  let { from } = options;
  if (from === undefined) {
    const query = { limit: '2', before: textOf(options.to && options.to + 1) };
    const { Versions: known = [] } = (await api.get(path, { query })).json<Versions>();
    from = known[1]?.Index ?? misused('there is no older version to compare with');
  }
  const query = { from: String(from), to: textOf(options.to) };
  const found = (await api.get(path, { query })).json<Versions>();
  if (print.format !== 'table') return print.value(found);
  const shown = await differenceLines(found.Diff ?? [], print.style.colour);
  print.text(shown.map((line) => `${line.replace(/^ {4}/, '')}\n`));
  if (shown.length === 0) print.note('nothing differs');
}

interface FeedOptions {
  readonly follow?: boolean;
  readonly logins?: boolean;
  readonly subject?: string;
  readonly author?: string;
  readonly types?: string;
  readonly after?: number;
  readonly limit?: number;
}

function addFeed(history: Command, cli: Cli): void {
  history
    .command('feed')
    .description('show the changes of all objects')
    .option('--follow', 'keep printing new changes until interrupted')
    .option('--logins', 'include the tokens of logins')
    .option('--subject <method/subject>', 'only changes by this identity')
    .option('--author <accessor>', 'only changes with this token')
    .option('--types <list>', 'only these types, such as policy,role')
    .option('--after <index>', 'the changes after this index, the oldest first', whole)
    .option('--limit <count>', 'how many changes to read at once (default: 100)', whole)
    .action(cli.action<FeedOptions>(feed));
}

async function feed(call: Call<FeedOptions>): Promise<void> {
  const { api, options, print } = call;
  const { after, author, follow, limit, logins, subject, types } = options;
  const query = { author, subject, types, limit: textOf(limit), ...(logins && { logins: 'true' }) };
  const first = { ...query, after: textOf(after) };
  const read = (await api.get('/v1/history', { query: first })).json<Feed>();
  if (follow === true) return followed(call, query, read);
  if (print.isForPrograms) return print.value(read);
  if (print.format === 'name') return print.refs(read.Changes.map(({ Ref }) => Ref));
  print.table(FEED_COLUMNS, read.Changes);
  const more = after === undefined ? '' : `: --after ${read.Changes.at(-1)?.Index}`;
  if (read.More) print.note(`there are more changes${more}`);
}

/** Prints changes as they come, until the user interrupts it. `first` is what was read before. */
async function followed(
  call: Call<FeedOptions>,
  query: Readonly<Record<string, string | undefined>>,
  first: Feed,
): Promise<void> {
  const { api, io, options, print } = call;
  io.endWithReader();
  print.startSeries();
  // Without a start, the newest come first, and what is before them does not matter.
  const isNewest = options.after === undefined;
  let { Changes: changes, Index: index, More: isFull } = first;
  if (isNewest) [changes, isFull] = [[...changes].reverse(), false];
  for (;;) {
    for (const line of changes) await tell(call, line);
    const after = String(isFull ? changes.at(-1)!.Index : index);
    const held = isFull ? {} : { index: String(index), wait: WAIT };
    const answer = await api.get('/v1/history', {
      query: { ...query, after, ...held },
      heldMs: isFull ? 0 : WAIT_MS,
    });
    ({ Changes: changes, Index: index, More: isFull } = answer.json<Feed>());
  }
}

async function tell({ print }: Call<object>, line: FeedLine): Promise<void> {
  if (print.isForPrograms) return print.value(line);
  if (print.format === 'name') return print.refs([line.Ref]);
  const { colour } = print.style;
  const { Count, Index, Operation, Reason = '', Ref } = line;
  const by = authorText(line.Author);
  const words = [
    oneLine(Ref),
    ...(Count === undefined ? [] : [`(${Count})`]),
    `at index ${Index}`,
    ...(by === '' ? [] : [`by ${oneLine(by)}`]),
  ].join(' ');
  const why = Reason === '' ? '' : `: ${oneLine(Reason)}`;
  const time = localTime(line.Time ?? undefined);
  print.text([`${time} ${painted(Operation, PAINTS[Operation], colour)} ${words}${why}\n`]);
}

function addUndo(program: Command, cli: Cli): void {
  withQuestion(
    program
      .command('undo')
      .description('take back everything that one entry changed')
      .argument('<index>', 'its index, from conclave history feed', whole),
  ).action(
    cli.action<ApplyOptions>(async (call, index) => {
      mayAsk(call);
      const body = { Index: Number(index) };
      const plan = (await sent(call, '/v1/undo', { ...body, DryRun: true })).json<Plan>();
      if (!(await isAgreed(call, plan, { placeOf: () => undefined }))) return;
      const answer = await sent(call, '/v1/undo', { ...body, Expected: plan.Expected });
      await tellApplied(call, answer.json<Applied>());
    }),
  );
}
