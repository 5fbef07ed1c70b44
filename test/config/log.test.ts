import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../src/config/config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { createLog, withoutSecrets } from '../../src/log/log.js';
import { LOG_EVENTS } from '../../src/log/log-events.js';

describe('log', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', format: 'json' }, { node: 'n1' }, destination);
  const event = 'request_failed';
  const planted = 'b1gs3cr3t-planted-0000';

  it('writes one JSON object per line with level, time and node', () => {
    log.warn({ event: 'peer_unreachable', address: '127.0.0.1:1' }, 'peer away');
    const line = JSON.parse(lines.at(-1)!);
    expect(line).to.include({
      level: 'warn',
      node: 'n1',
      event: 'peer_unreachable',
      address: '127.0.0.1:1',
      msg: 'peer away',
    });
    expect(line.time).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it('writes nothing below its level', () => {
    const before = lines.length;
    log.debug({ event: 'request' }, 'chatter');
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
      log.error({ event, ...fields }, 'something');
      expect(lines.at(-1))
        .not.to.include(planted)
        .and.not.to.include(Buffer.from(planted).toString('base64'));
    }
    expect(JSON.parse(lines.at(-10)!).SecretID).to.equal('hidden');
  });

  it('does not stop the process when it cannot be written', () => {
    const module = new URL('../../src/log/log.js', import.meta.url).href;
    const script = `
      const { createLog } = await import(${JSON.stringify(module)});
      const log = createLog({ level: 'info', format: 'auto' }, {});
      for (let i = 0; i < 3; i++) log.error({ event: 'fatal' }, 'the disk is full');
      console.log('alive');`;
    // Opened read-only: every write to it fails.
    const broken = openSync(process.execPath, 'r');
    const words = ['--input-type=module', '--eval', script];
    const run = spawnSync(process.execPath, words, { stdio: ['ignore', 'pipe', broken] });
    closeSync(broken);
    expect([run.stdout.toString().trim(), run.status]).to.deep.equal(['alive', 0]);
  });

  it('keeps every setting that is no secret', () => {
    const shown = withoutSecrets(loadConfig({})) as Record<string, unknown>;
    for (const { key, default: value } of SETTINGS)
      if (value !== undefined) expect(shown, key).to.have.nested.property(key).not.equal('hidden');
  });

  it('keeps text that only resembles a secret, and the causes of errors', () => {
    expect(withoutSecrets({ tokenInQuery: true, sharedKeyFile: '/k' })).to.deep.equal({
      tokenInQuery: true,
      sharedKeyFile: '/k',
    });
    const shown = withoutSecrets({ err: new Error('outer', { cause: new Error('inner') }) });
    expect(shown).to.have.nested.property('err.cause.message', 'inner');
    const err = new TypeError('outer', { cause: new Error('inner') });
    log.error({ event, err }, 'failed');
    expect(JSON.parse(lines.at(-1)!).err).to.include({ type: 'TypeError', message: 'outer' });
  });

  it('is text for people where it is asked for, with the stack of an error', () => {
    const text = createLog({ level: 'info', format: 'text' }, { node: 'n1' }, destination);
    text.info({ event: 'serving', url: 'http://a:1', raft: 'a:2' }, 'serving');
    expect(lines.at(-1)).to.match(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}n1 serving {2}url=http:\/\/a:1 raft=a:2 \[serving\]\n$/,
    );
    text.error({ event: 'fatal', err: new Error('broken'), token: planted }, 'the node must stop');
    expect(lines.at(-1)).to.match(/\[fatal\]\n {4}Error: broken\n {8}at /);
    expect(lines.at(-1)).to.include('token=hidden').and.not.include(planted);
  });

  it('uses each name of its list somewhere', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'log-events.ts')
      .map((name) => readFileSync(join('src', name), 'utf8'))
      .join('\n');
    for (const name of Object.keys(LOG_EVENTS)) {
      expect(name).to.match(/^[a-z]+(_[a-z]+)*$/);
      expect(sources.includes(`'${name}'`), name).to.equal(true);
    }
  });
});
