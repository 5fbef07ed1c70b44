/** All commands of the client as one program. */
import { Command } from 'commander';
import { misuseText } from './arguments.js';
import { type Cli, withCommonOptions } from './cli.js';
import { addAclObjects, addNamespace } from './commands/acl.js';
import { addAudit } from './commands/audit.js';
import { addBootstrap } from './commands/bootstrap.js';
import { addCan } from './commands/can.js';
import { addConfig } from './commands/config.js';
import { addDoctor } from './commands/doctor.js';
import { addEvents } from './commands/events.js';
import { addExamples } from './commands/examples.js';
import { addExplain } from './commands/explain.js';
import { addExport } from './commands/export.js';
import { addHistory } from './commands/history.js';
import { addIdentity } from './commands/identity.js';
import { addLint } from './commands/lint.js';
import { addLogin } from './commands/login.js';
import { addMembership } from './commands/membership.js';
import { addMigrate } from './commands/migrate.js';
import { addNodeCommands } from './commands/node-commands.js';
import { addOperator } from './commands/operator.js';
import { addSets } from './commands/plan.js';
import { addProfile } from './commands/profile.js';
import { addRefs } from './commands/refs.js';
import { addRollback } from './commands/rollback.js';
import { addSnapshot } from './commands/snapshot.js';
import { addStatus } from './commands/status.js';
import { addTemplatedPolicy } from './commands/templated-policy.js';
import { addWatch } from './commands/watch-command.js';
import { addCompletion } from './completion/completion.js';

/** Returns the program. */
export function programOf(cli: Cli): Command {
  const { io } = cli;
  const program = new Command('conclave');
  program
    .exitOverride()
    // Narrow terminals wrap, too.
    .configureHelp({ minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      getOutHelpWidth: () => io.out.columns ?? 80,
      getErrHelpWidth: () => io.err.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(misuseText(text)),
    })
    .description('Replicated access control and central configuration')
    .version(io.version)
    .addHelpText('afterAll', ({ command }) =>
      command === program
        ? '\nRun conclave without arguments for the first steps.'
        : '\nOptions of all commands: conclave --help',
    );
  withCommonOptions(program);
  program.commandsGroup('Cluster state:');
  addStatus(program, cli);
  addDoctor(program, cli);
  addWatch(program, cli);
  addEvents(program, cli);
  program.commandsGroup('Stored objects:');
  addAcl(program, cli);
  addNamespace(program, cli);
  addConfig(program, cli);
  addRefs(program, cli);
  program.commandsGroup('Sets of objects and their history:');
  addSets(program, cli);
  addExport(program, cli);
  addHistory(program, cli);
  addRollback(program, cli);
  program.commandsGroup('Operations:');
  addAudit(program, cli);
  addSnapshot(program, cli);
  addMembership(program, cli);
  addOperator(program, cli);
  addMigrate(program, cli);
  program.commandsGroup('Your environment:');
  addLogin(program, cli);
  addProfile(program, cli);
  addCompletion(program, cli);
  addVersion(program, cli);
  program.commandsGroup('Nodes on this machine:');
  addNodeCommands(program);
  addExamples(program);
  return program;
}

function addAcl(program: Command, cli: Cli): void {
  const acl = program
    .command('acl')
    .description('tokens, policies, roles and logins, and why access is allowed or denied');
  addBootstrap(acl, cli);
  const { policy, rule } = addAclObjects(acl, cli);
  addTemplatedPolicy(acl, cli);
  addCan(acl, cli);
  addExplain(acl, cli);
  addIdentity(acl, cli);
  addLint(acl, policy, rule, cli);
}

function addVersion(program: Command, { io }: Cli): void {
  program
    .command('version')
    .description('print the version of this program')
    .action(() => io.out.write(`${io.version}\n`));
}
