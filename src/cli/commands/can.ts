/** `acl can`: whether somebody may do something, as applications ask it (AuthZEN). */
import type { Command } from 'commander';
import {
  type Decided,
  type Found,
  findRights,
  type Line,
  reasonOf,
  type Subject,
} from '../../api/decided.js';
import type { Call, Cli } from '../cli.js';
import type { Answer } from '../client/http.js';
import { readInput } from '../files/files.js';
import { CliError, EXIT, misused } from '../print/error.js';
import type { Column } from '../print/output.js';
import { type Feed, rightLines } from '../print/rights-view.js';

interface CanOptions {
  readonly as?: string;
  readonly asTokenFile?: string;
  readonly asJwtFile?: string;
  readonly method?: string;
  readonly n?: string;
  readonly all?: string;
  readonly list?: boolean;
}

/** The exit code of a question that could not be decided. */
const UNDECIDED = 3;

/** The version of the feed whose rules this program understands. */
const FEED_VERSION = 1;

/** Results of one page of a search: as many as the server gives. */
const PAGE_SIZE = 1_000;

/** What the options are for that name somebody else, each with what is to be done instead. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  token_secret: '--as-token-file',
  jwt: '--as-jwt-file and --method',
};

export function addCan(acl: Command, cli: Cli): void {
  acl
    .command('can')
    .description('ask whether you, or somebody else, may do something to a resource')
    .argument('[action]', 'such as read, write, or an action of an application')
    .argument('[resource]', 'TYPE or TYPE/ID, such as service/web or orders/17')
    .option('--as <subject>', 'token:ACCESSOR, role:NAME, identity:METHOD/SUBJECT or TYPE:ID')
    .option('--as-token-file <file>', 'file with the SecretID of a token, or - for standard input')
    .option('--as-jwt-file <file>', 'file with a JWT, or - for standard input')
    .option('--method <name>', 'the auth method that the JWT is for')
    .option('-n <namespace>', 'the namespace of the resource')
    .option('--all <type>', 'show everything that rules allow to do to resources of a type')
    .option('--list', 'show all rights of your own token')
    .addHelpText(
      'after',
      '\nExits with 0 for yes, 1 for no, 3 if it could not be decided.' +
        '\nWith --quiet no answer is printed.' +
        "\nA type app:NAME is an application's, even if this server has one of that name.",
    )
    .action(
      cli.action<CanOptions>((call, action, resource) => {
        const { all, list } = call.options;
        if (list === true) return showRights(call, action !== undefined);
        if (all === undefined) return answer(call, action, resource);
        if (action !== undefined) misused('--all replaces the action and the resource');
        return showAll(call, all);
      }),
    );
}

async function answer(
  call: Call<CanOptions>,
  action: string | undefined,
  resource: string | undefined,
): Promise<void> {
  const { options, print } = call;
  if (action === undefined || resource === undefined)
    misused('give an action and a resource, such as: acl can approve orders/17');
  const [, type, id = ''] = /^([^/]+)(?:\/(.*))?$/s.exec(resource) ?? [];
  if (type === undefined) misused(`"${resource}" is not TYPE or TYPE/ID`);
  const asked = {
    subject: await subjectOf(call),
    action: { name: action },
    resource: { id, ...resourceOf(options, type) },
  };
  const decided = await ask<Decided>(call, '/access/v1/evaluation', asked);
  if (typeof decided.decision !== 'boolean')
    throw undecided(new CliError('the server did not send a decision'));
  if (options.quiet !== true)
    if (print.format === 'table') print.say(sentenceOf(decided));
    else await print.value(decided);
  if (!decided.decision) call.fails();
}

function sentenceOf(decided: Decided): string {
  if (decided.decision) return 'yes';
  const reason = reasonOf(decided);
  return reason === undefined ? 'no' : `no - ${reason}`;
}

const resourceOf = ({ n: namespace }: CanOptions, type: string) => ({
  type,
  properties: namespace === undefined ? {} : { namespace },
});

const LINE_COLUMNS: readonly Column<Line>[] = [
  {
    head: 'DECISION',
    cell: ({ allow }) =>
      allow ? { text: 'ALLOW', paint: 'green' } : { text: 'DENY', paint: 'red' },
  },
  { head: 'ACTION', cell: ({ action }) => action },
  { head: 'ID', cell: ({ id }) => id },
];

/** Shows what the subject may do to resources of a type, as far as rules name it. */
async function showAll(call: Call<CanOptions>, type: string): Promise<void> {
  const { options, print } = call;
  const search = <R>(what: string, asked: object): Promise<Found<R>> =>
    readPages(call, `/access/v1/search/${what}`, asked);
  const subject = await subjectOf(call);
  const { actions, ids, lines } = await findRights(search, subject, resourceOf(options, type));
  if (print.format !== 'table') {
    const Actions = ids.map(({ action, found: { results, context } }) => ({
      action,
      results,
      context,
    }));
    return print.value({ type, actions: Actions, context: actions.context });
  }
  if (lines.length === 0) print.note('no rule allows anything');
  else print.table(LINE_COLUMNS, lines);
  if ([actions, ...ids.map(({ found }) => found)].some(({ context }) => context?.truncated))
    print.note('some rights are not shown');
}

async function readPages<R>(
  call: Call<CanOptions>,
  path: string,
  asked: object,
): Promise<Found<R>> {
  const results: R[] = [];
  let token = '';
  for (;;) {
    const page = { limit: PAGE_SIZE, ...(token !== '' && { token }) };
    const found = await ask<Found<R>>(call, path, { ...asked, page });
    if (!Array.isArray(found.results) || typeof found.page?.next_token !== 'string')
      throw undecided(new CliError('the answer is not the result of a search'));
    results.push(...found.results);
    token = found.page.next_token;
    if (token === '') return { ...found, results };
  }
}

/** Shows all rights of the caller's token. */
async function showRights(call: Call<CanOptions>, hasQuestion: boolean): Promise<void> {
  const { api, options, print } = call;
  const { as, asTokenFile, asJwtFile, method, n, all } = options;
  if (hasQuestion || [as, asTokenFile, asJwtFile, method, n, all].some((one) => one !== undefined))
    misused('--list cannot be used with a question or its options');
  const read = () => api.get('/v1/acl/token/self/rights');
  const feed = await sent<Feed>(read, []);
  if (feed.Version !== FEED_VERSION)
    throw undecided(
      new CliError(`this release does not know version ${feed.Version} of the feed of rights`),
    );
  if (print.format !== 'table') return print.value(feed);
  const lines = rightLines(feed);
  for (const line of lines) print.say(line);
  if (lines.length === 0) print.note('no rule grants it any rights');
  if (Object.values(feed.Resources).some(({ Default }) => Default === 'allow'))
    print.note('the default policy allows what no rule denies');
}

/** Problems with their code: what is not known to be misused could not be decided. */
const headers = { Accept: 'application/problem+json, application/json' };

const ask = <T>({ api }: Call<CanOptions>, path: string, body: object): Promise<T> =>
  sent(() => api.ask('POST', path, { body, isRead: true, headers }), ['invalid']);

/**
 * Sends a request, and reads what it answers. An error says that nothing was decided, or that the
 * command was misused if it has one of these codes.
 */
async function sent<T>(send: () => Promise<Answer>, misuses: readonly string[]): Promise<T> {
  try {
    const value: unknown = (await send()).json();
    if (typeof value === 'object' && value !== null) return value as T;
    throw new CliError('the answer is not an object: this is not a server of this API');
  } catch (error) {
    throw error instanceof CliError ? undecided(error, misuses) : error;
  }
}

function undecided(error: CliError, misuses: readonly string[] = []): CliError {
  const { details, exit, message } = error;
  if (exit !== EXIT.failed) return error;
  const isMisused = misuses.includes(details.code ?? '');
  return new CliError(message, { ...details, exit: isMisused ? EXIT.misused : UNDECIDED });
}

/** Returns the subject that the options name; by default the caller's token. */
async function subjectOf({ io, options }: Call<CanOptions>): Promise<Subject> {
  const { as, asTokenFile, asJwtFile, method } = options;
  const given = [as, asTokenFile, asJwtFile].filter((one) => one !== undefined);
  if (given.length > 1) misused('--as, --as-token-file and --as-jwt-file exclude each other');
  if ((method === undefined) !== (asJwtFile === undefined))
    misused('--as-jwt-file and --method go together');
  const read = async (option: string, file: string): Promise<string> =>
    (await readInput(io, option, file)).trim() || misused(`${option}: ${file} is empty`);
  if (asTokenFile !== undefined)
    return { type: 'token_secret', id: await read('--as-token-file', asTokenFile) };
  if (asJwtFile !== undefined) {
    const id = await read('--as-jwt-file', asJwtFile);
    return { type: 'jwt', id, properties: { auth_method: method! } };
  }
  if (as === undefined) return { type: 'token', id: 'self' };
  // What is misused may be a secret: it is not repeated.
  const [, type, id] = /^([^:]+):(.*)$/s.exec(as) ?? [];
  if (type === undefined || id === undefined) misused('--as is not TYPE:ID, such as role:ops');
  if (Object.hasOwn(CREDENTIALS, type))
    misused(
      '--as: every user of this machine can read the arguments of a process',
      `use ${CREDENTIALS[type]} instead`,
    );
  return { type, id };
}
