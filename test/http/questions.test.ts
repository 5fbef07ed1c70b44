import { expect } from 'chai';
import { authorizeRoutes } from '../../src/http/routes/authorize.js';
import { SoloClient } from '../service/client.js';
import { Solo } from '../service/solo.js';
import { send } from '../support/client.js';

describe('questions of a batch', () => {
  let client: SoloClient;
  before(async () => {
    const solo = new Solo();
    client = await SoloClient.open(authorizeRoutes(solo.service), solo);
  });
  after(() => client.close());

  const one = { Resource: 'acl', Access: 'read' };
  const ask = (body: unknown) => client.ask('POST /internal/acl/authorize', body);

  it('are answered alike with an absent member and with null', async () => {
    const answers = [{ ...one, Allow: true }];
    expect((await ask([one])).body).to.deep.equal(answers);
    expect((await ask([{ ...one, Segment: null }])).body).to.deep.equal(answers);
  });

  const wrong: readonly (readonly [what: string, second: unknown, why: RegExp])[] = [
    ['a number for a text', { ...one, Segment: 1 }, /not a number at \/1\/Segment/],
    ['a member in other letters', { ...one, segment: 'a' }, /unknown field "segment"/],
    ['a list', [], /expected an object, not a list at \/1/],
    ['null', null, /expected an object.* at \/1/],
  ];
  for (const [what, second, why] of wrong)
    it(`are refused as a whole if one has ${what}`, async () => {
      const { status, text } = await ask([one, second]);
      expect(status).to.equal(400);
      expect(text).to.match(why);
    });

  it('are answered alike however their JSON is written', async () => {
    const segments = [undefined, '', 'a', 'a b<&>~', 'a"b', 'a\\b', '\u007f', '\u0001', 'ü', '😀'];
    const asked = segments.flatMap((Segment) => [
      { Resource: 'key', Access: 'read', Segment },
      { Resource: 'key', Access: 'WRITE-prefix', Segment },
      { Resource: 'acl', Access: 'Read', Segment },
    ]);
    const { url, token } = client;
    const answers = await Promise.all(
      [JSON.stringify(asked), JSON.stringify(asked, null, 1)].map((body) =>
        send(url, 'POST /v1/internal/acl/authorize', { token, body: Buffer.from(body) }),
      ),
    );
    const [line, lines] = answers.map(({ text }) => text);
    expect(line).to.equal(lines);
    const decided = JSON.parse(line!) as readonly object[];
    const questions = decided.map(({ Allow: _, ...question }: { Allow?: boolean }) => question);
    expect(questions).to.deep.equal(JSON.parse(JSON.stringify(asked)));
  });

  it('are refused if they are too many, whatever they lack', async () => {
    const { status, text } = await ask(Array(65).fill(one));
    expect(status).to.equal(400);
    expect(text).to.match(/more than 64 authorizations at once/);
  });
});
