/** Lists the tokens that were imported from a source, without their secrets (moving-in.md 1.1). */
import { isReservedId } from '../../acl/builtin.js';
import type { Steps } from '../../acl/steps.js';
import type { Imports } from '../../api/endpoints/imports.js';
import { compare } from '../../base/text.js';
import { keys } from '../../state/keys.js';
import { keysBelow, lastPart, stored } from '../../state/lists.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import { TYPES } from '../../state/refs.js';
import { ownerOfSource } from '../../state/token-import.js';
import type { Token } from '../../state/tokens.js';
import type { PinnedView, View } from '../../state/types.js';
import { mustRead, readState, stateIndex } from '../common/reading.js';
import type { QueryMeta, ReadBy } from '../common/types.js';
import type { Rendered } from '../reads/list-plan.js';
import { listPieces } from '../reads/list-rendering.js';
import { ownerOf } from '../reads/long-work.js';
import { type ImportParts, SOURCE_FORM, sourceOf } from './token-import.js';

/** Lists the tokens of a source. `answer` gets the JSON text in pieces. Throws ApiError. */
export async function listImported(
  { service, longWork }: Pick<ImportParts, 'service' | 'longWork'>,
  { caller, options }: ReadBy,
  source: string | undefined,
  answer: (pieces: AsyncIterable<string>, meta: QueryMeta) => Promise<void>,
): Promise<void> {
  const why = `Invalid parameter "source": it must be ${SOURCE_FORM}`;
  const owner = ownerOfSource(sourceOf(source ?? '', why, {}));
  const outcome = await readState(service, { caller, options }, ({ authorizer }) => {
    mustRead(authorizer, DEFAULT_NAMESPACE);
    return authorizer;
  });
  const mayRead = (ns: string): boolean => outcome.value.allowed('acl', 'read', undefined, ns);
  const view = service.pin();
  try {
    const all = await longWork.runSoon(ownerOf(service, caller), 'list', ownedTokens(view, owner));
    const shown = all.filter((key) => mayRead(key.split('\u0000')[1]!));
    const rendered: Rendered = { candidates: shown, render: shownToken };
    const filtered = shown.length < all.length;
    await answer(piecesOf(view, rendered), { ...outcome, filtered });
  } finally {
    view.close();
  }
}

/** Returns the keys of the tokens of an owner, by accessor. */
function* ownedTokens(view: View, owner: string): Steps<readonly string[]> {
  const mark = `"Owner":${JSON.stringify(owner)}`;
  const found: string[] = [];
  for (const key of keysBelow(view, 'owner', TYPES.token)) {
    yield;
    if (view.get(key)?.includes(mark) !== true) continue;
    const [, , ns = '', accessor = ''] = key.split('\u0000');
    if (!isReservedId(accessor)) found.push(keys.token(ns, accessor));
  }
  return found.sort((a, b) => compare(lastPart(a), lastPart(b)));
}

function shownToken(view: View, key: string): string | undefined {
  const token = stored<Token>(view, key);
  if (token === undefined) return undefined;
  const { AccessorID, Namespace, Hash, ExpirationTime } = token;
  const shown: Imports['Tokens'][number] = {
    AccessorID,
    Namespace,
    Hash,
    ...(ExpirationTime !== undefined && { ExpirationTime }),
  };
  return JSON.stringify(shown);
}

async function* piecesOf(view: PinnedView, rendered: Rendered): AsyncIterable<string> {
  yield `{"Index":${stateIndex(view)},"Tokens":`;
  yield* listPieces(view, rendered);
  yield '}\n';
}
