/**
 * Keeps secrets out of explanations. What people write into names, rules and claims is shown, so a
 * SecretID that somebody wrote there would be shown too.
 */
import type { Hide } from '../../languages/shown-values.js';
import { keys } from '../../state/keys.js';
import { secretKeyOf } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { HIDDEN } from '../common/reading.js';

/** SecretIDs are UUIDs. */
const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Shorter texts are no secrets: replacing them would spoil the answer. */
const SECRET_LENGTH_MIN = 16;

/**
 * Returns a text without SecretIDs of this state and without the given secrets. None of them has a
 * character that JSON escapes, so the text may be JSON.
 */
export function withoutSecrets(view: View, text: string, secrets: readonly string[] = []): string {
  const known = new Map<string, string>();
  const shown = text.replace(UUIDS, (uuid) => {
    let shownAs = known.get(uuid);
    if (shownAs === undefined) {
      const isSecret = view.get(keys.tokenSecret(secretKeyOf(uuid))) !== undefined;
      shownAs = isSecret ? HIDDEN : uuid;
      known.set(uuid, shownAs);
    }
    return shownAs;
  });
  return hiding(secrets)(shown);
}

/** Returns a function that hides the given secrets in a text. */
export const hiding =
  (secrets: readonly string[]): Hide =>
  (text) => {
    let shown = text;
    for (const secret of secrets) {
      if (secret.length >= SECRET_LENGTH_MIN) shown = shown.replaceAll(secret, HIDDEN);
    }
    return shown;
  };
