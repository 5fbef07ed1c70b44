import { expect } from 'chai';
import { NODE_LINE, SERVICE_LINE, TEMPLATE_LINE } from '../../src/ui/objects/lines.js';

describe('ui: grants as lines', () => {
  it('reads what it writes', () => {
    for (const item of [
      { ServiceName: 'web' },
      { ServiceName: 'web', Datacenters: ['dc1', 'dc2'] },
    ])
      expect(SERVICE_LINE.read(SERVICE_LINE.write(item))).to.deep.equal(item);
    const node = { NodeName: 'n1', Datacenter: 'dc1' };
    expect(NODE_LINE.write(node)).to.equal('n1: dc1');
    expect(NODE_LINE.read('n1: dc1')).to.deep.equal(node);
    for (const item of [
      { TemplateName: 'builtin/dns' },
      { TemplateName: 'builtin/dns', Datacenters: ['dc1'] },
      { TemplateName: 'builtin/service', TemplateVariables: { name: 'web' } },
    ])
      expect(TEMPLATE_LINE.read(TEMPLATE_LINE.write(item))).to.deep.equal(item);
  });
});
