/** `acl can`: whether somebody may do something, as applications ask it (AuthZEN). */
import type { Command } from 'commander';
import type { Call, Cli } from '../cli.js';
import { readInput } from '../files/files.js';
import { CliError, EXIT, misused } from '../print/error.js';

interface CanOptions {
  readonly as?: string;
  readonly asTokenFile?: string;
  readonly asJwtFile?: string;
  readonly method?: string;
  readonly n?: string;
}

/** A subject of the Authorization API. */
interface Subject {
  readonly type: string;
  readonly id: string;
  readonly properties?: object;
}

/** A decision of the Authorization API. */
interface Decided {
  readonly decision: boolean;
  readonly context?: { readonly reason_admin?: { readonly en: string } };
}

/** The exit code of a question that could not be decided. */
const UNDECIDED = 3;

/** Adds `acl can`. */
export function addCan(acl: Command, cli: Cli): void {
  acl
    .command('can')
    .description('ask whether you, or somebody else, may do something to a resource')
    .argument('<action>', 'such as read, write, or an action of an application')
    .argument('<resource>', 'TYPE or TYPE/ID, such as service/web or orders/17')
    .option('--as <subject>', 'token:ACCESSOR, role:NAME, identity:METHOD/SUBJECT or TYPE:ID')
    .option('--as-token-file <file>', 'file with the SecretID of a token, or - for standard input')
    .option('--as-jwt-file <file>', 'file with a JWT, or - for standard input')
    .option('--method <name>', 'the auth method that the JWT is for')
    .option('-n <namespace>', 'the namespace of the resource')
    .addHelpText('after', '\nExits with 0 for yes, 1 for no, 3 if it could not be decided.')
    .action(
      cli.action<CanOptions>(async (call, action, resource) => {
        const { decision, context } = await decided(call, action!, resource!);
        const reason = context?.reason_admin?.en;
        const { print } = call;
        if (print.format !== 'table') await print.value({ decision, context });
        else if (call.options.quiet !== true)
          print.say(decision ? 'yes' : `no${reason === undefined ? '' : ` - ${reason}`}`);
        if (!decision) call.fails();
      }),
    );
}

async function decided(call: Call<CanOptions>, action: string, resource: string): Promise<Decided> {
  const { api, options } = call;
  const subject = await subjectOf(call);
  const at = resource.indexOf('/');
  const type = at < 0 ? resource : resource.slice(0, at);
  if (type === '') misused(`"${resource}" is not TYPE or TYPE/ID`);
  const { n: namespace } = options;
  const body = {
    subject,
    action: { name: action },
    resource: {
      type,
      id: at < 0 ? '' : resource.slice(at + 1),
      ...(namespace !== undefined && { properties: { namespace } }),
    },
  };
  try {
    const answer = await api.ask('POST', '/access/v1/evaluation', { body, isRead: true });
    return answer.json<Decided>();
  } catch (error) {
    if (!(error instanceof CliError) || error.exit === EXIT.interrupted) throw error;
    throw new CliError(error.message, { ...error.details, exit: UNDECIDED });
  }
}

/** Returns whom the options mean: by default the own token. */
async function subjectOf({ io, options }: Call<CanOptions>): Promise<Subject> {
  const { as, asTokenFile, asJwtFile, method } = options;
  const given = [as, asTokenFile, asJwtFile].filter((one) => one !== undefined);
  if (given.length > 1) misused('--as, --as-token-file and --as-jwt-file exclude each other');
  if ((method === undefined) !== (asJwtFile === undefined))
    misused('--as-jwt-file and --method go together');
  if (asTokenFile !== undefined)
    return {
      type: 'token_secret',
      id: (await readInput(io, '--as-token-file', asTokenFile)).trim(),
    };
  if (asJwtFile !== undefined) {
    const id = (await readInput(io, '--as-jwt-file', asJwtFile)).trim();
    return { type: 'jwt', id, properties: { auth_method: method } };
  }
  if (as === undefined) return { type: 'token', id: 'self' };
  const at = as.indexOf(':');
  if (at <= 0) misused(`--as: "${as}" is not TYPE:ID, such as role:ops`);
  return { type: as.slice(0, at), id: as.slice(at + 1) };
}
