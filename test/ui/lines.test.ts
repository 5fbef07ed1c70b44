import { expect } from 'chai';
import { OBJECTS } from '../../src/api/objects.js';
import type { Stored } from '../../src/ui/api/types.js';
import { FieldFault, fieldOf } from '../../src/ui/objects/fields.js';
import {
  NODE_LINE,
  SERVICE_ITEM,
  SERVICE_LINE,
  TEMPLATE_LINE,
} from '../../src/ui/objects/lines.js';

describe('ui: grants as lines', () => {
  it('reads what it writes', () => {
    for (const item of [
      { ServiceName: 'web' },
      { ServiceName: 'web', Datacenters: ['dc1', 'dc2'] },
      { ServiceName: 'a:b' },
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

describe('ui: grants as rows', () => {
  it('keep a name with a colon apart from its datacenters', () => {
    for (const row of [
      ['a:b', ''],
      ['a:b', 'dc1, dc2'],
      ['web', ''],
    ])
      expect(SERVICE_ITEM.split(SERVICE_ITEM.join(row))).to.deep.equal(row);
  });
});

describe('ui: the grants of a form', () => {
  /** What the form of a stored object sends when it is saved as it is, or with another text. */
  const sent = (key: string, stored: readonly object[], change = (text: string) => text) => {
    const field = fieldOf(key, OBJECTS.token.members[key]!);
    const body = { [key]: stored };
    field.write(body, change(field.read(body as unknown as Stored)));
    return body[key];
  };

  it('items that nobody touched are sent as they are stored', () => {
    for (const [key, items] of [
      [
        'TemplatedPolicies',
        [
          { TemplateName: 'builtin/api-gateway', TemplateVariables: { name: 'edge:eu' } },
          { TemplateName: 'builtin/workload-identity', TemplateVariables: { name: 'a  b' } },
          { TemplateName: 'builtin/dns', TemplateVariables: {} },
        ],
      ],
      [
        'ServiceIdentities',
        [
          { ServiceName: 'web', Datacenters: ['dc:1'] },
          { ServiceName: 'web', Datacenters: [''] },
          { ServiceName: 'web', Datacenters: ['a,b'] },
          { ServiceName: 'web', Datacenters: ['a', 'b'] },
        ],
      ],
      ['NodeIdentities', [{ NodeName: 'n1', Datacenter: 'eu:dc1' }]],
    ] as const) {
      expect(sent(key, items)).to.deep.equal(items);
      const added = sent(key, items, (text) => `${text}\nnew: dc1`) as unknown[];
      expect(added.slice(0, -1)).to.deep.equal(items);
    }
  });

  it('a line that says less than it seems is refused', () => {
    for (const [key, line] of [
      ['NodeIdentities', 'n1'],
      ['ServiceIdentities', 'web: dc1,,dc2'],
      ['ServiceIdentities', 'web:'],
    ] as const)
      expect(() => sent(key, [], () => line), line).to.throw(FieldFault);
  });
});
