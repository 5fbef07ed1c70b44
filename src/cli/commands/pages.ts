/** The options of commands that list: which items, in which order, and how many. */
import type { Command } from 'commander';
import type { Call } from '../cli.js';
import type { Answer } from '../client/http.js';

/** The options of a list that choose part of it. */
export interface PageOptions {
  readonly filter?: string;
  readonly search?: string;
  readonly sort?: string;
  readonly limit?: string;
  readonly after?: string;
}

/** Adds the options. `example` is an expression of the filter language. */
export const withPages = (command: Command, example: string): Command =>
  command
    .option('--filter <expression>', `list only what matches, such as '${example}'`)
    .option('--search <words>', 'list only items that contain these words, in any letter case')
    .option('--sort <order>', 'sort by name, created, modified or expires; by -name in reverse')
    .option('--limit <count>', 'list at most this many, 1 to 1000')
    .option('--after <place>', 'continue where --limit ended a list: the value it printed');

/** Returns the parameters of the API for the options. */
export const pageQuery = ({
  filter,
  search,
  sort,
  limit,
  after,
}: PageOptions): Record<string, string | undefined> => ({ filter, search, sort, limit, after });

/** Says that a list goes on, and how. `count` is the number of items that are shown. */
export function notePage({ print }: Call<object>, answer: Answer, count: number): void {
  const next = answer.header('X-Consul-Next');
  if (next === undefined) return;
  const total = Number(answer.header('X-Consul-Total')).toLocaleString('en');
  print.note(
    `${count.toLocaleString('en')} of ${total} are listed; --after ${next} lists the next`,
  );
}
