/** The Go libraries, tested by a Go where there is one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { GO_MODULE, goVersion, runGo } from '../../scripts/clients/run-go.js';
import { RealCluster } from '../support/real-cluster.js';

const passes = (
  command: readonly [string, ...string[]],
  env?: Readonly<Record<string, string>>,
) => {
  const { status, stdout, stderr } = runGo(command, env);
  expect(status, stdout + stderr).to.equal(0);
  return stdout;
};

describe('the Go libraries', function () {
  this.timeout(300_000);

  it('require no other module, and Go 1.22', () => {
    const text = readFileSync(`${GO_MODULE}/go.mod`, 'utf8');
    expect(text).to.match(/^module \S+\/clients\/go\n\ngo 1\.22\n$/);
  });

  if (goVersion() === undefined) {
    console.log('no go was found in PATH: the Go libraries are not tested');
    return;
  }
  it('are formatted', () => {
    expect(passes(['gofmt', '-l', '.'])).to.equal('');
  });
  it('build where nothing can be downloaded, without cgo', () => {
    passes(['go', 'build', './...'], { CGO_ENABLED: '0' });
    expect(passes(['go', 'list', '-m', 'all']).split('\n')).to.have.length(2);
  });
  // Races are looked for where there is a compiler of C.
  const race = runGo(['go', 'env', 'CGO_ENABLED']).stdout.trim() === '1' ? ['-race'] : [];
  for (const args of [
    ['vet', './...'],
    ['vet', '-tags', 'node', './...'],
    ['test', ...race, './...'],
  ])
    it(`pass go ${args.join(' ')}`, () => {
      passes(['go', ...args]);
    });

  describe('with a node', () => {
    let cluster: RealCluster;
    before(async () => {
      cluster = await RealCluster.open(1);
    });
    after(() => cluster.close());

    it('are used as the README says', async () => {
      const { urls } = cluster;
      const [, program] = /```go\n([\s\S]+?)```/.exec(
        readFileSync(`${GO_MODULE}/README.md`, 'utf8'),
      )!;
      const Rules = 'key_prefix "orders/approve/" { policy = "read" }';
      const policy = await cluster.must('PUT /acl/policy', { Name: 'approvers', Rules });
      const Policies = [{ ID: policy.ID }];
      const made = await cluster.must('PUT /acl/token', { Description: 'of a shop', Policies });
      const dir = mkdtempSync(join(tmpdir(), 'conclave-go-'));
      writeFileSync(join(dir, 'main.go'), program!.replace('http://127.0.0.1:8500', urls[0]!));
      // The program is in a folder of the module, but not on the disk.
      const Replace = { [resolve(GO_MODULE, 'examples/readme/main.go')]: join(dir, 'main.go') };
      writeFileSync(join(dir, 'overlay.json'), JSON.stringify({ Replace }));
      const run = [
        'go',
        'run',
        '-overlay',
        join(dir, 'overlay.json'),
        './examples/readme',
      ] as const;
      expect(passes(run, { TOKEN: made.SecretID })).to.equal(
        'approve order 17: true\nbecause: allowed fresh\nrule: read orders/approve/ 1\n' +
          'token: of a shop\n',
      );
      rmSync(dir, { recursive: true });
    });

    it('call it, and follow the rights of a token', () => {
      const { urls, token } = cluster;
      passes(['go', 'test', '-count=1', '-tags', 'node', '-run', 'Node', './client'], {
        NODE_URL: urls.join(),
        NODE_TOKEN: token,
      });
    });
  });
});
