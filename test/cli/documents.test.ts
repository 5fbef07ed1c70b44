import { expect } from 'chai';
import { documentOf, documentsOf, objectsOf } from '../../src/cli/files/documents.js';
import { CliError } from '../../src/cli/print/error.js';

/** Returns why a text is refused. */
async function errorOf(text: string): Promise<string> {
  try {
    await documentsOf('k.yaml', text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

describe('files of JSON or YAML', () => {
  it('have no documents where nothing stands between the marks', async () => {
    const text = 'Kind: mesh\n---\n---\nKind: proxy-defaults\nName: global\n---\n# the end\n';
    const found = await documentsOf('k.yaml', text);
    expect(found.map(({ value }) => value['Kind'])).to.deep.equal(['mesh', 'proxy-defaults']);
    expect(found[1]!.placeOf(['Name'])).to.deep.equal({ line: 5, column: 7 });
    expect(await errorOf('---\n---\n')).to.equal('k.yaml: all documents are empty');
    expect(await errorOf('# nothing\n')).to.equal('k.yaml is empty');
    expect(await errorOf('Kind: mesh\n---\nnull\n')).to.equal('k.yaml:3: expected an object');
  });

  it('hold one object, or a list of them', async () => {
    const both = [{ a: 1 }, { b: 2 }];
    expect(await objectsOf('k.yaml', '- a: 1\n- b: 2\n')).to.deep.equal(both);
    expect(await objectsOf('k.yaml', 'a: 1\n---\nb: 2\n')).to.deep.equal(both);
    for (const text of ['- a\n', '- [\n']) {
      const why = await objectsOf('k.yaml', text).catch((error: Error) => error);
      expect(why).to.be.instanceOf(CliError);
    }
  });

  it('hold one document where one is meant', async () => {
    expect((await documentOf('k.yaml', 'a: 1\n---\n')).value).to.deep.equal({ a: 1 });
    let message = '';
    await documentOf('k.yaml', 'a: 1\n---\nb: 2\n').catch((error: Error) => {
      ({ message } = error);
    });
    expect(message).to.equal('k.yaml: expected one document, found 2');
  });

  for (const [text, expected] of [
    [
      'Kind: x\nName: web\n  Protocol: http\n',
      '3:3: wrong indentation: "Protocol" is deeper than "Name"',
    ],
    [
      'Kind: x\nSources:\n  - Name: a\n Precedence: 1\n',
      '4:2: wrong indentation: "Precedence" does not line up with what precedes it',
    ],
    [
      'Kind: x\nSources:\n- Name: a\n - Name: b\n',
      '4:2: wrong indentation: "Name" does not line up with what precedes it',
    ],
    ['Kind: x\nMeta:\n\ta: b\n', '3:2: a tab in the indentation: use spaces'],
    ['Kind: mesh\nKind: mesh\n', '2:1: "Kind" appears twice'],
    ['Kind: x\nName: a: b\n', '2:7: a value that contains ": " needs quotes'],
    ['Kind: x\nName\nProtocol: http\n', '2:1: expected "KEY: VALUE", found "Name"'],
    ['Kind: x\nName:y\n', '2:1: expected "KEY: VALUE", found "Name:y"'],
    ['Kind: "x\nName: y\n', '3:1: the closing quote " is missing'],
    ['Kind: x\nSources: [a, b\nName: y\n', '3:1: "]" is missing'],
    ['{"Kind": "x", "Name": "y"', '1:26: "}" is missing'],
    ['{"Kind": "x" "Name": "y"}', '1:14: a comma or a colon is missing before it'],
    ['{"Kind": "x",, "Name": "y"}', '1:14: unexpected , in flow map'],
    ['Kind: @x\n', '1:7: a value that begins with @ needs quotes'],
    ['Kind: "a\\q"\n', '1:9: invalid escape sequence \\q'],
  ] as const)
    it(`tell a mistake in plain words: ${JSON.stringify(text)}`, async () => {
      expect(await errorOf(text)).to.equal(`k.yaml:${expected}`);
    });

  it('refuse an alias that leads nowhere', async () => {
    expect(await errorOf('Kind: *x\n')).to.match(/^k\.yaml: Unresolved alias/);
  });
});
