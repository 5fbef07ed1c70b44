/** The Go libraries, tested by a Go where there is one. */
import { readFileSync } from 'node:fs';
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
  for (const args of [
    ['vet', './...'],
    ['vet', '-tags', 'node', './...'],
    ['test', './...'],
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

    it('call it, and follow the rights of a token', () => {
      const { urls, token } = cluster;
      passes(['go', 'test', '-count=1', '-tags', 'node', '-run', 'Node', './client'], {
        NODE_URL: urls.join(),
        NODE_TOKEN: token,
      });
    });
  });
});
