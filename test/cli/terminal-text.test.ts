import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { parse } from 'yaml';
import { json, problem } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

/** What would clear the screen, set the title, turn the text, and begin a line. */
const EVIL = 'a\u009b2J\u009d0;owned\u0007\u202egnp\u2028line\u001b[31m';
/** The same for a person; YAML writes some of it shorter. */
const SHOWN = /a\\u009b2J\\u009d0;owned\\(?:u0007|a)\\u202egnp\\u2028line\\(?:u001b|e)\[31m/;
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('what the server says on a terminal', () => {
  const { user, fake } = fakeStage();
  const entry = { Kind: 'service-defaults', Name: EVIL, Meta: { [EVIL]: EVIL } };
  const run = async (
    args: readonly string[],
    columns: number | undefined,
    ...answers: RequestListener[]
  ) => {
    const line = [...args, '--no-color', '--http-addr', await fake.serve(...answers)];
    const { out, err } = await user.run(line, columns === undefined ? {} : { columns });
    return out + err;
  };

  for (const [args, ...answers] of [
    [['config', 'list', 'service-defaults'], json([entry])],
    [['config', 'list', 'service-defaults', '-o', 'name'], json([entry])],
    [['config', 'list', 'service-defaults', '-o', 'json'], json([entry])],
    [['config', 'list', 'service-defaults', '-o', 'yaml'], json([entry])],
    [['config', 'read', `service-defaults/${EVIL}`], json(entry)],
    [['config', 'delete', `service-defaults/${EVIL}`], json(entry), json(true)],
    [['watch', `service-defaults/${EVIL}`, '--changes', '0', '-o', 'name'], json(entry)],
    [['leave'], json({ Config: { NodeID: 'x', NodeName: EVIL } }), json(true)],
    [['operator', 'raft', 'admit', 'x', '--yes'], json([{ ID: 'x', Node: EVIL }]), json(true)],
    [['operator', 'raft', 'joining', '-o', 'name'], json([{ ID: EVIL, Node: 'n' }])],
    [['namespace', 'list'], problem(400, { code: 'invalid', detail: EVIL, hint: EVIL })],
    [
      ['namespace', 'list', '-o', 'json'],
      problem(400, { code: 'invalid', detail: EVIL, more: EVIL }),
    ],
  ] as const)
    it(`has escapes for control characters: ${args.join(' ').replace(EVIL, 'NAME')}`, async () => {
      const shown = await run(args, 200, ...answers);
      expect(shown).to.match(SHOWN);
      expect(RAW.exec(shown)).to.equal(null);
    });

  it('is the same JSON and YAML', async () => {
    const args = ['config', 'read', 'service-defaults/x', '-o'];
    expect(JSON.parse(await run([...args, 'json'], 80, json(entry)))).to.deep.equal(entry);
    expect(parse(await run([...args, 'yaml'], 80, json(entry)))).to.deep.equal(entry);
  });

  it('stays as it is for programs', async () => {
    const list = ['config', 'list', 'service-defaults', '-o'];
    expect(await run([...list, 'name'], undefined, json([entry]))).to.include(EVIL);
    expect(await run([...list, 'json'], undefined, json([entry]))).to.include('\u009b2J');
    const yaml = await run([...list, 'yaml'], undefined, json([entry]));
    expect(yaml).to.include('\u202egnp');
    expect(parse(yaml)).to.deep.equal([entry]);
  });
});
