import { expect } from 'chai';
import {
  addedLinks,
  identityTexts,
  nodeIdentity,
  pairOf,
  pairsOf,
  serviceIdentity,
} from '../../src/cli/commands/links.js';

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
  });

  it('never narrows what is there, and says what it leaves out', () => {
    const template = { TemplateName: 'builtin/service', TemplateVariables: { Name: 'api' } };
    const held = {
      ServiceIdentities: [serviceIdentity('web'), serviceIdentity('db:dc1')],
      TemplatedPolicies: [template],
    };
    const more = {
      ServiceIdentities: ['web:dc2', 'web', 'db', 'api:dc1', 'api:dc2'].map(serviceIdentity),
      TemplatedPolicies: [
        // The option writes the variable as the template does, the server answers it in capitals.
        { ...template, TemplateVariables: { name: 'api' }, Datacenters: ['dc1'] },
        { TemplateName: 'builtin/service', TemplateVariables: { name: 'db' } },
      ],
    };
    const notes: string[] = [];
    expect(addedLinks(held, more, (text) => notes.push(text))).to.deep.equal({
      ServiceIdentities: ['web', 'db', 'api:dc1', 'api:dc2'].map(serviceIdentity),
      TemplatedPolicies: [template, more.TemplatedPolicies[1]],
    });
    expect(notes).to.deep.equal([
      'service web:dc2 is not added: it is already present without datacenters',
      'builtin/service(name=api):dc1 is not added: it is already present without datacenters',
    ]);
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
