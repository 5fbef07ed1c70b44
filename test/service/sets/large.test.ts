import { expect } from 'chai';
import type { Command } from '../../../src/state/types.js';
import { signer } from '../../login/signers.js';
import { SoloClient } from '../client.js';

interface Sent {
  readonly Type: string;
  readonly Namespace?: string;
  readonly Object: { readonly Kind?: string; readonly Name: string };
}
const entry = (Kind: string, Name: string, more: object = {}): Sent => ({
  Type: 'config',
  Object: { Kind, Name, ...more },
});
const policy = (Name: string, Rules = '') => ({ Type: 'policy', Object: { Name, Rules } });

const refOf = ({ Type, Namespace = 'default', Object: { Kind, Name } }: Sent): string => {
  if (Type === 'namespace') return `namespace/${Name}`;
  return [Type, Namespace, ...(Kind === undefined ? [] : [Kind]), Name].join('/');
};

describe('A large set', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  });
  afterEach(() => client.close());

  /** Plans a set, applies its parts in order, and expects the state of the whole. */
  const inParts = async (body: { Objects?: Sent[]; Delete?: object[] }) => {
    const plan = await client.must('POST /plan', { ...body });
    expect(plan.Problems).to.deep.equal([]);
    expect(plan.Valid).to.equal(true);
    const sizes = plan.Parts.map((part: string[]) => part.length);
    expect(Math.max(...sizes)).to.be.at.most(500);
    for (const part of plan.Parts as string[][]) {
      const refs = new Set(part);
      const Expected = Object.fromEntries(part.map((ref) => [ref, plan.Expected[ref]]));
      const some = {
        Objects: (body.Objects ?? []).filter((one) => refs.has(refOf(one))),
        Delete: (body.Delete ?? []).filter((one) => refs.has(deleteRef(one as never))),
        Expected,
      };
      const answer = await client.ask('POST /apply', some);
      expect(answer.status, answer.text.slice(0, 600)).to.equal(200);
    }
    const after = await client.must('POST /plan', { ...body });
    expect(after.Summary).to.deep.include({ Create: 0, Update: 0, Delete: 0 });
    return plan;
  };
  const deleteRef = ({ Type, Name }: { Type: string; Name: string }) => `${Type}/default/${Name}`;

  it('is compared whole while the node goes on, and changes 500 objects at one index', async () => {
    const Objects = Array.from({ length: 10_000 }, (_, i) =>
      entry('service-defaults', `s${i}`, { Protocol: 'http', Meta: { n: `${i}` } }),
    );
    for (let at = 0; at < Objects.length; at += 500) {
      await client.must('POST /apply', { Objects: Objects.slice(at, at + 500) });
    }
    const changed = Objects.map((one, i) =>
      i % 20 === 0 ? entry('service-defaults', `s${i}`, { Protocol: 'http' }) : one,
    );
    let turns = 0;
    let goesOn = true;
    const turn = (): void => {
      turns += 1;
      if (goesOn) setImmediate(turn);
    };
    setImmediate(turn);
    const done = await client.must('POST /apply', { Objects: changed });
    goesOn = false;
    // Heartbeats are sent between slices. Without slices 13 turns were counted, with them 90.
    expect(turns).to.be.greaterThan(20);
    expect(done).to.deep.include({ Changed: 500, Unchanged: 9_500 });
    const indexes = new Set(
      done.Changes.map(({ ModifyIndex }: { ModifyIndex: number }) => ModifyIndex),
    );
    expect([...indexes]).to.deep.equal([done.Index]);
  }).timeout(120_000);

  it('that only creates is made in parts, in the order of what names what', async () => {
    const roles = Array.from({ length: 300 }, (_, i) => ({
      Type: 'role',
      Object: { Name: `r${i}`, Policies: [{ Name: `p${i}` }] },
    }));
    const policies = Array.from({ length: 300 }, (_, i) => policy(`p${i}`));
    const Objects: Sent[] = [
      ...roles,
      { Type: 'policy', Namespace: 'team', Object: { Name: 'x', Rules: '' } as never },
      ...policies,
      { Type: 'namespace', Object: { Name: 'team' } },
      entry('service-router', 'web'),
      entry('service-defaults', 'web', { Protocol: 'http' }),
    ];
    const plan = await inParts({ Objects });
    const order = plan.Parts.flat();
    expect(order.indexOf('namespace/team')).to.be.lessThan(order.indexOf('policy/team/x'));
  }).timeout(60_000);

  it('of few objects with long texts is made in parts that fit into an entry', async () => {
    const rules = `# ${'x'.repeat(60_000)}`;
    const Objects: Sent[] = Array.from({ length: 24 }, (_, i) => policy(`p${i}`, rules));
    const answer = await client.ask('POST /apply', { Objects });
    expect(answer.status, answer.text.slice(0, 600)).to.equal(413);
    const plan = await inParts({ Objects });
    expect(plan.Parts.length).to.be.greaterThan(1);
  }).timeout(60_000);

  it('keeps names that are handed on in one part', async () => {
    const Objects: Sent[] = Array.from({ length: 600 }, (_, i) => policy(`p${i}`));
    const { Changes: first } = await client.must('POST /apply', { Objects: Objects.slice(0, 300) });
    const { Changes: second } = await client.must('POST /apply', { Objects: Objects.slice(300) });
    const ids = [...first, ...second].map(({ ID }: { ID: string }) => ID);
    const names = [...first, ...second].map(({ Name }: { Name: string }) => Name);
    // pairs swap their names
    const swapped = ids.map((ID, i) => ({
      Type: 'policy',
      Object: { ID, Name: names[i ^ 1]!, Rules: '' },
    }));
    await inParts({ Objects: swapped });
  }).timeout(60_000);

  it('keeps a new namespace in one part with the policy that it brings', async () => {
    const Objects: Sent[] = Array.from({ length: 499 }, (_, i) => policy(`p${i}`));
    const brought = { ...policy('namespace-management'), Namespace: 'team' };
    await inParts({
      Objects: [...Objects, { Type: 'namespace', Object: { Name: 'team' } }, brought],
    });
  }).timeout(60_000);

  it('keeps an auth method that maps less in one part with its rules', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    const method = (ClaimMappings: object) => ({
      Type: 'auth-method',
      Object: { Name: 'jwt1', Type: 'jwt', Config: { ...Config, ClaimMappings } },
    });
    const rule = (ID: string, claim: string) => ({
      Type: 'binding-rule',
      Object: {
        ID,
        AuthMethod: 'jwt1',
        BindType: 'service',
        BindName: 'web',
        Selector: `value.${claim} == "a"`,
      },
    });
    const [kept, doomed] = ['1', '2'].map((n) => `7d0b6f4e-58d9-4a43-9d32-0f0c5e3b9a1${n}`);
    await client.must('POST /apply', {
      Objects: [method({ team: 'team' }), rule(kept!, 'team'), rule(doomed!, 'team')],
    });
    const Objects = Array.from({ length: 499 }, (_, i) => policy(`p${i}`));
    const body = {
      Objects: [...Objects, method({ dept: 'dept' }), rule(kept!, 'dept')],
      Delete: [{ Type: 'binding-rule', ID: doomed }],
    };
    const plan = await client.must('POST /plan', body);
    const part = plan.Parts.find((refs: string[]) => refs.includes('auth-method/default/jwt1'));
    expect(part).to.include.members([
      `binding-rule/default/${kept}`,
      `binding-rule/default/${doomed}`,
    ]);
    for (const refs of plan.Parts as string[][]) {
      const isIn = (name: string): boolean => refs.some((ref) => ref.endsWith(`/${name}`));
      await client.must('POST /apply', {
        Objects: body.Objects.filter(({ Object: object }) =>
          isIn((object as { Name?: string }).Name ?? (object as { ID: string }).ID),
        ),
        Delete: body.Delete.filter(({ ID }) => isIn(ID!)),
      });
    }
    expect((await client.must('POST /plan', body)).Summary).to.include({ Unchanged: 501 });
  }).timeout(60_000);

  it('makes 700 entries of one chain by kind, and does not change them in parts', async () => {
    const services = Array.from({ length: 350 }, (_, i) => `s${i}`);
    const chain = (protocol: string): Sent[] =>
      services.flatMap((name, i) => [
        entry('service-defaults', name, { Protocol: protocol }),
        entry('service-router', name, {
          Routes: [
            {
              Match: { HTTP: { PathPrefix: '/x' } },
              Destination: { Service: services[(i + 1) % 60] },
            },
          ],
        }),
      ]);
    await inParts({ Objects: chain('http') });
    const plan = await client.must('POST /plan', {
      Objects: chain('http2').map((one) => ({
        ...one,
        Object: { ...one.Object, Meta: { a: 'b' } },
      })),
    });
    expect([plan.Valid, plan.Parts]).to.deep.equal([false, []]);
    const large = plan.Problems.find(({ Code }: { Code: string }) => Code === 'too_large');
    expect(large.Message).to.equal(
      'these 700 entries depend on each other and must change in one entry; the limit is 500',
    );
  }).timeout(60_000);

  it('has at most 10,000 objects', async () => {
    const Objects = Array.from({ length: 10_001 }, (_, i) => policy(`p${i}`));
    const answer = await client.ask('POST /plan', { Objects });
    expect([answer.status, answer.body.code]).to.deep.equal([413, 'too_large']);
  });
});
