import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { User } from './harness.js';

describe('profiles', () => {
  const user = new User();
  after(() => user.leave());

  it('makes the first one current, and lists them', async () => {
    await user.done(['profile', 'set', 'lab', '--http-addr', 'lab:1', '-namespace', 'team']);
    await user.done(['profile', 'set', 'live', '--http-addr', 'https://live:1', '-ca-file', '/ca']);
    await user.done(['profile', 'set', 'live', '--token-file', '/t']);
    expect(await user.done(['profile', 'list'])).to.equal(
      '   NAME  ADDRESSES       NAMESPACE  TOKEN FILE\n' +
        '*  lab   lab:1           team\n' +
        '   live  https://live:1             /t\n',
    );
    const file = join(user.home, '.config/conclave/profiles.json');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.deep.equal({
      current: 'lab',
      profiles: {
        lab: { httpAddr: 'lab:1', namespace: 'team' },
        live: { httpAddr: 'https://live:1', caFile: '/ca', tokenFile: '/t' },
      },
    });
  });

  it('changes the current one, and forgets it when it is deleted', async () => {
    await user.done(['profile', 'use', 'live']);
    expect(await user.done(['profile', 'list'])).to.match(/^\* {2}live/m);
    await user.done(['profile', 'delete', 'live']);
    expect(await user.done(['profile', 'list', '-o', 'name'])).to.equal('profile/lab\n');
    expect(await user.done(['profile', 'list'])).not.to.include('*');
  });

  it('keep files by their whole paths: they are used in other folders', async () => {
    const set = ['profile', 'set', 'rel', '--http-addr', 'a:1', '--ca-file', 'ca.pem'];
    const { caFile } = await user.json<{ caFile: string }>(set);
    expect(caFile).to.equal(resolve('ca.pem'));
  });

  it('take the token of their login with them', async () => {
    await user.done(['profile', 'set', 'old', '--http-addr', 'a:1']);
    const token = join(user.home, '.config/conclave/token-old');
    for (const name of [token, `${token}.renewal`]) writeFileSync(name, 'secret-1\n');
    const { code, err } = await user.run(['profile', 'delete', 'old']);
    expect(code).to.equal(0);
    expect(err).to.equal(
      `conclave: removed ${token}; the token of that login stays valid until it expires or is ` +
        'deleted\n',
    );
    expect([existsSync(token), existsSync(`${token}.renewal`)]).to.deep.equal([false, false]);
  });

  it('refuses names that are none, and profiles that do not exist', async () => {
    for (const args of [
      ['set', '../x', '--http-addr', 'a:1'],
      ['set', 'empty'],
      ['use', 'none'],
      ['delete', 'none'],
      ['use', 'constructor'],
    ])
      expect((await user.run(['profile', ...args])).code, args.join(' ')).to.equal(2);
  });
});
