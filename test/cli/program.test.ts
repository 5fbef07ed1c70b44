import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Command } from 'commander';
import { Cli } from '../../src/cli/cli.js';
import { NODE_COMMANDS, nodeCommandOf } from '../../src/cli/commands/node-commands.js';
import type { Io } from '../../src/cli/io.js';
import { programOf } from '../../src/cli/program.js';
import { User } from './harness.js';

describe('the program of the client', () => {
  const user = new User();
  after(() => user.leave());

  it('says what to do first when it is called with nothing', async () => {
    const { code, out, err } = await user.run([]);
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out.match(/^ {2}\d\. /gm)).to.have.length(5);
    for (const line of out.split('\n')) expect(line.length).to.be.at.most(80);
  });

  it('names the commands of nodes, and explains each command', async () => {
    expect(await user.done(['--help'])).to.match(/^ {2}agent /m);
    const help = await user.done(['help', 'acl', 'policy', 'create']);
    expect(help).to.match(/^Usage: conclave acl policy create /);
    expect(help)
      .to.include('Examples:\n  conclave acl policy create ')
      .and.include('Options of all commands: conclave --help');
    expect(await user.done(['acl', 'policy', 'create', '-help'])).to.equal(help);
  });

  it('shows examples of every command, which are lines that it takes', async () => {
    // Nothing runs, so nothing is touched.
    const io = { out: {}, err: {}, env: {}, home: '', version: '' } as unknown as Io;
    const leaves = (command: Command): Command[] => {
      const below = command.createHelp().visibleCommands(command);
      const own = below.filter((one) => one.name() !== 'help');
      return own.length === 0 ? [command] : own.flatMap(leaves);
    };
    for (const leaf of leaves(programOf(new Cli(io)))) {
      let path = leaf.name();
      for (let at = leaf.parent; at?.parent; at = at.parent) path = `${at.name()} ${path}`;
      let help = '';
      leaf.configureOutput({
        writeOut: (text) => {
          help += text;
        },
      });
      leaf.outputHelp();
      const [, examples = ''] = help.split('Examples:\n');
      expect(examples, path).to.match(new RegExp(`^  conclave ${path}`));
      const options = [...examples.matchAll(/ (--[\w-]+)/g)].map(([, name]) => name!);
      for (const line of examples.split('\n')) expect(line.length, line).to.be.at.most(100);
      if (NODE_COMMANDS.some((one) => one.path.join(' ') === path)) continue;
      const names = ['--help'];
      for (let at: Command | null = leaf; at !== null; at = at.parent)
        names.push(...at.options.map(({ long }) => long!));
      expect(names, path).to.include.members(options);
    }
  });

  it('finds the commands of nodes by the longest name, and by a former one', () => {
    for (const [given, path, words] of [
      ['agent --http-port 1', 'agent', 'agent --http-port 1'],
      ['agent check --http-port 1', 'agent check', 'agent check --http-port 1'],
      ['config check --http-port 1', 'agent check', 'agent check --http-port 1'],
      ['help config check', 'agent check', 'agent check --help'],
      ['agent --http-port 1 check', 'agent', 'agent --http-port 1 check'],
    ] as const) {
      const found = nodeCommandOf(given.split(' '))!;
      expect([found.command.path.join(' '), found.words.join(' ')]).to.deep.equal([path, words]);
    }
    for (const given of [[], ['config'], ['config', 'write'], ['snapshot', 'save'], ['status']])
      expect(nodeCommandOf(given)).to.equal(undefined);
  });

  it('prints its version', async () => {
    expect(await user.done(['version'])).to.equal('0.0.0\n');
    expect(await user.done(['--version'])).to.equal('0.0.0\n');
  });

  it('fits help to the terminal', async () => {
    for (const line of (await user.done(['--help'], { columns: 80 })).split('\n'))
      expect(line.length).to.be.at.most(80);
  });

  it('runs for a user without a home, and reads nothing from the present folder', async () => {
    const main = fileURLToPath(new URL('../../program/main.js', import.meta.url));
    const cwd = mkdtempSync(join(tmpdir(), 'conclave-homeless-'));
    const folder = join(cwd, '.config/conclave');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'profiles.json'), '{"profiles":{"planted":{}}}');
    const profiles = async (as: object) => {
      const child = spawn(process.execPath, [main, 'profile', 'list', '-o', 'json'], as);
      let out = '';
      child.stdout!.on('data', (chunk) => {
        out += chunk;
      });
      const [code] = await once(child, 'close');
      return [code, out];
    };
    try {
      expect(await profiles({ cwd, env: { HOME: '' } })).to.deep.equal([0, '[]\n']);
      // Only root can become a user that no file lists.
      if (process.geteuid?.() === 0)
        expect(await profiles({ env: {}, uid: 54_321, gid: 54_321 })).to.deep.equal([0, '[]\n']);
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  });

  it('suggests a command or option, and exits with 2', async () => {
    const command = await user.run(['namespcae', 'list']);
    expect(command.code).to.equal(2);
    expect(command.err).to.include("conclave: unknown command 'namespcae'\n");
    expect(command.err).to.include('(Did you mean namespace?)');
    const option = await user.run(['namespace', 'list', '--filtr', 'x']);
    expect(option.code).to.equal(2);
    expect(option.err).to.include('Did you mean --filter?');
    const node = await user.run(['--quiet', 'agent']);
    expect(node.code).to.equal(2);
    expect(node.err).to.include('put "agent" before the options');
  });

  it('refuses values of options that it cannot read', async () => {
    for (const args of [
      ['namespace', 'list', '-o', 'xml'],
      ['namespace', 'list', '--timeout', '5'],
      ['namespace', 'list', '--timeout', '0s'],
      ['namespace', 'list', '--timeout', '-1s'],
      ['namespace', 'list', '--timeout', '1000h'],
      ['namespace', 'list', '--stale', '--consistent'],
      ['config', 'delete', 'mesh/mesh', '-cas', '-modify-index', 'x'],
      ['leave', '--http-addr', 'a:1,b:1'],
    ])
      expect((await user.run(args)).code, args.join(' ')).to.equal(2);
  });

  it('tells errors in the form of the option, or else of the variable', async () => {
    const failed = async (...args: string[]): Promise<string> =>
      (await user.run(['profile', 'use', 'none', ...args], { env: { CONCLAVE_OUTPUT: 'json' } }))
        .err;
    expect(JSON.parse(await failed())).to.include({ code: 'misused' });
    expect(JSON.parse(await failed('-o', 'yaml', '-format=json'))).to.include({ code: 'misused' });
    for (const args of [['-o', 'table'], ['--output=yaml'], ['-format', 'name']])
      expect(await failed(...args), args.join(' ')).to.match(
        /^conclave: there is no profile "none"/,
      );
  });
});
