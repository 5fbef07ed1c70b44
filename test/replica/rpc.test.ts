import { expect } from 'chai';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { type About, PLAIN_KINDS } from '../../src/base/errors.js';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type RpcRequest,
  type RpcResponse,
} from '../../src/replica/rpc-codec.js';

const count = fc.nat();
const servers = fc.record({
  id: fc.string(),
  name: fc.string(),
  address: fc.string(),
  level: count,
});
const requests: fc.Arbitrary<RpcRequest> = fc.oneof(
  fc.record({
    type: fc.constant('write' as const),
    tokenKey: fc.option(fc.string(), { nil: null }),
    data: fc.uint8Array(),
    timeoutMs: count,
  }),
  fc.record({
    type: fc.constant('read' as const),
    mode: fc.constantFrom('default', 'consistent'),
    term: count,
  }),
  fc.record(
    {
      type: fc.constant('add' as const),
      server: servers,
      token: fc.string(),
      subject: fc.string(),
    },
    { requiredKeys: ['type', 'server'] },
  ),
  fc.record({ type: fc.constant('admit' as const), server: servers }),
  fc.record({ type: fc.constantFrom('removed', 'sums'), index: count }),
  fc.record({ type: fc.constantFrom('remove', 'member', 'decision', 'usage'), id: fc.string() }),
  fc.record({
    type: fc.constant('transfer' as const),
    to: fc.option(fc.string(), { nil: null }),
  }),
  fc.record({ type: fc.constant('differs' as const), index: count, table: fc.string() }),
  fc.record({ type: fc.constantFrom('state', 'room', 'level', 'status', 'joining') }),
) as fc.Arbitrary<RpcRequest>;

const abouts: fc.Arbitrary<About> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('denied' as const),
      resource: fc.string(),
      access: fc.string(),
      namespace: fc.string(),
      segment: fc.string(),
    },
    { requiredKeys: ['kind', 'resource', 'access', 'namespace'] },
  ),
  fc.record({
    kind: fc.constant('conflict' as const),
    entry: fc.record({ kind: fc.string(), name: fc.string() }),
    unnamed: fc.string(),
  }),
  fc.record({ kind: fc.constantFrom(...PLAIN_KINDS) }),
);
const refusals = fc.record(
  {
    code: fc.constantFrom('conflict' as const, 'no_leader' as const),
    message: fc.string(),
    pointer: fc.string(),
    hint: fc.string(),
    about: abouts,
  },
  { requiredKeys: ['code', 'message'] },
);
const responses: fc.Arbitrary<RpcResponse> = fc.oneof(
  fc.record({
    type: fc.constant('applied' as const),
    result: fc.oneof(
      fc.record(
        { ok: fc.constant(true as const), index: count, value: fc.string() },
        { requiredKeys: ['ok', 'index'] },
      ),
      fc.record({ ok: fc.constant(false as const), index: count, refusal: refusals }),
    ),
  }),
  fc.record({ type: fc.constant('refused' as const), refusal: refusals }),
  fc.record({ type: fc.constant('index' as const), index: count }),
  fc.record({ type: fc.constant('level' as const), level: count, applied: count }),
  fc.record({
    type: fc.constant('sums' as const),
    index: count,
    sums: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.string(), { noNullPrototype: true }),
  }),
  fc.record({
    ...{ type: fc.constant('joined' as const), clusterId: fc.string() },
    seen: fc.dictionary(
      fc.uuid(),
      fc.record(
        { incarnation: fc.uuid(), starts: count, startId: fc.uuid(), subject: fc.string() },
        { requiredKeys: ['incarnation', 'starts', 'startId'] },
      ),
      { noNullPrototype: true },
    ),
    removed: fc.array(fc.uuid()),
  }),
  fc.record({ type: fc.constantFrom('retry', 'unknown', 'done') }),
) as fc.Arbitrary<RpcResponse>;

describe('replica: the encoding between members', () => {
  it('a refusal of an older or a newer release is taken without what it is about', () => {
    const packr = new Packr({ useRecords: false });
    const parts = ['conflict', 'no', null, null];
    const plain = { type: 'refused', refusal: { code: 'conflict', message: 'no' } };
    const later = [
      null,
      'own',
      ['of', 'a', 'later', 'release'],
      ['denied', 1],
      ['conflict', 'a'],
      [],
    ];
    for (const refused of [parts, ...later.map((about) => [...parts, about])]) {
      expect(decodeResponse(packr.pack(['refused', refused]))).to.deep.equal(plain);
    }
    const more = [...parts, ['own', 'more'], 'and more'];
    const own = { ...plain, refusal: { ...plain.refusal, about: { kind: 'own' } } };
    expect(decodeResponse(packr.pack(['refused', more]))).to.deep.equal(own);
  });

  it('every request and response is decoded as it was encoded', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const decoded = decodeRequest(encodeRequest(request))!;
        if (decoded.type === 'write') {
          expect({ ...decoded, data: [...decoded.data] }).to.deep.equal({
            ...request,
            data: request.type === 'write' ? [...request.data] : [],
          });
        } else expect(decoded).to.deep.equal(request);
      }),
    );
    fc.assert(
      fc.property(responses, (response) => {
        expect(decodeResponse(encodeResponse(response))).to.deep.equal(response);
      }),
    );
  });

  it('malformed bytes are rejected, and decoding never throws', () => {
    const open = (bytes: Uint8Array): void => {
      decodeRequest(bytes);
      decodeResponse(bytes);
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), open));
    const request = encodeRequest({
      type: 'write',
      tokenKey: 'x',
      data: new Uint8Array(9),
      timeoutMs: 5,
    });
    for (let end = 0; end < request.length; end++) {
      expect(decodeRequest(request.subarray(0, end))).to.equal(undefined);
    }
    const other = encodeResponse({ type: 'index', index: 4 });
    expect(decodeRequest(other)).to.equal(undefined);
    expect(decodeResponse(request)).to.equal(undefined);
  });

  it('items that a newer release appends are ignored', () => {
    const packr = new Packr({ useRecords: false });
    const longer = (bytes: Uint8Array): Uint8Array =>
      packr.pack([...(packr.unpack(bytes) as unknown[]), ['of a newer release', 1]]);
    fc.assert(
      fc.property(requests, (request) => {
        const bytes = encodeRequest(request);
        expect(decodeRequest(longer(bytes))).to.deep.equal(decodeRequest(bytes));
      }),
    );
    fc.assert(
      fc.property(responses, (response) => {
        expect(decodeResponse(longer(encodeResponse(response)))).to.deep.equal(response);
      }),
    );
  });
});
