import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runsOf, terminalSvg } from '../../scripts/picture/svg.js';

describe('the picture of a terminal', () => {
  it('has a part for each style, and drops what moves the cursor', () => {
    const plain = { bold: false, dim: false, colour: undefined };
    expect(runsOf('a \u001b[1m\u001b[31mb\u001b[22m\u001b[39m c\u001b[K')).to.deep.equal([
      { ...plain, text: 'a ' },
      { ...plain, text: 'b', bold: true, colour: '#ff8272' },
      { ...plain, text: ' c' },
    ]);
  });

  it('escapes what is printed', () => {
    const svg = terminalSvg([{ text: '<a & "b">' }], 20, 'x < y');
    expect(svg).to.include('>&#60;a &#38; &#34;b&#34;&#62;</tspan>').and.include('x &#60; y');
  });

  it('breaks lines where a terminal does', () => {
    const svg = terminalSvg([{ text: 'abcdef', isTyped: true }], 5, '');
    expect(svg.match(/<text/g)).to.have.length(2);
    expect(svg).to.include('>abc</tspan>').and.include('>def</tspan>');
  });

  it('in the README shows a refusal that is explained', () => {
    expect(readFileSync('README.md', 'utf8')).to.include('](docs/explained.svg)');
    const svg = readFileSync('docs/explained.svg', 'utf8');
    for (const text of ['permission_denied', 'conclave acl decision', 'conclave acl explain'])
      expect(svg).to.include(text);
  });
});
