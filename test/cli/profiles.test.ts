import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
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

  it('refuses names that are none, and profiles that do not exist', async () => {
    for (const args of [
      ['set', '../x', '--http-addr', 'a:1'],
      ['set', 'empty'],
      ['use', 'none'],
      ['delete', 'none'],
    ])
      expect((await user.run(['profile', ...args])).code, args.join(' ')).to.equal(2);
  });
});
