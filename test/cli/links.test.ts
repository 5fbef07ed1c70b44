import { expect } from 'chai';
import {
  addedLinks,
  identityTexts,
  nodeIdentity,
  pairOf,
  pairsOf,
  replacedLinks,
  serviceIdentity,
} from '../../src/cli/links.js';

describe('links in options', () => {
  it('reads identities in the form of the peer', () => {
    expect(serviceIdentity('web')).to.deep.equal({ ServiceName: 'web' });
    expect(serviceIdentity('web:dc1,dc2')).to.deep.equal({
      ServiceName: 'web',
      Datacenters: ['dc1', 'dc2'],
    });
    expect(nodeIdentity('n1:dc1')).to.deep.equal({ NodeName: 'n1', Datacenter: 'dc1' });
    expect(() => nodeIdentity('n1')).to.throw('--node-identity: "n1" is not NAME:DATACENTER');
    expect(() => serviceIdentity(':dc1')).to.throw('--service-identity');
  });

  it('reads variables and metadata with a colon or an equals sign', () => {
    expect(pairsOf('--var', ['name:web'])).to.deep.equal({ name: 'web' });
    expect(pairOf('--meta', 'k=v=w:x')).to.deep.equal(['k', 'v=w:x']);
    expect(() => pairOf('--meta', 'k')).to.throw('--meta: "k" is not NAME=VALUE');
  });

  it('adds links that are not there, and leaves the others', () => {
    const held = { Policies: [{ ID: '1', Name: 'a' }], NodeIdentities: [nodeIdentity('n:d')] };
    const more = {
      Policies: [{ Name: 'A' }, { ID: '1' }, { Name: 'b' }],
      ServiceIdentities: [serviceIdentity('web')],
    };
    expect(addedLinks(held, more)).to.deep.equal({
      Policies: [{ ID: '1', Name: 'a' }, { Name: 'b' }],
      ServiceIdentities: [{ ServiceName: 'web' }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'd' }],
    });
    expect(replacedLinks(held, { Policies: [{ Name: 'b' }] })).to.deep.equal({
      Policies: [{ Name: 'b' }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'd' }],
    });
  });

  it('writes identities as the options take them', () => {
    const links = {
      ServiceIdentities: [serviceIdentity('web:dc1')],
      NodeIdentities: [nodeIdentity('n1:dc1')],
      TemplatedPolicies: [
        { TemplateName: 'builtin/service', TemplateVariables: { Name: 'api' } },
        { TemplateName: 'builtin/dns' },
      ],
    };
    expect(identityTexts(links)).to.deep.equal([
      'service web:dc1',
      'node n1:dc1',
      'builtin/service(Name=api)',
      'builtin/dns',
    ]);
  });
});
