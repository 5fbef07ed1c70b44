import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { BUILT_IN_POLICIES } from '../../../src/acl/builtin.js';
import type { Access, Resource } from '../../../src/acl/types.js';
import { grantClasses } from '../../../src/migrate/rights/compare.js';
import { readRules } from '../../../src/migrate/rights/rules.js';
import type { HolderShown } from '../../../src/migrate/rights/types.js';
import { policyOf, stateOf } from './states.js';

interface Reading {
  readonly text: string;
  /** Absent if the source refuses the text. */
  readonly scalars?: Readonly<Record<string, string>>;
  readonly named?: readonly (readonly [resource: string, name: string, ...levels: string[]])[];
}
/** What the parser and the decoder of HCL 1.0.1-vault-7 make of texts. */
const readings: Reading[] = JSON.parse(readFileSync('test/tables/hcl-readings.json', 'utf8'));

interface Row {
  readonly rules?: string;
  readonly policies?: readonly string[];
  readonly policyDatacenters?: readonly (readonly string[] | null)[];
  readonly policyIDs?: readonly string[];
  readonly serviceIdentities?: HolderShown['ServiceIdentities'];
  readonly nodeIdentities?: HolderShown['NodeIdentities'];
  readonly templatedPolicies?: HolderShown['TemplatedPolicies'];
  readonly roles?: readonly Row[];
  readonly valid: boolean;
  readonly checks?: readonly {
    readonly resource: Resource;
    readonly access: Access;
    readonly segment?: string;
    readonly allowed?: boolean;
  }[];
}
/** What a source of release 1.21.4 made of policies. */
const rows: Row[] = JSON.parse(readFileSync('test/tables/policy-rules.json', 'utf8'));

/** Returns what the source decides on the questions of a row, by its reading. */
function decider(row: Row) {
  const texts = row.policies ?? (row.rules === undefined ? [] : [row.rules]);
  const inRoles = (row.roles ?? []).map((role) => role.policies ?? []);
  const all = [...texts, ...inRoles.flat()];
  const link = (text: string): { ID: string } => ({ ID: `p${all.indexOf(text)}` });
  const holder = (one: Row, linked: readonly string[]) => ({
    Policies: linked.map(link),
    ServiceIdentities: one.serviceIdentities ?? [],
    NodeIdentities: one.nodeIdentities ?? [],
    TemplatedPolicies: one.templatedPolicies ?? [],
  });
  const state = stateOf({
    policies: [
      ...BUILT_IN_POLICIES,
      ...all.map((text, i) => {
        const Datacenters = row.policyDatacenters?.[i] ?? [];
        return policyOf(`p${i}`, text, { Datacenters });
      }),
    ],
    roles: (row.roles ?? []).map((role, i) => ({
      ID: `r${i}`,
      Name: `r${i}`,
      ...holder(role, role.policies ?? []),
    })),
    tokens: [
      {
        AccessorID: 't',
        ...holder(row, texts),
        Policies: [...texts.map(link), ...(row.policyIDs ?? []).map((ID) => ({ ID }))],
        Roles: (row.roles ?? []).map((_, i) => ({ ID: `r${i}` })),
      },
    ],
  });
  return [...grantClasses(state, stateOf({ reader: 'ours' }))][0]!;
}

describe('the reading of rules by the source', () => {
  it('is that of its own parser', () => {
    for (const { text, scalars, named } of readings) {
      const reading = readRules(text);
      expect(reading.ok, text).to.equal(scalars !== undefined);
      if (!reading.ok) continue;
      expect(reading.written.scalars, text).to.deep.equal(scalars);
      const read = reading.written.named.map(({ resource, prefix, name, level, intentions }) => [
        `${resource}${prefix ? '_prefix' : ''}`,
        name.replace(/[\ud800-\udfff]/gu, '\ufffd'),
        level,
        ...(intentions === undefined ? [] : [intentions]),
      ]);
      expect(read, text).to.deep.equal(named);
    }
  });

  it('takes and refuses the texts that it was recorded to take and refuse', () => {
    for (const { rules, valid } of rows) {
      if (rules !== undefined) expect(readRules(rules).ok, rules).to.equal(isTaken(rules, valid));
    }
  });

  it('decides as it was recorded to decide, over policies, roles and identities', () => {
    let count = 0;
    for (const row of rows.filter(({ valid }) => valid)) {
      const { expected } = decider(row);
      for (const { resource, access, segment = '', allowed } of row.checks ?? []) {
        if (allowed === undefined) continue;
        const asked = { resource, access, segment, namespace: 'default' };
        expect(expected(asked), JSON.stringify([row, asked])).to.equal(allowed);
        count += 1;
      }
    }
    expect(count).to.be.greaterThan(3_000);
  });

  it('knows namespace blocks in one edition alone', () => {
    const text = 'namespace_prefix "team-" {\n  policy = "read"\n  key "a" { policy = "write" }\n}';
    expect(readRules(text)).to.have.nested.property('rules.namespaces').that.is.empty;
    expect(readRules(text, 'enterprise')).to.have.deep.nested.property('rules.namespaces', [
      {
        name: 'team-',
        prefix: true,
        level: 'read',
        rules: {
          scalars: {},
          named: [{ resource: 'key', prefix: false, name: 'a', level: 'write' }],
          namespaces: [],
        },
      },
    ]);
  });

  it('refuses a rule with a sentinel in the edition in which it narrows the rule', () => {
    const text = 'key "a" { policy = "write" sentinel { code = "x" } }';
    expect(readRules(text).ok).to.equal(true);
    expect(readRules(text, 'enterprise').ok).to.equal(false);
  });
});

/** A source refuses repeated arguments in new texts, and reads older texts that have them. */
const isTaken = (rules: string, valid: boolean): boolean =>
  valid ||
  rows.some((row) => row.rules === rules && 'errorKey' in row && row.errorKey === 'duplicate');
