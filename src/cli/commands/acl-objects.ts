/** Policies, roles and tokens: what the API answers, and how people see them. */

import type { Column, Shape } from '../print/output.js';
import { lines, localTime } from '../print/text.js';
import { linkingTo } from './dependents.js';
import { identityTexts, type Links, linkNames } from './links.js';
import type { ObjectType } from './objects.js';

/** A policy as the API answers it; lists leave out its rules. */
export interface Policy {
  readonly ID: string;
  readonly Name: string;
  readonly Description?: string;
  readonly Rules?: string;
  readonly Datacenters?: readonly string[];
  readonly Namespace?: string;
  readonly CreateIndex?: number;
  readonly ModifyIndex?: number;
}

/** The IDs of objects that have names too. */
const ID_COLUMN: Column<{ readonly ID: string }> = {
  head: 'ID',
  isWhole: true,
  isMinor: true,
  cell: ({ ID }) => ({ text: ID, paint: 'dim' }),
};

/** Policies. */
export const POLICIES: ObjectType<Policy> = {
  noun: 'policy',
  path: '/v1/acl/policy',
  listPath: '/v1/acl/policies',
  id: ({ ID }) => ID,
  name: ({ Name }) => Name,
  isReadByName: true,
  dependents: linkingTo('policy', 'role', 'token'),
  shape: {
    columns: [
      { head: 'NAME', isWhole: true, cell: ({ Name }) => Name },
      ID_COLUMN,
      {
        head: 'DATACENTERS',
        isMinor: true,
        cell: ({ Datacenters }) => (Datacenters ?? ['all']).join(', '),
      },
      { head: 'DESCRIPTION', cell: ({ Description }) => Description ?? '' },
    ],
    fields: (one) => [
      ['Name', one.Name],
      ['ID', one.ID],
      ['Namespace', one.Namespace ?? ''],
      ['Description', one.Description ?? ''],
      ['Datacenters', (one.Datacenters ?? []).join(', ')],
      ['CreateIndex', String(one.CreateIndex ?? '')],
      ['ModifyIndex', String(one.ModifyIndex ?? '')],
    ],
    ref: ({ Namespace, Name }) => `policy/${Namespace ?? 'default'}/${Name}`,
    text: ({ Rules }) => lines(Rules ?? ''),
  },
};

/** A role as the API answers it. */
export interface Role extends Omit<Links, 'Roles'> {
  readonly ID: string;
  readonly Name: string;
  readonly Description?: string;
  readonly Namespace?: string;
  readonly CreateIndex?: number;
  readonly ModifyIndex?: number;
}

/** Roles. */
export const ROLES: ObjectType<Role> = {
  noun: 'role',
  path: '/v1/acl/role',
  listPath: '/v1/acl/roles',
  id: ({ ID }) => ID,
  name: ({ Name }) => Name,
  isReadByName: true,
  dependents: linkingTo('role', 'token'),
  shape: {
    columns: [
      { head: 'NAME', isWhole: true, cell: ({ Name }) => Name },
      ID_COLUMN,
      { head: 'POLICIES', cell: ({ Policies }) => linkNames(Policies).join(', ') },
      { head: 'IDENTITIES', cell: (one) => identityTexts(one).join(', ') },
      { head: 'DESCRIPTION', cell: ({ Description }) => Description ?? '' },
    ],
    fields: (one) => [
      ['Name', one.Name],
      ['ID', one.ID],
      ['Namespace', one.Namespace ?? ''],
      ['Description', one.Description ?? ''],
      ['Policies', linkNames(one.Policies)],
      ['Identities', identityTexts(one)],
      ['CreateIndex', String(one.CreateIndex ?? '')],
      ['ModifyIndex', String(one.ModifyIndex ?? '')],
    ],
    ref: ({ Namespace, Name }) => `role/${Namespace ?? 'default'}/${Name}`,
  },
};

/** A token as the API answers it. */
export interface Token extends Links {
  readonly AccessorID: string;
  readonly SecretID?: string;
  readonly Description?: string;
  readonly Local?: boolean;
  readonly AuthMethod?: string;
  readonly CreateTime?: string;
  readonly ExpirationTime?: string;
  readonly Namespace?: string;
  readonly CreateIndex?: number;
  readonly ModifyIndex?: number;
}

const TOKEN_SHAPE: Shape<Token> = {
  columns: [
    { head: 'ACCESSOR', isWhole: true, cell: ({ AccessorID }) => AccessorID },
    { head: 'DESCRIPTION', cell: ({ Description }) => Description ?? '' },
    { head: 'POLICIES', cell: ({ Policies }) => linkNames(Policies).join(', ') },
    { head: 'ROLES', cell: ({ Roles }) => linkNames(Roles).join(', ') },
    { head: 'IDENTITIES', isMinor: true, cell: (one) => identityTexts(one).join(', ') },
    { head: 'METHOD', isMinor: true, cell: ({ AuthMethod }) => AuthMethod ?? '' },
    { head: 'EXPIRES', isMinor: true, cell: ({ ExpirationTime }) => localTime(ExpirationTime) },
  ],
  fields: (one) => [
    ['AccessorID', one.AccessorID],
    ['SecretID', one.SecretID ?? ''],
    ['Namespace', one.Namespace ?? ''],
    ['Description', one.Description ?? ''],
    ['Policies', linkNames(one.Policies)],
    ['Roles', linkNames(one.Roles)],
    ['Identities', identityTexts(one)],
    ['Local', one.Local === true ? 'true' : ''],
    ['AuthMethod', one.AuthMethod ?? ''],
    ['Created', localTime(one.CreateTime)],
    ['Expires', localTime(one.ExpirationTime)],
    ['CreateIndex', String(one.CreateIndex ?? '')],
    ['ModifyIndex', String(one.ModifyIndex ?? '')],
  ],
  ref: ({ AccessorID }) => `token/${AccessorID}`,
};

/** Tokens. */
export const TOKENS: ObjectType<Token> = {
  noun: 'token',
  path: '/v1/acl/token',
  listPath: '/v1/acl/tokens',
  id: ({ AccessorID }) => AccessorID,
  shape: TOKEN_SHAPE,
  hidden: (one) => (one.SecretID === undefined ? one : { ...one, SecretID: '<hidden>' }),
};
