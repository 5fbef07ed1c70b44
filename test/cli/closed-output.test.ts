import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { PROGRAM } from '../../src/dev/local.js';
import { FakeServers, json, text } from './fake-server.js';

describe('the client when nobody reads its output any more', () => {
  const fake = new FakeServers();
  beforeEach(() => fake.forget());
  after(() => fake.close());

  /** Runs the program with outputs that are closed. Resolves to its exit code. */
  async function run(args: readonly string[], input = ''): Promise<number | null> {
    const child = spawn(process.execPath, [PROGRAM, ...args], { env: {} });
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.end(input);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  }
  const documents = Array.from({ length: 20 }, (_, at) => `Kind: service-defaults\nName: s${at}\n`);
  const write = async (...answers: RequestListener[]) => {
    const args = ['config', 'write', '-', '--http-addr', await fake.serve(...answers)];
    return run(args, documents.join('---\n'));
  };

  it('does all of its work', async () => {
    expect(await write(json(true))).to.equal(0);
    const writes = fake.seen.filter(({ method }) => method === 'PUT');
    expect(writes).to.have.length(documents.length);
  });

  it('tells by its exit code that it failed', async () => {
    expect(await write(json(true), json(true), text(400, 'no'))).to.equal(1);
    expect(fake.seen).to.have.length(3);
  });

  it('ends what would go on for ever', async () => {
    const held = json([{ Name: 'team' }]);
    const args = ['watch', 'namespaces', '--http-addr', await fake.serve(held, () => {})];
    expect(await run(args)).to.equal(0);
  });
});
