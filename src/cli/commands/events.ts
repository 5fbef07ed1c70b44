/** `events`: the changes of objects as they happen. */
import type { Command } from 'commander';
import type { Event, Gap } from '../../api/events.js';
import type { Call, Cli } from '../cli.js';
import { framesOf } from '../client/events.js';
import { CliError, misused } from '../print/error.js';
import { painted } from '../print/table.js';
import { localTime, oneLine } from '../print/text.js';
import { authorText } from './history.js';

interface EventOptions {
  readonly topics?: string;
  readonly from?: string;
  readonly logins?: boolean;
  readonly payload?: boolean;
  readonly exec?: string;
}

export function addEvents(program: Command, cli: Cli): void {
  program
    .command('events')
    .description('print the changes of objects as they happen, until you stop it')
    .option('--topics <list>', 'topics, such as ACLPolicy,ConfigEntry:service-defaults,Rights')
    .option('--from <place>', 'where to begin: after an index, now, or start (default: now)')
    .option('--logins', 'include the tokens of logins')
    .option('--no-payload', 'leave out the objects themselves')
    .option('--exec <command>', 'run a shell command for each event, with the event on its input')
    .action(cli.action<EventOptions>(events));
}

async function events(call: Call<EventOptions>): Promise<void> {
  const { api, io, options, print, timeoutMs } = call;
  const hasPayload = options.payload !== false && (print.isForPrograms || options.exec);
  const query = {
    topics: options.topics,
    index: startOf(options.from),
    payload: hasPayload ? undefined : 'none',
    ...(options.logins && { logins: 'true' }),
  };
  io.endWithReader();
  print.startSeries();
  for await (const { event, data } of framesOf(api, { query, signal: io.signal, timeoutMs })) {
    if (event === 'gap') tellGap(call, JSON.parse(data) as Gap);
    if (event !== 'change') continue;
    for (const one of (JSON.parse(data) as { readonly Events: readonly Event[] }).Events) {
      await tell(call, one);
      if (options.exec !== undefined) await run(call, options.exec, one);
    }
  }
}

function startOf(from = 'now'): string | undefined {
  if (from === 'now') return undefined;
  if (from === 'start') return '0';
  return /^\d{1,15}$/.test(from) ? from : misused('--from takes an index, "now" or "start"');
}

function tellGap({ print }: Call<object>, { From, To, Reason }: Gap): void {
  print.note(`changes after index ${From} up to ${To} may be missing: ${Reason}`);
}

async function tell({ print }: Call<object>, event: Event): Promise<void> {
  if (print.isForPrograms) return print.value(event);
  const { Type, Key, Name = '', Namespace = 'default', Index, Time, Author, Reason = '' } = event;
  if (print.format === 'name') return print.text([`${Type} ${oneLine(Key)}\n`]);
  const by = authorText(Author ?? null);
  const verb = Type.replace(/^.*(?=[A-Z])/, '').toLowerCase();
  const paint = { created: 'green', updated: 'yellow', deleted: 'red', ended: 'red' } as const;
  const words = [
    oneLine(Key),
    ...(Name === '' || Key.endsWith(Name) ? [] : [oneLine(Name)]),
    ...(Namespace === 'default' ? [] : [`in ${Namespace}`]),
    `at index ${Index}`,
    ...(by === '' ? [] : [`by ${oneLine(by)}`]),
  ].join(' ');
  const why = Reason === '' ? '' : `: ${oneLine(Reason)}`;
  const shown = painted(Type, paint[verb as keyof typeof paint], print.style.colour);
  const time = Time === undefined ? '' : `${localTime(Time ?? undefined)} `;
  print.text([`${time}${shown} ${words}${why}\n`]);
}

/** Runs a command for an event. Throws if it fails: the event is not handled. */
async function run({ io }: Call<object>, command: string, event: Event): Promise<void> {
  const code = await io.feed(command, `${JSON.stringify(event)}\n`);
  if (code === 0) return;
  throw new CliError(`the command ended with ${code} for the event at index ${event.Index}`, {
    hint: `to go on with it: --from ${event.Index - 1}`,
  });
}
