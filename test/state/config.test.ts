import { expect } from 'chai';
import { keys } from '../../src/state/keys.js';
import { ConfigWorld } from './config-world.js';

const defaults = (name: string, protocol: string) =>
  ({ Kind: 'service-defaults', Name: name, Protocol: protocol }) as const;

describe('state: config entries', () => {
  it('stores an entry as the API returns it: content, indexes, namespace', () => {
    const world = new ConfigWorld();
    expect(world.set(defaults('web', 'http')).value).to.equal('true');
    expect(world.text('service-defaults', 'web')).to.equal(
      '{"Kind":"service-defaults","Name":"web","Protocol":"http","TransparentProxy":{},"MeshGateway":{},"Expose":{},' +
        '"CreateIndex":11,"ModifyIndex":11,"Namespace":"default"}',
    );
  });

  it('keeps CreateIndex and raises ModifyIndex on an update', () => {
    const world = new ConfigWorld();
    world.must(defaults('web', 'http'));
    world.must(defaults('web', 'tcp'));
    const { CreateIndex, ModifyIndex, Protocol } = world.read('service-defaults', 'web');
    expect({ CreateIndex, ModifyIndex, Protocol }).to.deep.equal({
      CreateIndex: 11,
      ModifyIndex: 12,
      Protocol: 'tcp',
    });
  });

  it('changes no key if the content is the same, however it is written', () => {
    const world = new ConfigWorld();
    world.must({ ...defaults('web', 'http'), Meta: { b: '2', a: '1' } });
    const again = world.set({ ...defaults('web', 'HTTP'), Meta: { a: '1', b: '2' }, Mode: '' });
    expect(again).to.include({ value: 'true' });
    expect(again.changed).to.deep.equal([]);
  });

  it('treats an absent and an empty member as different if the empty one is kept', () => {
    const world = new ConfigWorld();
    world.must({ Kind: 'service-resolver', Name: 'web' });
    expect(world.set({ Kind: 'service-resolver', Name: 'web', LoadBalancer: {} }).changed).not.to.be
      .empty;
  });

  it('finds a name in any letter case and returns the last spelling', () => {
    const world = new ConfigWorld();
    world.must(defaults('Web', 'http'));
    world.must(defaults('wEB', 'http'));
    const { Name, CreateIndex } = world.read('service-defaults', 'WEB');
    expect({ Name, CreateIndex }).to.deep.equal({ Name: 'wEB', CreateIndex: 11 });
    expect(world.delete('service-defaults', 'WEB').value).to.equal('{}');
    expect(world.text('service-defaults', 'web')).to.equal(undefined);
  });

  it('refuses to write into a missing namespace', () => {
    const outcome = new ConfigWorld().set(defaults('web', 'http'), { ns: 'nowhere' });
    expect(outcome.value).to.equal('unknown_reference');
  });

  it('keeps namespaces apart', () => {
    const world = new ConfigWorld(['default', 'team']);
    world.must(defaults('web', 'http'));
    world.must(defaults('web', 'tcp'), { ns: 'team' });
    expect(world.read('service-defaults', 'web')).to.include({ Protocol: 'http' });
    expect(world.read('service-defaults', 'web', 'team')).to.include({
      Protocol: 'tcp',
      Namespace: 'team',
    });
  });

  it("raises the list's index at every change, and the deletion index at deletes", () => {
    const world = new ConfigWorld();
    const index = () => world.store.get(keys.index('config', 'default', 'service-defaults'));
    const deleted = () => world.store.get(keys.deleted('config', 'default', 'service-defaults'));
    world.must(defaults('web', 'http'));
    expect([index(), deleted()]).to.deep.equal(['11', undefined]);
    world.delete('service-defaults', 'web');
    expect([index(), deleted()]).to.deep.equal(['12', '12']);
    expect(world.delete('service-defaults', 'web').changed).to.deep.equal([]);
    expect(world.store.get(keys.index('config', 'default', 'mesh'))).to.equal(undefined);
  });

  describe('cas', () => {
    const present = (): ConfigWorld => {
      const world = new ConfigWorld();
      world.must(defaults('web', 'http'));
      return world;
    };
    const applies: [string, ConfigWorld, number | undefined, string, string][] = [
      ['none, missing', new ConfigWorld(), undefined, 'tcp', 'true'],
      ['none, present', present(), undefined, 'tcp', 'true'],
      ['0, missing', new ConfigWorld(), 0, 'tcp', 'true'],
      ['0, present', present(), 0, 'tcp', 'false'],
      ['0, present, same content', present(), 0, 'http', 'false'],
      ['n, missing', new ConfigWorld(), 11, 'tcp', 'false'],
      ['n, present', present(), 11, 'tcp', 'true'],
      ['n, present, same content', present(), 11, 'http', 'true'],
      ['other n, present', present(), 12, 'tcp', 'false'],
      ['other n, present, same content', present(), 12, 'http', 'false'],
    ];
    for (const [what, world, cas, protocol, wanted] of applies) {
      it(`apply with ${what}: ${wanted}`, () => {
        const options = cas === undefined ? {} : { cas };
        const before = world.text('service-defaults', 'web');
        const { value, changed } = world.set(defaults('web', protocol), options);
        expect(value).to.equal(wanted);
        if (wanted === 'false') {
          expect(changed).to.deep.equal([]);
          expect(world.text('service-defaults', 'web')).to.equal(before);
        } else {
          expect(world.read('service-defaults', 'web')).to.include({ Protocol: protocol });
        }
      });
    }
    const deletes: [string, ConfigWorld, number | undefined, string, boolean][] = [
      ['none, present', present(), undefined, '{}', false],
      ['none, missing', new ConfigWorld(), undefined, '{}', false],
      ['0, present', present(), 0, 'false', true],
      ['n, present', present(), 11, 'true', false],
      ['other n, present', present(), 12, 'false', true],
      ['n, missing', new ConfigWorld(), 11, 'false', false],
      ['0, missing', new ConfigWorld(), 0, 'false', false],
    ];
    for (const [what, world, cas, wanted, stays] of deletes) {
      it(`delete with ${what}: ${wanted}`, () => {
        const { value } = world.delete('service-defaults', 'web', cas === undefined ? {} : { cas });
        expect(value).to.equal(wanted);
        expect(world.text('service-defaults', 'web') !== undefined).to.equal(stays);
      });
    }
  });

  it('reads a constant number of keys to write a plain entry', () => {
    const world = new ConfigWorld();
    for (let i = 0; i < 300; i += 1) world.must(defaults(`web-${i}`, 'http'));
    let looks = 0;
    const { get, keys: list } = world.store;
    world.store.get = (key) => {
      looks += 1;
      return get.call(world.store, key);
    };
    world.store.keys = (prefix, after) => {
      const found = [...list.call(world.store, prefix, after)];
      looks += found.length + 1;
      return found;
    };
    world.must(defaults('web-7', 'tcp'));
    expect(looks).to.be.lessThan(40);
  });
});
