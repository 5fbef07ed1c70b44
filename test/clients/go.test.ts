/** The Go libraries, tested by a Go where there is one. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

/** The module has no dependencies: nothing is downloaded. */
const OFFLINE = { GOPROXY: 'off', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' };
const env = { ...process.env, ...OFFLINE, PATH: `${process.env['PATH']}:/usr/local/go/bin` };
const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { cwd: 'clients/go', encoding: 'utf8', env });

describe('the Go libraries', function () {
  this.timeout(300_000);

  if (run('go', 'version').error !== undefined) {
    console.log('no go was found in PATH: the Go libraries are not tested');
    return;
  }
  it('are formatted', () => {
    expect(run('gofmt', '-l', '.').stdout).to.equal('');
  });
  for (const args of [
    ['vet', './...'],
    ['test', './...'],
  ] as const)
    it(`pass go ${args.join(' ')}`, () => {
      const { status, stdout, stderr } = run('go', ...args);
      expect(status, stdout + stderr).to.equal(0);
    });
});
