/** Converts config entries. What a write here refuses, the code of a write finds. */

import { atOnce } from '../../acl/steps.js';
import type { FindingCode } from '../../api/migration-report.js';
import { decodeInSteps } from '../../kinds/decode.js';
import { isKind } from '../../kinds/definitions.js';
import type { Problem } from '../../kinds/problems.js';
import { providersNamed } from '../../kinds/references.js';
import type { Decoded } from '../../kinds/types.js';
import { isObject } from '../../languages/fields.js';
import { pathOf } from '../../languages/pointers.js';
import { type Conversion, isHidden, isNothing, listIn, refOf, textOf } from './conversion.js';
import type { MovedItem, Shown } from './types.js';

/** What the server adds to entries. */
const ADDED = ['CreateIndex', 'ModifyIndex', 'Hash', 'Namespace', 'Status'];
/** What a source keeps of the intentions from which it made an entry. */
const LEGACY = ['LegacyID', 'LegacyMeta', 'LegacyCreateTime', 'LegacyUpdateTime'];

/** Converts an entry; undefined if it is not written. */
export function entryOf(conversion: Conversion, one: Shown): MovedItem | undefined {
  const ref = refOf('config', one);
  const kind = textOf(one, 'Kind');
  if (!isKind(kind)) {
    const code = kind === 'sameness-group' ? 'partition' : 'kind';
    return conversion.leaveOut(ref, code, `this server has no kind ${kind}`, { Pointer: '/Kind' });
  }
  if (!conversion.stays(ref, one)) return undefined;
  const body = bodyOf(conversion, ref, one);
  if (kind === 'inline-certificate' && isHidden(body['PrivateKey'])) {
    const message = 'the source does not show PrivateKey';
    return conversion.leaveOut(ref, 'hidden_secret', message, { Pointer: '/PrivateKey' });
  }
  const ns = textOf(one, 'Namespace');
  const outcome = decoded(conversion, ref, body, ns);
  if (!outcome.ok) return leaveOut(conversion, ref, body, outcome.problems);
  for (const provider of providersNamed(outcome.entry)) {
    const needed = `config/default/jwt-provider/${provider}`;
    if (conversion.isLeftOut(needed)) return conversion.leaveOut(ref, 'invalid', `needs ${needed}`);
  }
  return { Type: 'config', Namespace: ns, Object: body };
}

/** Returns the entry as a client would write it. */
function bodyOf(conversion: Conversion, ref: string, one: Shown): Record<string, unknown> {
  // The entry is changed below, and belongs to the reading.
  const copy = structuredClone(one) as Record<string, unknown>;
  for (const member of ADDED) delete copy[member];
  if (copy['Kind'] !== 'service-intentions') return copy;
  let isOld = false;
  for (const source of listIn(copy, 'Sources') as Record<string, unknown>[]) {
    for (const member of LEGACY) {
      isOld ||= member in source && !isNothing(source[member]);
      delete source[member];
    }
  }
  if (isOld) {
    const message = 'was made from old intentions: it is written without LegacyID and LegacyMeta';
    conversion.note(ref, 'intentions_source', message, { Pointer: '/Sources' });
  }
  return copy;
}

/**
 * Decodes an entry. Members that only name the namespace of the entry are taken out of it, and with
 * `mend` empty members that are unknown here.
 */
function decoded(
  conversion: Conversion,
  ref: string,
  body: Record<string, unknown>,
  namespace: string,
): Decoded {
  for (;;) {
    const outcome = atOnce(decodeInSteps(body, { namespace }, 'all'));
    if (outcome.ok) return outcome;
    const unknown = outcome.problems.filter(({ isUnknown }) => isUnknown === true);
    const own = unknown.filter(
      ({ pointer }) => pointer.endsWith('/Namespace') && valueAt(body, pointer) === namespace,
    );
    for (const { pointer } of own) takeOut(body, pointer);
    if (own.length > 0) continue;
    const isMended =
      conversion.options.mend &&
      unknown.length === outcome.problems.length &&
      unknown.every(({ pointer }) => isNothing(valueAt(body, pointer)));
    if (!isMended) return outcome;
    for (const { pointer, message } of unknown) {
      const words = { Lost: 'nothing: the member is empty', Do: 'nothing: it is mended' };
      conversion.note(ref, 'member', message, { Pointer: pointer, ...words });
      takeOut(body, pointer);
    }
  }
}

function takeOut(body: unknown, pointer: string): void {
  const [holder, key] = holderOf(body, pointer);
  if (isObject(holder)) delete holder[key];
}

/** Leaves an entry out, with a line for each of its problems. */
function leaveOut(
  conversion: Conversion,
  ref: string,
  body: Shown,
  problems: readonly Problem[],
): undefined {
  for (const one of problems) {
    const { pointer: Pointer, message, hint } = one;
    const text = hint === undefined ? message : `${message} (${hint})`;
    conversion.leaveOut(ref, codeOf(one, valueAt(body, Pointer)), text, { Pointer });
  }
}

function codeOf({ pointer, isUnknown }: Problem, value: unknown): FindingCode {
  if (/(?:partition|sameness_?group)$/i.test(pointer)) return 'partition';
  const isWild = typeof value === 'string' && value.includes('*');
  if (isUnknown === true) return isWild && pointer.endsWith('/Namespace') ? 'wildcard' : 'member';
  return isWild ? 'wildcard' : 'invalid';
}

/** Returns what holds the value at a JSON pointer, and its key there. */
function holderOf(body: unknown, pointer: string): [holder: unknown, key: string] {
  const parts = pathOf(pointer);
  const key = parts.pop() ?? '';
  let at = body;
  for (const part of parts) at = (at as Record<string, unknown> | undefined)?.[part];
  return [at, key];
}

function valueAt(body: unknown, pointer: string): unknown {
  if (pointer === '') return body;
  const [holder, key] = holderOf(body, pointer);
  return (holder as Record<string, unknown> | null | undefined)?.[key];
}
