import { expect } from 'chai';
import fc from 'fast-check';
import { authorizerOf, compileRights } from '../../src/acl/authorizer.js';
import { isGain, type RightChange, rightChanges } from '../../src/acl/right-changes.js';
import { parseRules } from '../../src/acl/rules.js';
import { atOnce } from '../../src/acl/steps.js';
import type { Grant } from '../../src/acl/types.js';
import { ALL_QUESTIONS, aNamespace, defaultsOf, grantsIn } from './random-grants.js';

const NOBODY = { accessor: 'a', anonymous: false };
const rightsOf = (
  own: readonly Grant[],
  defaults: readonly Grant[] = [],
  defaultPolicy: 'deny' | 'allow' = 'deny',
) => atOnce(compileRights(own, { defaults, defaultPolicy }));
const said = (text: string, namespace = 'default'): Grant[] => {
  const parsed = parseRules(text, namespace);
  if (!parsed.ok) throw new Error(text);
  return [{ rules: parsed.rules, namespace }];
};
const short = ({ Namespace, Resource, Match, Name, Before, After }: RightChange): string =>
  `${Namespace} ${Resource} ${Match} ${Name}: ${Before} ${After}`;
const between = (before: string, after: string): string[] =>
  atOnce(rightChanges(rightsOf(said(before)), rightsOf(said(after)), NOBODY)).changes.map(short);

describe('the changes of rights', () => {
  it('are the levels in force at each name and prefix, before and after', () => {
    expect(
      between(
        'service_prefix "" { policy = "read" }\nkey "k" { policy = "list" }',
        'service_prefix "" { policy = "write" }\nacl = "read"',
      ),
    ).to.have.members([
      'default service prefix : read write',
      'default key exact k: list ',
      'default acl scalar :  read',
    ]);
  });

  it('look below a prefix, whatever an exact rule says of its name', () => {
    const exact = 'service "web" { policy = "deny" }\n';
    expect(between(`${exact}service_prefix "web" { policy = "read" }`, exact)).to.include(
      'default service prefix web: read ',
    );
  });

  it('are none where a rule that grants as much takes over, or nothing was granted', () => {
    const all = 'service_prefix "" { policy = "write" intentions = "write" }\n';
    const web = 'service "web" { policy = "write" intentions = "write" }';
    expect(between(all + web, all)).to.deep.equal([]);
    expect(between('node "n" { policy = "deny" }', '')).to.deep.equal([]);
  });

  it('show what a rule had covered', () => {
    const all = 'node_prefix "" { policy = "write" }\n';
    expect(between(`${all}node "n" { policy = "deny" }`, all)).to.deep.equal([
      'default node exact n: deny write',
    ]);
  });

  it('have a row for intentions, and for what follows operator', () => {
    const service = (intentions: string) =>
      `service "web" { policy = "write" intentions = "${intentions}" }`;
    expect(between(service('read'), service('write'))).to.deep.equal([
      'default intention exact web: read write',
    ]);
    expect(between('', 'operator = "read"')).to.have.members(
      ['operator', 'mesh', 'peering'].map((one) => `default ${one} scalar :  read`),
    );
  });

  it('name the namespaces of a prefix once', () => {
    const block = (of: string, level: string) => `${of} { key "n" { policy = "${level}" } }\n`;
    const before = block('namespace_prefix "t"', 'read') + block('namespace "team"', 'read');
    const after = block('namespace_prefix "t"', 'write') + block('namespace "team"', 'write');
    expect(between(before, after)).to.deep.equal(['t* key exact n: read write']);
    const one = block('namespace_prefix "t"', 'read') + block('namespace "team"', 'write');
    expect(between(before, one)).to.deep.equal(['team key exact n: read write']);
  });

  it('are some whenever enforcement decides otherwise, and enforcement does where they are', () => {
    const pair = aNamespace.chain((namespace) =>
      fc.record({
        before: fc.tuple(grantsIn(namespace), defaultsOf(namespace)),
        after: fc.tuple(grantsIn(namespace), defaultsOf(namespace)),
        defaultPolicy: fc.constantFrom<'deny' | 'allow'>('deny', 'allow'),
        anonymous: fc.boolean(),
      }),
    );
    // What follows from several rules at once has no name that a change could stand at.
    const questions = ALL_QUESTIONS.filter(
      ({ access, segment, resource }) =>
        access !== 'write-prefix' && segment !== '*' && resource !== 'namespace',
    );
    let differing = 0;
    fc.assert(
      fc.property(pair, ({ before, after, defaultPolicy, anonymous }) => {
        const token = { accessor: 'a', anonymous };
        const [past, present] = [before, after].map(([own, defaults]) =>
          rightsOf(own, defaults, defaultPolicy),
        );
        const { changes, isWhole } = atOnce(rightChanges(past!, present!, token));
        expect(isWhole).to.equal(true);
        const [old, now] = [authorizerOf(past!, token), authorizerOf(present!, token)];
        const other = questions.find(
          ({ resource, access, segment, namespace }) =>
            old.allowed(resource, access, segment, namespace) !==
            now.allowed(resource, access, segment, namespace),
        );
        if (other !== undefined) {
          differing += 1;
          expect(changes, JSON.stringify(other)).to.not.be.empty;
        }
        for (const change of changes) expect(change.Before).to.not.equal(change.After);
      }),
      { numRuns: 400 },
    );
    expect(differing).to.be.greaterThan(100);
  });

  it('are gains where more is allowed, and no row stands for the same level', () => {
    const { changes } = atOnce(
      rightChanges(rightsOf(said('acl = "write"')), rightsOf(said('acl = "read"')), NOBODY),
    );
    expect(changes.map(isGain)).to.deep.equal([false]);
    const back = atOnce(
      rightChanges(rightsOf(said('acl = "read"')), rightsOf(said('acl = "write"')), NOBODY),
    );
    expect(back.changes.map(isGain)).to.deep.equal([true]);
  });

  it('stop after 100,000 questions, and say so', () => {
    const names = Array.from({ length: 400 }, (_, n) => n);
    const blocks = names.map((n) => `namespace "t${n}" { node "n${n}" { policy = "read" } }`);
    const rights = rightsOf(said(blocks.join('\n')));
    const steps = rightChanges(rights, rightsOf([]), NOBODY);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count += 1;
    expect(step.value.isWhole).to.equal(false);
    expect(count).to.be.greaterThan(50);
  });
});
