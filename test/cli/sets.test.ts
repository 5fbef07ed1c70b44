import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { documentsIn, documentsOf } from '../../src/cli/files/documents.js';
import { refOfItem, type SetSettings, setOf } from '../../src/cli/files/sets.js';
import type { Io } from '../../src/cli/io.js';
import type { CliError } from '../../src/cli/print/error.js';

/** Reads texts as files named a.yaml, b.yaml and so on. */
async function setFrom(texts: readonly string[], settings: SetSettings = {}, ending = 'yaml') {
  const documents = await Promise.all(
    texts.map((text, at) => documentsOf(`${'abc'.charAt(at)}.${ending}`, text)),
  );
  return setOf(documents.flat(), settings);
}

/** Returns the lines of an error. */
async function faultsOf(...texts: readonly string[]): Promise<readonly string[]> {
  try {
    await setFrom(texts);
  } catch (error) {
    const { message, details } = error as CliError;
    return [message, ...(details.hint ?? '').split('\n  ')];
  }
  return [];
}

const ROLE = 'Type: role\nObject: {Name: web}\n';

describe('a set in files', () => {
  it('is joined from sets and single objects', async () => {
    const { body } = await setFrom([
      `# a comment\nOwner: pay\nObjects:\n` +
        `- {Type: policy, Object: {Name: ops}}\nAssert: [{Name: x}]\n---\n` +
        `${ROLE}`,
      'Owner: pay\nDelete: [{Type: role, Name: old}]\nAssert: [{Name: y}]\n',
    ]);
    expect(body).to.deep.equal({
      Owner: 'pay',
      Objects: [
        { Type: 'policy', Object: { Name: 'ops' } },
        { Type: 'role', Object: { Name: 'web' } },
      ],
      Delete: [{ Type: 'role', Name: 'old' }],
      Assert: [{ Name: 'x' }, { Name: 'y' }],
    });
  });

  it('has the settings of options before those of files', async () => {
    const texts = [`Owner: a\nPrune: true\nObjects: [{Type: role, Object: {Name: web}}]`];
    const { body } = await setFrom(texts, { owner: 'b', takeOver: true });
    expect(body).to.include({ Owner: 'b', Prune: true, TakeOver: true });
  });

  it('has objects in the namespace of their set', async () => {
    const { body } = await setFrom([
      `Namespace: team\n` +
        'Objects: [{Type: role, Object: {Name: a}}, ' +
        '{Type: role, Namespace: x, Object: {Name: b}}]\n' +
        `Assert: [{Name: q, Subject: {Role: r}}]\n---\n${ROLE}`,
    ]);
    expect(body.Objects.map(({ Namespace }) => Namespace)).to.deep.equal(['team', 'x', undefined]);
    expect(body.Assert).to.deep.equal([
      { Namespace: 'team', Name: 'q', Subject: { Namespace: 'team', Role: 'r' } },
    ]);
  });

  it('is taken from an export as it is', async () => {
    const text = JSON.stringify({ Index: 9, Secrets: 0, Objects: [{ Type: 'role', Object: {} }] });
    const { body } = await setFrom([text], {}, 'json');
    expect(body).to.deep.equal({
      Objects: [{ Type: 'role', Object: {} }],
      Delete: [],
      Assert: [],
    });
  });

  it('may be several JSON texts with comments, whose places stay', async () => {
    const text =
      '// the roles\n{"Type": "role", "Object": {"Name": "a // b"}} # one\n' +
      '{"Type": "role", /* two */ "Object": {"Name": "b"}}\n';
    const { body, placeOf } = await setFrom([text], {}, 'json');
    expect(body.Objects.map(({ Object: one }) => one)).to.deep.equal([
      { Name: 'a // b' },
      { Name: 'b' },
    ]);
    expect(placeOf({ Ref: 'role/default/b', Pointer: '/Name' })).to.equal('a.json:3:47');
    expect(placeOf({ Pointer: '/Objects/0' })).to.equal('a.json:2:1');
    expect(await faultsOf('{"Type": "role"}\n{"Type": "role", ]\n')).to.have.length.above(0);
  });

  for (const [what, texts, expected] of [
    [
      'an unknown type',
      ['Type: rolle\nObject: {}'],
      'a.yaml:1:7: unknown type "rolle"; did you mean "role"?',
    ],
    [
      'an unknown member',
      ['Type: role\nObjekt: {}\nObject: {}'],
      'a.yaml:2:9: unknown member "Objekt"; did you mean "Object"?',
    ],
    [
      'an unknown member of a set',
      ['Objects:\n- Type: role\n  Objcet: {}\n  Object: {}'],
      'a.yaml:3:11: unknown member "Objcet"; did you mean "Object"?',
    ],
    ['an object without a type', ['Object: {Name: web}'], 'a.yaml:1:1: Type is missing'],
    ['an object without content', ['Type: role'], 'a.yaml:1:1: Object is missing'],
    [
      'a config entry alone',
      ['Kind: mesh'],
      'a.yaml:1:1: expected a set or an item: put the entry below "Object:" of an item',
    ],
    ['a list that is none', ['Objects: {}'], 'a.yaml:1:10: Objects must be a list'],
    ['an item that is no object', ['Objects: [role]'], 'a.yaml:1:11: expected an object'],
    [
      'two owners',
      ['Owner: a\nObjects: []', 'Owner: b\nObjects: []'],
      'b.yaml:1:8: Owner is "b", but "a" in a.yaml:1:8',
    ],
  ] as const)
    it(`refuses ${what}, and says where`, async () => {
      expect((await faultsOf(...texts))[0]).to.equal(expected);
    });

  it('refuses an object that is there twice, and names both places', async () => {
    expect((await faultsOf(ROLE, 'Type: role\nObject: {Name: WEB}\n'))[0]).to.equal(
      'b.yaml:1:1: role/default/WEB appears twice, also at a.yaml:1:1',
    );
  });

  it('refuses all its faults at once', async () => {
    expect(await faultsOf('Type: rolle\nObject: {}\n---\nType: role\n')).to.deep.equal([
      'a.yaml:1:7: unknown type "rolle"; did you mean "role"?',
      'a.yaml:4:1: Object is missing',
      'nothing was sent',
    ]);
  });

  it('knows where that stands of which the server speaks', async () => {
    const { placeOf } = await setFrom([
      'Objects:\n- Type: policy\n  Object:\n    Name: Ops\n    Rules: |\n' +
        '      acl = "read"\nDelete:\n- Type: role\n  Name: old\n',
      'Type: config\nNamespace: team\nObject:\n  Kind: service-defaults\n' +
        '  Name: web\n---\nAssert:\n- Name: x\nPrune: true\n' +
        'Expected: {role/default/old: 1}\n',
    ]);
    for (const [about, place] of [
      [{ Ref: 'policy/default/ops', Pointer: '/Rules' }, 'a.yaml:5:12'],
      [{ Ref: 'policy/default/ops', Pointer: '/Description' }, 'a.yaml:4:5'],
      [{ Pointer: '/Objects/0/Object/Name' }, 'a.yaml:4:11'],
      [{ Ref: 'role/default/old' }, 'a.yaml:8:3'],
      [{ Pointer: '/Delete/0/Name' }, 'a.yaml:9:9'],
      [{ Ref: 'config/team/service-defaults/web', Pointer: '/Kind' }, 'b.yaml:4:9'],
      [{ Ref: '', Pointer: '/Assert/0' }, 'b.yaml:8:3'],
      [{ Pointer: '/Prune' }, 'b.yaml:9:8'],
      [{ Ref: 'role/default/old', Pointer: '/Expected/role~1default~1old' }, 'b.yaml:10:30'],
      [{ Ref: 'role/default/other' }, undefined],
      [{ Pointer: '/Objects/7' }, undefined],
    ] as const)
      expect(placeOf(about), JSON.stringify(about)).to.equal(place);
  });

  it('names its objects as the server does', () => {
    for (const [item, ref] of [
      [{ Type: 'token', Object: { AccessorID: 'x' } }, 'token/x'],
      [{ Type: 'namespace', Object: { Name: 'team' } }, 'namespace/team'],
      [{ Type: 'binding-rule', Handle: 'a/b', Object: {} }, 'binding-rule/default/a/b'],
      [{ Type: 'binding-rule', Object: { ID: 'x' } }, 'binding-rule/default/x'],
      [{ Type: 'config', Object: { kind: 'mesh' } }, 'config/default/mesh/mesh'],
      [{ Type: 'config', Name: 'service-defaults/a/b' }, 'config/default/service-defaults/a/b'],
      [{ Type: 'role', Namespace: 'team', Object: { Name: 'web' } }, 'role/team/web'],
      [{ Type: 'config', Namespace: 'team', Object: { Kind: 'mesh' } }, 'config/default/mesh/mesh'],
      [{ Type: 'config', Namespace: 'team', Name: 'mesh/mesh' }, 'config/default/mesh/mesh'],
      [{ Type: 'config', Namespace: 'team', Name: 'web' }, 'config/team/undefined/undefined'],
    ] as const)
      expect(refOfItem(item)).to.equal(ref);
  });

  it('is read from folders in folders by name, without what is hidden', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
    try {
      for (const name of [
        'b/z.yaml',
        'b/a/x.json',
        'a.yml',
        '.git/c.yaml',
        'b/.d.yaml',
        'notes.md',
      ]) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), `{"Type": "role", "Object": {"Name": "${name}"}}`);
      }
      // A folder needs nothing of its surroundings.
      const documents = await documentsIn({} as Io, [folder], true);
      const names = setOf(documents).body.Objects.map(({ Object: one }) => one['Name']);
      expect(names).to.deep.equal(['a.yml', 'b/a/x.json', 'b/z.yaml']);
      expect(await documentsIn({} as Io, [folder])).to.have.length(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
