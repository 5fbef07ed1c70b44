/**
 * The program on a pseudo-terminal: widths, colours, questions and interrupts as a person has them.
 * `script` of util-linux makes the terminal, which every Debian has; where there is none, the suite
 * says so.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROGRAM, quote } from '../../src/dev/local.js';
import { freePorts } from '../../src/dev/ports.js';
import { FakeServers, json } from './fake-server.js';

const ESCAPE = '\u001b';
const SHOWN = /util-linux/.test(String(spawnSync('script', ['--version']).stdout));

/** What a program did. On a terminal, both of its streams come together. */
interface Shown {
  readonly code: number | null;
  readonly text: string;
}

/** How a program runs. */
interface Given {
  /** The width of the terminal; 0: the output is a pipe. */
  readonly columns: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What is typed once a text is shown, or something has happened, by turns. */
  readonly typed?: readonly [after: string | Promise<unknown>, keys: string, ...more: string[]];
}

if (!SHOWN) console.log('no `script` of util-linux was found: pseudo-terminals are left out');
else
  describe('the client on a pseudo-terminal', () => {
    const home = mkdtempSync(join(tmpdir(), 'conclave-pty-'));
    const servers = new FakeServers();
    after(() => {
      servers.close();
      rmSync(home, { recursive: true, force: true });
    });

    const run = (args: readonly string[], { columns, env, typed }: Given): Promise<Shown> => {
      const program = [process.execPath, PROGRAM, ...args];
      const line = `stty cols ${columns} && exec ${program.map(quote).join(' ')}`;
      const [command, ...words] = columns === 0 ? program : ['script', '-qec', line, '/dev/null'];
      const child = spawn(command!, words, {
        env: { PATH: process.env['PATH'], TERM: 'xterm', XDG_CONFIG_HOME: home, ...env },
      });
      let text = '';
      let [after, keys, ...more] = typed ?? [];
      const type = (): void => {
        child.stdin.write(keys!);
        [after, keys, ...more] = more;
      };
      const take = (part: Buffer): void => {
        text += part.toString().replaceAll('\r\n', '\n');
        if (typeof after === 'string' && text.includes(after)) type();
      };
      if (after instanceof Promise) void after.then(type);
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      return new Promise((done) => child.on('close', (code) => done({ code, text })));
    };
    /** Lists namespaces with a description that is wider than most terminals. */
    const listed = async (given: Given, ...args: string[]): Promise<string> => {
      const spaces = [{ Name: 'team-a', Description: `the beginning ${'x'.repeat(200)} the end` }];
      const address = await servers.serve(json(spaces));
      const { code, text } = await run(
        ['namespace', 'list', '--http-addr', address, ...args],
        given,
      );
      expect(code, text).to.equal(0);
      return text;
    };

    it('fits tables to its width', async () => {
      for (const columns of [40, 100]) {
        const lines = (await listed({ columns }, '--no-color')).trimEnd().split('\n');
        expect(lines).to.have.length(2);
        expect(Math.max(...lines.map((line) => line.length))).to.be.within(columns - 2, columns);
        expect(lines[1]).to.include('the ').and.include('…').and.not.include('the end');
      }
    });

    it('cuts and paints nothing where there is no terminal', async () => {
      const text = await listed({ columns: 0 });
      expect(text).to.include('the end').and.not.include(ESCAPE);
    });

    it('paints on a terminal, unless the user does not want it', async () => {
      expect(await listed({ columns: 80 })).to.include(`${ESCAPE}[1mNAME`);
      expect(await listed({ columns: 80 }, '--no-color')).not.to.include(ESCAPE);
      for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }] as Record<string, string>[])
        expect(await listed({ columns: 80, env })).not.to.include(ESCAPE);
    });

    it('fits help to its width, and to 80 columns elsewhere', async () => {
      for (const columns of [60, 120, 0]) {
        const { code, text } = await run(['acl', '--help'], { columns });
        expect(code).to.equal(0);
        for (const line of text.split('\n'))
          expect(line.length, line).to.be.at.most(columns === 0 ? 80 : columns);
      }
    });

    it('asks before it removes a member, and only where somebody can answer', async () => {
      const Servers = [
        { ID: 'a-1', Node: 'n4', Address: '127.0.0.1:1', Leader: false, Voter: true },
      ];
      const address = await servers.serve(json({ Servers, Index: 7 }));
      const remove = ['operator', 'raft', 'remove-peer', 'n4', '--http-addr', address];
      const asked = '[y/N] ';
      servers.forget();
      const no = await run(remove, { columns: 80, typed: [asked, '\r'] });
      expect(no.code).to.equal(1);
      expect(no.text).to.include('nothing was changed');
      const pipe = await run(remove, { columns: 0 });
      expect(pipe.code).to.equal(2);
      expect(pipe.text).to.include('--yes');
      expect(servers.seen.map(({ method }) => method)).to.deep.equal(['GET', 'GET']);
      const yes = await run(remove, { columns: 80, typed: [asked, 'y\r'] });
      expect(yes.code, yes.text).to.equal(0);
      expect(servers.seen.at(-1)).to.include({
        method: 'DELETE',
        url: '/v1/operator/raft/peer?id=a-1',
      });
    });

    it('ends with 130 when it is interrupted at a question', async () => {
      const Servers = [{ ID: 'a-1', Node: 'n4', Address: '127.0.0.1:1' }];
      const address = await servers.serve(json({ Servers, Index: 7 }));
      const remove = ['operator', 'raft', 'remove-peer', 'n4', '--http-addr', address];
      servers.forget();
      for (const key of ['\u0003', '\u0004']) {
        const { code, text } = await run(remove, { columns: 80, typed: ['[y/N] ', key] });
        expect(code, text).to.equal(130);
        expect(text).to.include('interrupted').and.not.include('    at ');
      }
      expect(servers.seen.map(({ method }) => method)).to.deep.equal(['GET', 'GET']);
    });

    /** Logs in at a provider. `typed` makes what is typed of the address it sends back to. */
    async function login(typed?: (back: string) => Given['typed']): Promise<Shown> {
      const [port] = await freePorts(1);
      const listenOn = `localhost:${port}`;
      const back = `http://${listenOn}/oidc/callback?code=c&state=s`;
      const browser = join(home, 'browser');
      writeFileSync(browser, `#!${process.execPath}\nfetch('${back}');\n`, { mode: 0o700 });
      const Identity = { AuthMethod: 'staff', Namespace: 'default' };
      const address = await servers.serve(
        json([{ Name: 'staff' }]),
        json({ AuthURL: 'https://idp.example/auth?state=s' }),
        json({ AccessorID: 'a-1', SecretID: 's-1', Description: 'made', Identity }),
      );
      const listen = ['--oidc-callback-listen-addr', listenOn, '--timeout', '20s'];
      const args = ['login', '-method', 'staff', ...listen, '--http-addr', address];
      const env = { BROWSER: typed === undefined ? browser : 'false' };
      const keys = typed?.(back);
      return run(args, { columns: 80, env, ...(keys && { typed: keys }) });
    }
    const PASTE = 'paste the address it ends up at:';

    it('takes the address of a login that is pasted, or that the browser visits', async () => {
      const pasted = await login((back) => [PASTE, `${back}\r`]);
      expect(pasted.code, pasted.text).to.equal(0);
      const came = await login();
      expect(came.code, came.text).to.equal(0);
      expect(came.text).to.include('\nconclave: the token is in ');
      expect(`${pasted.text}${came.text}`).not.to.include('s-1');
      expect(JSON.parse(servers.seen.at(-1)!.body)).to.include({ State: 's', Code: 'c' });
    });

    it('takes the address of a login after an empty line, even all at once', async () => {
      const { code, text } = await login((back) => [PASTE, `\r\r${back}\r`]);
      expect(code, text).to.equal(0);
      expect(text).not.to.include('that is not the address');
    });

    it('goes on with a login after the end of the input, until it is interrupted', async () => {
      for (const keys of [['\u0004', 'the input has ended', '\u0003'], ['\u0003']]) {
        const { code, text } = await login(() => [PASTE, ...(keys as [string])]);
        expect(code, text).to.equal(130);
        expect(text).to.include('interrupted').and.not.include('    at ');
      }
    });

    it('ends with 130 when it is interrupted', async () => {
      let asked = (): void => {};
      const isAsked = new Promise<void>((done) => {
        asked = done;
      });
      const address = await servers.serve(() => asked());
      const args = ['namespace', 'list', '--http-addr', address];
      const { code } = await run(args, { columns: 80, typed: [isAsked, '\u0003'] });
      expect(code).to.equal(130);
    });
  });
