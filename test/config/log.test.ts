import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect } from 'chai';
import { createLog, withoutSecrets } from '../../src/log.js';

describe('log', () => {
  const lines: string[] = [];
  const log = createLog('info', { node: 'n1' }, { write: (line: string) => void lines.push(line) });
  const planted = 'b1gs3cr3t-planted-0000';

  it('writes one JSON object per line with level, time and node', () => {
    log.warn({ address: '127.0.0.1:1' }, 'peer away');
    const line = JSON.parse(lines.at(-1)!);
    expect(line).to.include({
      level: 'warn',
      node: 'n1',
      address: '127.0.0.1:1',
      msg: 'peer away',
    });
    expect(line.time).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it('writes nothing below its level', () => {
    const before = lines.length;
    log.debug({}, 'chatter');
    expect(lines).to.have.length(before);
  });

  it('never writes a secret, wherever it occurs', () => {
    const hiding: Record<string, unknown>[] = [
      { SecretID: planted },
      { headers: { 'X-Service-Token': planted, authorization: `Bearer ${planted}` } },
      { command: { token: { secret: planted } } },
      { acl: { initialManagement: planted } },
      { list: [{ BearerToken: planted }, { Config: { OIDCClientSecret: planted } }] },
      { entry: { PrivateKey: planted } },
      { raft: { sharedKey: planted } },
      { data: Buffer.from(planted) },
      { err: Object.assign(new Error('no'), { token: planted }) },
      { err: new Error('outer', { cause: { secret: planted } }) },
    ];
    for (const fields of hiding) {
      log.error(fields, 'something');
      expect(lines.at(-1))
        .not.to.include(planted)
        .and.not.to.include(Buffer.from(planted).toString('base64'));
    }
    expect(JSON.parse(lines.at(-10)!).SecretID).to.equal('hidden');
  });

  it('does not stop the process when it cannot be written', () => {
    const module = new URL('../../src/log.js', import.meta.url).href;
    const script = `
      const { createLog } = await import(${JSON.stringify(module)});
      const log = createLog('info', {});
      for (let i = 0; i < 3; i++) log.error({}, 'the disk is full');
      console.log('alive');`;
    // Opened read-only: every write to it fails.
    const broken = openSync(process.execPath, 'r');
    const words = ['--input-type=module', '--eval', script];
    const run = spawnSync(process.execPath, words, { stdio: ['ignore', 'pipe', broken] });
    closeSync(broken);
    expect([run.stdout.toString().trim(), run.status]).to.deep.equal(['alive', 0]);
  });

  it('keeps text that only resembles a secret, and the causes of errors', () => {
    expect(withoutSecrets({ tokenInQuery: true, sharedKeyFile: '/k' })).to.deep.equal({
      tokenInQuery: true,
      sharedKeyFile: '/k',
    });
    const shown = withoutSecrets({ err: new Error('outer', { cause: new Error('inner') }) });
    expect(shown).to.have.nested.property('err.cause.message', 'inner');
    log.error({ err: new TypeError('outer', { cause: new Error('inner') }) }, 'failed');
    expect(JSON.parse(lines.at(-1)!).err).to.include({ type: 'TypeError', message: 'outer' });
  });
});
