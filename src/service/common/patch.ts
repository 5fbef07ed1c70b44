/**
 * PATCH with a JSON Merge Patch (RFC 7396): an object is read, merged in the form of its PUT, and
 * written under the ModifyIndex that was read (beyond.md 2.2).
 */
import { ApiError, refuse, reject } from '../../base/errors.js';
import { isObject } from '../../languages/fields.js';
import type { Table } from '../../state/keys.js';
import { linkFact } from '../../state/links.js';
import { modifyIndexOf } from '../../state/lists.js';
import { versionProblem } from '../../state/match.js';
import { linksAt, type ObjectDefinition, type StoredObject } from '../../state/object.js';
import { type Body, keepSecrets, putForm } from '../../state/put-form.js';
import type { View } from '../../state/types.js';
import type { Requester, Service } from './types.js';

/** How often an object is read and written again before other writers win. */
const TRIES_MAX = 5;

/** What is patched. */
export interface Patched {
  readonly table: Table;
  readonly key: string;
  /** What it is: `role`, `config entry`. */
  readonly noun: string;
  /** What stands before its name: the noun, or the kind of an entry. */
  readonly label: string;
  /** What the path calls it. */
  readonly id: string;
  /** The sentence of the 404 if there is none: that of a PUT, or of a GET of an entry. */
  readonly missing: string;
  /** Of an ACL object: its links are kept by ID, whoever renames their targets meanwhile. */
  readonly definition?: ObjectDefinition;
}

/**
 * Merges a patch into an object and writes the result with `put`, again if somebody else changes
 * the object meanwhile, unless the client names the version that it knows. The caller has checked
 * the right to write it. Returns what `put` returns. Throws ApiError.
 */
export async function patch<W extends Requester>(
  service: Service,
  write: W,
  { table, key, noun, label, id, missing, definition }: Patched,
  work: {
    readonly patch: Body;
    readonly put: (write: W, body: Body, stored: StoredObject) => Promise<string>;
  },
): Promise<string> {
  const { match } = write;
  const named = (name = id): string => `${label} ${JSON.stringify(name.slice(0, 200))}`;
  const namedAs = (text: string): string => named((JSON.parse(text) as StoredObject).Name);
  for (let tries = 1; ; tries += 1) {
    await service.catchUp(write.timeoutMs);
    const { view } = service;
    const text = view.get(key);
    if (text === undefined && match === undefined) reject('not_found', missing);
    const index = text === undefined ? 0 : modifyIndexOf(text);
    const isMeant = !Array.isArray(match) || match.includes(index);
    if (text === undefined || !isMeant) refuse(versionProblem({ noun, named: namedAs }, text));
    const stored = JSON.parse(text) as StoredObject;
    const form = putForm(view, table, stored);
    const merged = merge(
      definition ? withLinkIds(view, definition, form, stored) : form,
      work.patch,
    );
    const kept = keepSecrets(table, merged as Body, stored);
    if ('problem' in kept) refuse(kept.problem);
    try {
      return await work.put({ ...write, match: [index] }, kept.body, stored);
    } catch (error) {
      const isMoved = error instanceof ApiError && error.refusal.code === 'precondition_failed';
      if (!isMoved || Array.isArray(match)) throw error;
      if (tries >= TRIES_MAX)
        reject('conflict', `Other requests are changing ${named()}: try again`);
    }
  }
}

/** Returns a value with a patch merged into it. */
export function merge(target: unknown, change: unknown): unknown {
  if (!isObject(change)) return change;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(change)) {
    if (value === null) merged.delete(name);
    else merged.set(name, merge(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/** Returns a form with the IDs of its links in place of their names. */
function withLinkIds(
  view: View,
  { linkFields }: ObjectDefinition,
  form: Body,
  stored: StoredObject,
): unknown {
  return linkFields.reduce<unknown>((made, field) => {
    const links = linksAt(stored, field).filter(
      ({ ID }) => linkFact(view, field.to, ID)?.Name !== undefined,
    );
    if (links.length === 0) return made;
    const change = field.path.reduceRight<unknown>(
      (inner, name) => ({ [name]: inner }),
      links.map(({ ID }) => ({ ID })),
    );
    return merge(made, change);
  }, form);
}
