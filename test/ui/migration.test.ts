import { expect } from 'chai';
import { chosenOf, refIn, reportIn } from '../../src/ui/migration/report.js';

const finding = {
  Ref: 'policy/default/ops/eu',
  Code: 'rules',
  Message: 'unknown resource',
  Line: 3,
  Lost: '',
  Do: '',
  LeftOut: false,
};
const report = {
  Version: 1,
  Time: '2030-01-01T00:00:00Z',
  Source: { Address: 'http://a', Indexes: {} },
  Target: { Datacenter: 'dc1', DefaultPolicy: 'deny', Index: 7, Level: 3 },
  DryRun: true,
  Types: { policy: { Source: 1, Same: 0, Create: 1, Update: 0, Delete: 0, LeftOut: 0 } },
  Findings: [finding],
  Exit: 3,
};

describe('ui: the report of a migration', () => {
  it('is taken with the members that a page shows, and others', () => {
    expect(reportIn(JSON.stringify({ ...report, Later: [1] }))).to.deep.include(report);
  });

  for (const [what, text, problem] of [
    ['no JSON', '{', 'The file is not JSON.'],
    ['another document', '{"a":1}', 'The file is JSON, but no report'],
    ['a list', '[]', 'The file is JSON, but no report'],
    ['another version', JSON.stringify({ ...report, Version: 2 }), 'has version 2.'],
    ['a missing version', JSON.stringify({ ...report, Version: undefined }), 'version undefined.'],
    ['no exit code', JSON.stringify({ ...report, Exit: null }), 'damaged at /Exit.'],
    ['types of no form', JSON.stringify({ ...report, Types: [] }), 'damaged at /Types.'],
    ['counts of no form', JSON.stringify({ ...report, Types: { a: 1 } }), 'at /Types/a.'],
    [
      'a finding of another form',
      JSON.stringify({ ...report, Findings: [finding, { ...finding, Line: '3' }] }),
      'damaged at /Findings/1/Line.',
    ],
    ['no rights', JSON.stringify({ ...report, Rights: null }), 'damaged at /Rights.'],
  ] as const) {
    it(`is refused with a sentence if it is or has ${what}`, () => {
      expect(reportIn(text)).to.be.a('string').that.contains(problem);
    });
  }

  it('names objects by type, namespace, and what their pages are called by', () => {
    const of = (ref: string) => Object.values(refIn(ref));
    expect(of('policy/default/ops/eu')).to.deep.equal(['policy', 'default', ['ops/eu']]);
    expect(of('token/8a2d')).to.deep.equal(['token', '', ['8a2d']]);
    expect(of('namespace/team-a')).to.deep.equal(['namespace', '', ['team-a']]);
    expect(of('config/default/mesh/mesh')).to.deep.equal(['config', 'default', ['mesh', 'mesh']]);
    expect(of('source')).to.deep.equal(['source', '', ['']]);
  });

  it('is narrowed by code, type and words', () => {
    const other = { ...finding, Ref: 'token/1', Code: 'expired', Message: 'it is over' } as const;
    const all = [finding as typeof finding & { Code: 'rules' }, other];
    const refs = (chosen: object) =>
      chosenOf(all, { code: '', type: '', words: '', ...chosen }).map(({ Ref }) => Ref);
    expect(refs({})).to.have.length(2);
    expect(refs({ code: 'expired' })).to.deep.equal(['token/1']);
    expect(refs({ type: 'policy' })).to.deep.equal(['policy/default/ops/eu']);
    expect(refs({ words: 'OVER token' })).to.deep.equal(['token/1']);
    expect(refs({ words: 'over policy' })).to.deep.equal([]);
  });
});
