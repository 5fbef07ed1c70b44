import { expect } from 'chai';
import { keys } from '../../src/state/keys.js';
import { ConfigState } from './config-state.js';

const defaults = (name: string, protocol: string) =>
  ({ Kind: 'service-defaults', Name: name, Protocol: protocol }) as const;

describe('state: a write of a config entry', () => {
  it('stores an entry as the API returns it: content, indexes, namespace', () => {
    const state = new ConfigState();
    expect(state.set(defaults('web', 'http')).value).to.equal('true');
    expect(state.text('service-defaults', 'web')).to.equal(
      '{"Kind":"service-defaults","Name":"web","Protocol":"http","TransparentProxy":{},"MeshGateway":{},"Expose":{},' +
        '"CreateIndex":11,"ModifyIndex":11,"Namespace":"default"}',
    );
  });

  it('keeps CreateIndex and raises ModifyIndex on an update', () => {
    const state = new ConfigState();
    state.must(defaults('web', 'http'));
    state.must(defaults('web', 'tcp'));
    const { CreateIndex, ModifyIndex, Protocol } = state.read('service-defaults', 'web');
    expect({ CreateIndex, ModifyIndex, Protocol }).to.deep.equal({
      CreateIndex: 11,
      ModifyIndex: 12,
      Protocol: 'tcp',
    });
  });

  it('changes no key if the content is the same, however it is written', () => {
    const state = new ConfigState();
    state.must({ ...defaults('web', 'http'), Meta: { b: '2', a: '1' } });
    const again = state.set({ ...defaults('web', 'HTTP'), Meta: { a: '1', b: '2' }, Mode: '' });
    expect(again).to.include({ value: 'true' });
    expect(again.changed).to.deep.equal([]);
  });

  it('treats an absent and an empty member as different if the empty one is kept', () => {
    const state = new ConfigState();
    state.must({ Kind: 'service-resolver', Name: 'web' });
    expect(state.set({ Kind: 'service-resolver', Name: 'web', LoadBalancer: {} }).changed).not.to.be
      .empty;
  });

  it('finds a name in any letter case and returns the last spelling', () => {
    const state = new ConfigState();
    state.must(defaults('Web', 'http'));
    state.must(defaults('wEB', 'http'));
    const { Name, CreateIndex } = state.read('service-defaults', 'WEB');
    expect({ Name, CreateIndex }).to.deep.equal({ Name: 'wEB', CreateIndex: 11 });
    expect(state.delete('service-defaults', 'WEB').value).to.equal('{}');
    expect(state.text('service-defaults', 'web')).to.equal(undefined);
  });

  it('is refused into a missing namespace', () => {
    const outcome = new ConfigState().set(defaults('web', 'http'), { ns: 'nowhere' });
    expect(outcome.value).to.equal('unknown_reference');
  });

  it('keeps namespaces apart', () => {
    const state = new ConfigState(['default', 'team']);
    state.must(defaults('web', 'http'));
    state.must(defaults('web', 'tcp'), { ns: 'team' });
    expect(state.read('service-defaults', 'web')).to.include({ Protocol: 'http' });
    expect(state.read('service-defaults', 'web', 'team')).to.include({
      Protocol: 'tcp',
      Namespace: 'team',
    });
  });

  it("raises the list's index at every change, and the deletion index at deletes", () => {
    const state = new ConfigState();
    const index = () => state.store.get(keys.index('config', 'default', 'service-defaults'));
    const deleted = () => state.store.get(keys.deleted('config', 'default', 'service-defaults'));
    state.must(defaults('web', 'http'));
    expect([index(), deleted()]).to.deep.equal(['11', undefined]);
    state.delete('service-defaults', 'web');
    expect([index(), deleted()]).to.deep.equal(['12', '12']);
    expect(state.delete('service-defaults', 'web').changed).to.deep.equal([]);
    expect(state.store.get(keys.index('config', 'default', 'mesh'))).to.equal(undefined);
  });

  describe('cas', () => {
    const present = (): ConfigState => {
      const state = new ConfigState();
      state.must(defaults('web', 'http'));
      return state;
    };
    const applies: [string, ConfigState, number | undefined, string, string][] = [
      ['none, missing', new ConfigState(), undefined, 'tcp', 'true'],
      ['none, present', present(), undefined, 'tcp', 'true'],
      ['0, missing', new ConfigState(), 0, 'tcp', 'true'],
      ['0, present', present(), 0, 'tcp', 'false'],
      ['0, present, same content', present(), 0, 'http', 'false'],
      ['n, missing', new ConfigState(), 11, 'tcp', 'false'],
      ['n, present', present(), 11, 'tcp', 'true'],
      ['n, present, same content', present(), 11, 'http', 'true'],
      ['other n, present', present(), 12, 'tcp', 'false'],
      ['other n, present, same content', present(), 12, 'http', 'false'],
    ];
    for (const [what, state, cas, protocol, wanted] of applies) {
      it(`apply with ${what}: ${wanted}`, () => {
        const options = cas === undefined ? {} : { cas };
        const before = state.text('service-defaults', 'web');
        const { value, changed } = state.set(defaults('web', protocol), options);
        expect(value).to.equal(wanted);
        if (wanted === 'false') {
          expect(changed).to.deep.equal([]);
          expect(state.text('service-defaults', 'web')).to.equal(before);
        } else {
          expect(state.read('service-defaults', 'web')).to.include({ Protocol: protocol });
        }
      });
    }
    const deletes: [string, ConfigState, number | undefined, string, boolean][] = [
      ['none, present', present(), undefined, '{}', false],
      ['none, missing', new ConfigState(), undefined, '{}', false],
      ['0, present', present(), 0, 'false', true],
      ['n, present', present(), 11, 'true', false],
      ['other n, present', present(), 12, 'false', true],
      ['n, missing', new ConfigState(), 11, 'false', false],
      ['0, missing', new ConfigState(), 0, 'false', false],
    ];
    for (const [what, state, cas, wanted, stays] of deletes) {
      it(`delete with ${what}: ${wanted}`, () => {
        const { value } = state.delete('service-defaults', 'web', cas === undefined ? {} : { cas });
        expect(value).to.equal(wanted);
        expect(state.text('service-defaults', 'web') !== undefined).to.equal(stays);
      });
    }
  });

  it('reads a constant number of keys to write a plain entry', () => {
    const state = new ConfigState();
    for (let i = 0; i < 300; i += 1) state.must(defaults(`web-${i}`, 'http'));
    let looks = 0;
    const { get, keys: list } = state.store;
    state.store.get = (key) => {
      looks += 1;
      return get.call(state.store, key);
    };
    state.store.keys = (prefix, after) => {
      const found = [...list.call(state.store, prefix, after)];
      looks += found.length + 1;
      return found;
    };
    state.must(defaults('web-7', 'tcp'));
    expect(looks).to.be.lessThan(40);
  });
});
