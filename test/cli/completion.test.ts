import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Cli } from '../../src/cli/cli.js';
import { positionOf } from '../../src/cli/completion/completion.js';
import type { Io } from '../../src/cli/io.js';
import { programOf } from '../../src/cli/program.js';
import { json } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

describe('completion', () => {
  const { user, fake } = fakeStage();
  /** Returns the candidates for the last word, and the directive. */
  const complete = async (...words: string[]): Promise<string[]> =>
    (await user.done(['complete', '--', ...words])).split('\n').map((line) => line.split('\t')[0]!);
  const policies = [
    { ID: '1', Name: 'ops', Description: 'for\nops\u001b' },
    { ID: '2', Name: 'web' },
  ];

  it('completes commands and options', async () => {
    expect(await complete('acl', 'po')).to.deep.equal(['policy', ':4', '']);
    expect(await complete('acl', 'policy', 'cr')).to.deep.equal(['create', ':4', '']);
    expect(await complete('acl', 'policy', 'create', '--val')).to.deep.equal([
      '--valid-datacenter',
      ':4',
      '',
    ]);
    expect(await complete('acl', 'policy', 'list', '--sta')).to.deep.equal(['--stale', ':4', '']);
    const all = await complete('');
    expect(all).to.include.members(['acl', 'config', 'agent', 'completion']);
    expect(all).not.to.include('complete');
  });

  it('completes values: forms, files, kinds', async () => {
    expect(await complete('acl', 'policy', 'list', '-o', '')).to.deep.equal([
      ...['table', 'json', 'yaml', 'name', ':4', ''],
    ]);
    expect(await complete('acl', 'policy', 'list', '--token-file', '')).to.deep.equal([':0', '']);
    expect(await complete('config', 'write', '')).to.deep.equal([':0', '']);
    expect(await complete('config', 'list', 'service-r')).to.deep.equal([
      ...['service-resolver', 'service-router', ':4', ''],
    ]);
  });

  it('completes questions about rights', async () => {
    user.env = { CONCLAVE_HTTP_ADDR: await fake.serve(json(policies)) };
    expect(await complete('acl', 'can', 'w')).to.deep.equal(['write', 'write-prefix', ':4', '']);
    expect(await complete('acl', 'can', 'write', 'se')).to.deep.equal([
      ...['service/', 'session/', ':4', ''],
    ]);
    expect(await complete('acl', 'can', '--all', 'serv')).to.deep.equal(['service', ':4', '']);
    expect(await complete('acl', 'can', 'read', 'acl', '--as', 'role:o')).to.deep.equal([
      ...['role:ops', ':4', ''],
    ]);
    expect(await complete('acl', 'can', '-n', 'o')).to.deep.equal(['ops', ':4', '']);
    expect(await complete('acl', 'can', '--as-token-file', '')).to.deep.equal([':0', '']);
  });

  it('asks the server for members', async () => {
    const peer = { ID: 'a-1', Node: 'n4', Address: '127.0.0.1:1', Leader: false, Voter: true };
    user.env = { CONCLAVE_HTTP_ADDR: await fake.serve(json({ Servers: [peer], Index: 7 })) };
    expect(await complete('operator', 'raft', 'remove-peer', '')).to.deep.equal(['n4', ':4', '']);
    expect(await complete('operator', 'raft', 'remove-peer', 'n4', '')).to.deep.equal([':4', '']);
  });

  it('asks the server for names', async () => {
    const address = await fake.serve(json(policies));
    user.env = { CONCLAVE_HTTP_ADDR: address };
    expect(await complete('acl', 'policy', 'read', '')).to.deep.equal(['ops', 'web', ':4', '']);
    expect(await complete('acl', 'role', 'create', '-policy-name', 'w')).to.deep.equal([
      ...['web', ':4', ''],
    ]);
    expect(await user.done(['complete', '--', 'acl', 'policy', 'read', 'o'])).to.equal(
      'ops\tfor ops\\u001b\n:4\n',
    );
    expect(await complete('config', 'chain', 'o')).to.deep.equal(['ops', ':4', '']);
    await complete('config', 'read', 'mesh', '');
    await complete('acl', 'policy', 'read', '--namespace', 'team', '');
    expect(fake.seen.slice(-2).map(({ url }) => url)).to.deep.equal([
      '/v1/config/mesh',
      '/v1/acl/policies?ns=team',
    ]);
  });

  it('completes types of objects, then names of that type, beside commands', async () => {
    user.env = { CONCLAVE_HTTP_ADDR: await fake.serve(json(policies)) };
    expect(await complete('history', 'po')).to.deep.equal(['policy', ':4', '']);
    expect(await complete('history', 'd')).to.deep.equal(['diff', ':4', '']);
    expect(await complete('history', 'diff', 'policy', '')).to.deep.equal(['ops', 'web', ':4', '']);
    expect(await complete('refs', 'policy', 'ops', '')).to.deep.equal([':4', '']);
    expect(await complete('rollback', 'config', 'me')).to.deep.equal(['mesh/', ':4', '']);
    expect(await complete('plan', '-f', '')).to.deep.equal([':0', '']);
    expect(await complete('export', '--folder', '')).to.deep.equal([':0', '']);
    expect(await complete('export', '--types', 'auth')).to.deep.equal(['auth-method', ':4', '']);
  });

  it('offers no name that a shell would run or split', async () => {
    const hostile = ['$(reboot)', '`reboot`', '${IFS}', 'a;b', 'a b', "a'b", 'a\\b', '*', '~', ''];
    const harmless = ['web-1.v2_b', 'team/ops', 'caf\u00e9', 'a:b@c'];
    const names = [...hostile, ...harmless].map((Name) => ({ ID: Name, Name }));
    user.env = { CONCLAVE_HTTP_ADDR: await fake.serve(json(names)) };
    expect(await complete('config', 'read', 'mesh', '')).to.deep.equal([...harmless, ':4', '']);
  });

  it('says nothing when no server answers', async () => {
    const silent = await fake.serve(() => {});
    for (const address of ['127.0.0.1:1', silent]) {
      user.env = { CONCLAVE_HTTP_ADDR: address };
      const ran = await user.run(['complete', '--', 'acl', 'policy', 'read', '']);
      expect(ran).to.deep.equal({ code: 0, out: ':4\n', err: '' });
    }
  });

  it('knows what the words before mean', () => {
    const io = { out: {}, err: {}, env: {}, version: '0' } as unknown as Io;
    const program = programOf(new Cli(io));
    const words = [
      'acl',
      'token',
      '-stale',
      'read',
      '--http-addr=a:1',
      '-namespace',
      'x',
      'abc',
      'd',
    ];
    const { args, command, option, options, word } = positionOf(program, words);
    expect({ args, name: command.name(), option, options, word }).to.deep.equal({
      args: ['abc'],
      name: 'read',
      option: undefined,
      options: { httpAddr: 'a:1', namespace: 'x' },
      word: 'd',
    });
  });

  it('prints scripts that their shells can read', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = await user.done(['completion', shell]);
      expect(script).to.include('conclave complete --');
      const file = join(user.home, shell);
      writeFileSync(file, script);
      const { error, status, stderr } = spawnSync(shell, ['-n', file]);
      // Where the shell is not installed there is nothing to ask.
      if (error === undefined) expect(status, String(stderr)).to.equal(0);
    }
    expect(await user.run(['completion', 'tcsh'])).to.include({ code: 2 });
  });

  it('completes in a bash without helpers, which reads the script twice', async () => {
    const file = join(user.home, 'twice.bash');
    writeFileSync(file, await user.done(['completion', 'bash']));
    const lines = [
      `source ${file}; source ${file}`,
      'compopt() { :; }',
      'conclave() { printf "%s\\n" "$*" >&2; printf "policy\\tp\\nrole\\tr\\n:4\\n"; }',
      'COMP_WORDS=(conclave acl ro) COMP_CWORD=2',
      '__conclave_complete; echo "${COMPREPLY[*]}"',
    ];
    const bash = spawnSync('bash', ['--norc', '-c', lines.join('\n')], { encoding: 'utf8' });
    if (bash.error !== undefined) return;
    expect([bash.stdout, bash.stderr]).to.deep.equal(['role\n', '']);
  });

  it('evaluates nothing of what was typed in bash', async () => {
    const file = join(user.home, 'typed.bash');
    writeFileSync(file, await user.done(['completion', 'bash']));
    const marker = join(user.home, 'evaluated');
    const lines = [
      `source ${file}`,
      'compopt() { :; }',
      'conclave() { printf "%s\\n" "$@"; printf ":4\\n"; }',
      `COMP_WORDS=(conclave '$(touch ${marker})' 'a b' '') COMP_CWORD=3`,
      '__conclave_complete; printf "[%s]" "${COMPREPLY[@]}"',
    ];
    const bash = spawnSync('bash', ['--norc', '-c', lines.join('\n')], { encoding: 'utf8' });
    if (bash.error !== undefined) return;
    expect(existsSync(marker)).to.equal(false);
    expect(bash.stdout).to.equal(`[complete][--][$(touch ${marker})][a b][]`);
  });
});
