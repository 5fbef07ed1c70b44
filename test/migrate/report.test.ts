import { expect } from 'chai';
import type { Report } from '../../src/api/migration-report.js';
import { finding } from '../../src/migrate/report/findings.js';
import { reportJson, reportText } from '../../src/migrate/report/report.js';
import { converted, stateOf } from './reading.js';
import { recordedSource } from './stand-in.js';

const report = (more: Partial<Report> = {}): Report => ({
  Version: 1,
  Time: '2026-02-01T00:00:00.000Z',
  Source: { Address: 'http://127.0.0.1:8500', DefaultPolicy: 'deny', Indexes: {} },
  Target: { Datacenter: 'dc1', DefaultPolicy: 'deny', Index: 9, Level: 3 },
  DryRun: true,
  Types: {
    policy: { Source: 412, Same: 398, Create: 12, Update: 2, Delete: 0, LeftOut: 0 },
    token: { Source: 8120, Same: 8001, Create: 110, Update: 0, Delete: 4, LeftOut: 5 },
  },
  Findings: [],
  Exit: 3,
  ...more,
});

describe('the report of a migration', () => {
  it('has a line for each type', () => {
    expect(reportText(report())).to.equal(
      [
        'TYPE    SOURCE   SAME  CREATE  UPDATE  DELETE  LEFT OUT',
        'policy     412    398      12       2       0         0',
        'token    8,120  8,001     110       0       4         5',
        '',
      ].join('\n'),
    );
  });

  it('shows as many findings as it may', () => {
    const one = finding('token/a', 'no_secret', 'the source does not show its SecretID');
    const Findings = Array.from({ length: 100_001 }, () => one);
    const lines = reportText(report({ Types: {}, Findings })).split('\n');
    expect([lines.length, lines.at(-2)]).to.deep.equal([200_003, 'and 1 more']);
  });

  it('shows a finding with its place, what is lost and what to do', () => {
    const Findings = [
      finding('policy/default/ops', 'rules', 'unknown resource "servce"', {
        Line: 14,
        Column: 3,
        LeftOut: true,
      }),
      finding('role/default/a', 'dangling', 'links to a policy that is gone: x', {
        Pointer: '/Policies/0',
      }),
      finding('acl/tokens', 'not_readable', 'acl/tokens is not shown whole'),
    ];
    expect(
      reportText(report({ Types: {}, Findings }))
        .split('\n')
        .slice(1),
    ).to.deep.equal([
      'LEFT OUT  policy/default/ops 14:3  rules  unknown resource "servce"',
      '          lost: the policy; to do: correct its rules at the source, or use --mend',
      'NOTE      role/default/a /Policies/0  dangling  links to a policy that is gone: x',
      'NOT READ  acl/tokens  not_readable  acl/tokens is not shown whole',
      '          lost: what is not shown; to do: use a source token with the right that is missing',
      '',
    ]);
  });

  it('shows a mended text as a diff', () => {
    const Findings = [
      finding('policy/default/ops', 'rules', 'unknown resource "b"', {
        Line: 2,
        Column: 1,
        Original: 'a\nb\nc',
        Mended: 'a\n# was: b\nc',
        Lost: 'nothing',
      }),
    ];
    expect(
      reportText(report({ Types: {}, Findings }))
        .split('\n')
        .slice(1),
    ).to.deep.equal([
      'MENDED    policy/default/ops 2:1  rules  unknown resource "b"',
      '          - b',
      '          + # was: b',
      '',
    ]);
  });

  it('has no character that changes a terminal', () => {
    const Findings = [finding('policy/default/a\u001b[31m', 'invalid', 'a \u202e name')];
    expect(reportText(report({ Findings }))).to.not.match(/[\u001b\u202e]/);
  });

  it('says that the default policies differ', () => {
    const Target = { ...report().Target, DefaultPolicy: 'allow' };
    expect(reportText(report({ Target }))).to.contain(
      'the default policy is deny at the source and allow here',
    );
  });

  it('words differences of rights', () => {
    const Rights: NonNullable<Report['Rights']> = {
      Tokens: 8115,
      Classes: 96,
      Questions: 41_204,
      Asked: { Tokens: 96, Questions: 41_204 },
      Differences: [
        {
          Code: 'rights_add_up',
          Tokens: 3,
          Sample: ['a', 'b', 'c', 'd'],
          Resource: 'service',
          Access: 'read',
          Segment: 'web',
          Namespace: 'default',
          Source: { Allow: false, Rule: 'service "web"' },
          Target: { Allow: true },
        },
      ],
      Equal: false,
    };
    const text = reportText(report({ Types: {}, Rights }));
    expect(text.split('\n').slice(1)).to.deep.equal([
      'RIGHTS    8,115 tokens in 96 grant classes, 41,204 questions each way: they differ',
      '          3 tokens wider here (rights_add_up): service:read on "web", such as a, b, c',
      '          asked live: 96 tokens, 41,204 questions',
      '',
    ]);
  });

  it('leaves out of the JSON what is too much, and counts it', () => {
    const Findings = Array.from({ length: 100_002 }, (_, at) => finding(`r${at}`, 'kind', 'x'));
    const shown = JSON.parse(reportJson(report({ Findings })));
    expect(shown.Findings).to.have.length(100_000);
    expect(shown.More).to.equal(2);
    expect(JSON.parse(reportJson(report()))).to.deep.equal(report());
  });

  it('holds no secret of the source', () => {
    const recorded = recordedSource('community');
    const { findings } = converted(stateOf(recorded));
    const text =
      reportJson(report({ Findings: findings })) + reportText(report({ Findings: findings }));
    const secrets = [
      ...recorded.Tokens.map(({ SecretID }) => String(SecretID)).filter(
        (one) => one !== 'anonymous',
      ),
      ...recorded.AuthMethods.map(
        ({ Config }) => (Config as Record<string, string>)['ServiceAccountJWT'],
      ),
      ...recorded.Entries.map(({ PrivateKey }) => PrivateKey as string | undefined),
    ].filter((one) => one !== undefined);
    expect(secrets.length).to.be.greaterThan(14);
    expect(secrets.filter((one) => text.includes(one))).to.deep.equal([]);
  });
});
