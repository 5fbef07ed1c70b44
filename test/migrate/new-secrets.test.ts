/** The file of secrets that a migration makes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isUuid } from '../../src/acl/names.js';
import { NewSecrets } from '../../src/cli/migrate/new-secrets.js';

const ONE = '1a2d0000-1111-4222-8333-000000000001';
const TWO = '1a2d0000-1111-4222-8333-000000000002';
const THREE = '1a2d0000-1111-4222-8333-000000000003';
const SECRET = '2a2d0000-1111-4222-8333-000000000001';

describe('the file of new secrets', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'conclave-secrets-')), 'secrets');

  it('takes no part of a secret, which a write that was cut off has left, for a secret', () => {
    writeFileSync(path, `${ONE},${SECRET}\n${TWO},2a2d00`);
    const secrets = new NewSecrets(path);
    expect(secrets.of(ONE)).to.equal(SECRET);
    const made = [TWO, THREE].map((accessor) => secrets.of(accessor));
    expect(made.every(isUuid)).to.equal(true);
    secrets.keep();
    const again = new NewSecrets(path);
    expect([TWO, THREE].map((accessor) => again.of(accessor))).to.deep.equal(made);
    expect(again.of(ONE)).to.equal(SECRET);
  });

  it('has a line without an end, if the secret is whole', () => {
    writeFileSync(path, `${ONE},${SECRET}`);
    const secrets = new NewSecrets(path);
    const made = secrets.of(TWO);
    secrets.keep();
    expect(readFileSync(path, 'utf8')).to.equal(`${ONE},${SECRET}\n${TWO},${made}\n`);
  });

  it('fails where the disk takes only some of them', () => {
    writeFileSync(path, '');
    const module = import.meta.resolve('../../src/cli/migrate/new-secrets.js');
    const script = `
      import { NewSecrets } from ${JSON.stringify(module)};
      process.on('SIGXFSZ', () => {});
      const secrets = new NewSecrets(${JSON.stringify(path)});
      for (let n = 0; n < 100; n += 1) secrets.of(String(n));
      secrets.keep();`;
    const node = `'${process.execPath}' --input-type=module -`;
    const { status, stderr } = spawnSync('bash', ['-c', `ulimit -f 1; ${node}`], {
      input: script,
      encoding: 'utf8',
    });
    expect(stderr).to.include('EFBIG');
    expect(status).to.not.equal(0);
  });
});
