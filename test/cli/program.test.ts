import { expect } from 'chai';
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
    expect(help).to.include('Example: ').and.include('Options of all commands: conclave --help');
    expect(await user.done(['acl', 'policy', 'create', '-help'])).to.equal(help);
  });

  it('prints its version', async () => {
    expect(await user.done(['version'])).to.equal('0.0.0\n');
    expect(await user.done(['--version'])).to.equal('0.0.0\n');
  });

  it('fits help to the terminal', async () => {
    for (const line of (await user.done(['--help'], { columns: 80 })).split('\n'))
      expect(line.length).to.be.at.most(80);
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
      ['namespace', 'list', '--stale', '--consistent'],
      ['config', 'delete', 'mesh/mesh', '-cas', '-modify-index', 'x'],
      ['leave', '--http-addr', 'a:1,b:1'],
    ])
      expect((await user.run(args)).code, args.join(' ')).to.equal(2);
  });
});
