/** Answers about the history. */
export const ID = '5c1e0f5a-4c7e-4f1c-9d3c-2f0c4b7b9f11';
export const TIME = '2026-11-03T14:05:00.000Z';
const AUTHOR = { AccessorID: '8a2d31f0-0000', Description: 'ci' };
const Identity = { AuthMethod: 'jwt1', Namespace: 'default', Subject: 'user-1' };
const LOGIN = { ...AUTHOR, Identity };
export const version = (Index: number, Operation: string, more: object = {}) => ({
  Index,
  Operation,
  Time: TIME,
  Author: AUTHOR,
  Reason: 'PAY-1',
  Current: false,
  ...more,
});
export const VERSIONS = {
  Type: 'policy',
  ID,
  Name: 'ops',
  Exists: true,
  Versions: [version(57, 'update', { Current: true, Author: LOGIN }), version(42, 'create')],
  More: false,
};
export const line = (Index: number, more: object = {}) => ({
  ...version(Index, 'update'),
  Type: 'policy',
  ID,
  Name: 'ops',
  Ref: 'policy/default/ops',
  ...more,
});
export const PLAN = {
  Index: 60,
  Valid: true,
  Digest: 'sha256:1',
  Summary: { Create: 0, Update: 1, Delete: 0, Unchanged: 0, Hidden: 0 },
  Changes: [
    { Ref: 'policy/default/ops', Type: 'policy', Name: 'ops', Action: 'update', Allowed: true },
  ],
  Expected: { 'policy/default/ops': 57 },
  Problems: [],
  Asserts: [],
  Parts: [],
};
export const APPLIED = { Index: 61, Changes: [{ Ref: 'policy/default/ops', Action: 'update' }] };
export const AT = { Index: 42, Time: TIME };
export const ITEM = { Type: 'policy', Object: { ID, Name: 'ops', Rules: '' } };
