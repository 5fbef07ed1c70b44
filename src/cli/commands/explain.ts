/** `acl explain`, `acl whoami`, `acl who-can`, `acl decision`, `acl login explain`. */
import type { Command } from 'commander';
import { isUuid } from '../../acl/names.js';
import { questionAbout } from '../../api/decided.js';
import type { Decision, Effective, Explained, WhoCan } from '../../api/endpoints/explain.js';
import type { LoginExplained } from '../../api/endpoints/login-explain.js';
import { type Call, type Cli, refusedSecret } from '../cli.js';
import { asOf, type Moment, momentText } from '../client/moment.js';
import { documentOf } from '../files/documents.js';
import { readInput, textOption } from '../files/files.js';
import { CliError, misused } from '../print/error.js';
import {
  decisionFields,
  effectiveFields,
  GROUP_COLUMNS,
  loginFields,
  OUTCOME_COLUMNS,
  RESULT_COLUMNS,
  RIGHT_COLUMNS,
  whoCanText,
} from '../print/explain-view.js';
import { find, hidden, idIn, pathOf, type Stored, TYPE } from './objects.js';

interface Question {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment?: string;
}

/**
 * Parses `service:write:web`; the segment may hold colons. A resource that the server does not have
 * is one of an application, whose rights are key rules (decisions.md 3).
 */
export function parseQuestion(text: string): Question {
  const [, app, Resource, Access, Segment] = /^(app:)?([^:]+):([^:]+)(?::(.*))?$/s.exec(text) ?? [];
  if (Resource === undefined || Access === undefined)
    misused(`"${text}" is not a question: expected RESOURCE:ACCESS or RESOURCE:ACCESS:SEGMENT`);
  return questionAbout(`${app ?? ''}${Resource}`, Access, Segment);
}

const AT = 'ask what was at an index, or a time such as 2026-11-03T14:05:00Z';

interface AtOption {
  readonly at?: string;
}

/** Says which moment was answered, if it is not the present. */
function sayWhen({ print }: Call<object>, { At }: { readonly At?: Moment }): void {
  if (At !== undefined) print.say(`At ${momentText(At)}:`);
}

export function addExplain(acl: Command, cli: Cli): void {
  addQuestions(acl, cli);
  addWhoAmI(acl, cli);
  addWhoCan(acl, cli);
  acl
    .command('decision')
    .description('show why a request was refused, by the id in its error')
    .argument('<id>', 'the id in the error; kept for ten minutes')
    .action(
      cli.action(async ({ api, print }, id) => {
        const path = `/v1/acl/decision/${encodeURIComponent(id!)}`;
        const decision = (await api.get(path)).json<Decision>();
        if (print.format === 'table') print.fields(decisionFields(decision));
        else await print.value(decision);
      }),
    );
  addLoginExplain(acl, cli);
}

function addQuestions(acl: Command, cli: Cli): void {
  acl
    .command('explain')
    .description('show whether a token may do something, and which rule decides')
    .argument('<question...>', 'RESOURCE:ACCESS or RESOURCE:ACCESS:SEGMENT')
    .option('--accessor <id>', 'AccessorID of the token (default: your own token)')
    .option('--at <index|time>', AT)
    .addHelpText('after', '\nExits with 1 if any answer is no.')
    .action(
      cli.action<{ accessor?: string } & AtOption>(async (call, ...given) => {
        const Requests = (given as string[]).map(parseQuestion);
        const AccessorID = await accessorOf(call);
        const body = { ...(AccessorID !== undefined && { AccessorID }), Requests };
        const path = '/v1/acl/authorize/explain';
        const { at } = call.options;
        const answer = await asOf(() =>
          call.api.ask('POST', path, { body, isRead: true, query: { at } }),
        );
        const explained = answer.json<Explained>();
        if (call.print.format === 'table') sayWhen(call, explained);
        if (call.print.format === 'table') call.print.table(RESULT_COLUMNS, explained.Results);
        else await call.print.value(explained);
        if (explained.Results.some(({ Allow }) => !Allow)) call.fails();
      }),
    );
}

async function accessorOf(
  call: Call<{ accessor?: string } & AtOption>,
): Promise<string | undefined> {
  const { accessor: text, at } = call.options;
  // Of an earlier moment, the token may be gone since.
  if (at !== undefined && text !== undefined && isUuid(text)) return text;
  return text === undefined ? undefined : idIn(TYPE.token, await find(call, TYPE.token, { text }));
}

function addWhoAmI(acl: Command, cli: Cli): void {
  acl
    .command('whoami')
    .description('show your token and everything it may do')
    .option('--accessor <id>', 'AccessorID of another token')
    .option('--at <index|time>', AT)
    .action(
      cli.action<{ accessor?: string } & AtOption>(async (call) => {
        const token = pathOf(TYPE.token, (await accessorOf(call)) ?? 'self');
        try {
          const query = { at: call.options.at };
          const answer = await asOf(() => call.api.get(`${token}/effective`, { query }));
          await showRights(call, answer.json<Effective>());
        } catch (error) {
          // What was cannot be told from the token that is there now.
          if (call.options.at !== undefined) throw error;
          if (!(error instanceof CliError && isWithoutRights(error))) throw error;
          // Other servers of the API tell the token, not what follows from it.
          call.print.note('the server cannot list the rights of a token: this is only the token');
          const found = (await call.api.get(token)).json<Stored>();
          await call.print.item(hidden(TYPE.token, found), TYPE.token.shape);
        }
      }),
    );
}

/**
 * Whether the server may not have the endpoint. Other servers take the path for an AccessorID, and
 * have no codes.
 */
const isWithoutRights = ({ details: { code } }: CliError): boolean =>
  code === undefined || code === 'no_endpoint' || code === 'invalid';

async function showRights(call: Call<object>, rights: Effective): Promise<void> {
  const { print } = call;
  if (print.format === 'name') return print.refs([`token/${rights.AccessorID}`]);
  if (print.format !== 'table') return print.value(rights);
  sayWhen(call, rights);
  print.fields(effectiveFields(rights));
  print.text(['\n']);
  if (rights.Rights.length === 0) print.note('no rule grants it any rights');
  else print.table(RIGHT_COLUMNS, rights.Rights);
  if (rights.Truncated) print.note('some rights are not shown');
}

function addWhoCan(acl: Command, cli: Cli): void {
  acl
    .command('who-can')
    .description('find the tokens that may do something')
    .argument('<question>', 'RESOURCE:ACCESS or RESOURCE:ACCESS:SEGMENT')
    .option('--at <index|time>', AT)
    .action(
      cli.action<AtOption>(async (call, question) => {
        const { api, options, print } = call;
        const body = parseQuestion(question!);
        const query = { at: options.at };
        const answer = await asOf(() =>
          api.ask('POST', '/v1/acl/who-can', { body, isRead: true, query }),
        );
        const found = answer.json<WhoCan>();
        if (print.format === 'name')
          return print.refs(
            found.Groups.flatMap(({ Sample }) =>
              Sample.map(({ AccessorID }) => `token/${AccessorID}`),
            ),
          );
        if (print.format !== 'table') return print.value(found);
        sayWhen(call, found);
        print.note(whoCanText(found));
        if (found.Groups.length > 0) print.table(GROUP_COLUMNS, found.Groups);
      }),
    );
}

interface LoginExplainOptions {
  readonly method?: string;
  readonly bearerTokenFile?: string;
  readonly claims?: string;
}

function addLoginExplain(acl: Command, cli: Cli): void {
  const explain = acl
    .command('login')
    .description('explain logins')
    .command('explain')
    .description('show what a login with a JWT or claims would grant, and why');
  explain
    .option('--method <name>', 'the auth method')
    .option('--bearer-token-file <file>', 'file with the JWT or ID token, or - for standard input')
    .option('--claims <claims>', 'claims as JSON, @FILE (JSON or YAML), or - for standard input');
  refusedSecret(explain, '--bearer-token <jwt>', 'use --bearer-token-file instead');
  explain
    .addHelpText('after', '\nDoes not log in. Exits with 1 if the login would be refused.')
    .action(cli.action<LoginExplainOptions>(explainLogin));
}

async function explainLogin(call: Call<LoginExplainOptions>): Promise<void> {
  const { api, print } = call;
  const body = await loginBody(call);
  const answer = await api.ask('POST', '/v1/acl/login/explain', { body, isRead: true });
  const explained = answer.json<LoginExplained>();
  if (explained.Outcome === 'refused') call.fails();
  if (print.format !== 'table') return print.value(explained);
  print.fields(loginFields(explained));
  print.text(['\n']);
  if (explained.Rules.length === 0) print.note('the method has no binding rules');
  else print.table(OUTCOME_COLUMNS, explained.Rules);
  if (explained.MoreRules) print.note(`${explained.MoreRules} more rules are not shown`);
}

async function loginBody({ io, options }: Call<LoginExplainOptions>): Promise<object> {
  const { method, bearerTokenFile, claims } = options;
  if (method === undefined) misused('--method is required: it names the auth method');
  if ((bearerTokenFile === undefined) === (claims === undefined))
    misused('give either --bearer-token-file or --claims');
  if (bearerTokenFile !== undefined) {
    const bearer = await readInput(io, '--bearer-token-file', bearerTokenFile);
    return { AuthMethod: method, BearerToken: bearer.trim() };
  }
  const read = await documentOf('--claims', await textOption(io, '--claims', claims!));
  return { AuthMethod: method, Claims: read.value };
}
