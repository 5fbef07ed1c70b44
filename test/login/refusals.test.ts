import { expect } from 'chai';
import { LoginRefusals } from '../../src/service/login/refusals.js';

describe('refused logins', () => {
  let now: number;
  let lines: { message: string; [field: string]: unknown }[];
  let refusals: LoginRefusals;
  beforeEach(() => {
    now = 0;
    lines = [];
    const log = {
      warn: (fields: object, message: string) => void lines.push({ ...fields, message }),
    };
    refusals = new LoginRefusals(log, () => now);
  });
  const method = (Name: string) => ({ Name, Namespace: 'default', Type: 'jwt' });
  const refuse = (times: number, name = 'm', cause: 'token' | 'binding' = 'token'): void => {
    for (let n = 0; n < times; n++)
      refusals.note({ cause, reason: `no. ${n}`, method: method(name) });
  };

  it('are all counted, and only some of them logged', () => {
    refuse(2000);
    expect(refusals.counts.get('token')).to.equal(2000);
    expect(lines).to.have.lengthOf(10);
    expect(lines[9]).to.deep.equal({
      event: 'login_refused',
      authMethod: 'm',
      namespace: 'default',
      type: 'jwt',
      cause: 'token',
      reason: 'no. 9',
      message: 'login refused',
    });
  });

  it('of one kind do not suppress those of another', () => {
    refuse(2000);
    refuse(1, 'm', 'binding');
    refuse(1, 'other');
    expect(lines.slice(10).map(({ authMethod, cause }) => `${authMethod} ${cause}`)).to.deep.equal([
      'm binding',
      'other token',
    ]);
  });

  it('do not fill the log through many methods either', () => {
    for (let n = 0; n < 1000; n++) refuse(2, `m-${n}`);
    expect(lines).to.have.lengthOf(200);
  });

  it('are logged again in the next minute, with the number of suppressed ones', () => {
    refuse(15);
    now += 59_999;
    refuse(1);
    now += 1;
    refuse(1);
    expect(lines.slice(10)).to.have.lengthOf(2);
    expect(lines[10]).to.include({ count: 6 });
    expect(lines[11]).to.include({ message: 'login refused', reason: 'no. 0' });
    now += 60_000;
    refuse(1);
    expect(lines).to.have.lengthOf(13);
  });
});
