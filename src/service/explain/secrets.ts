/**
 * Keeps secrets out of explanations. What people write into names, rules and claims is shown, so a
 * SecretID that somebody wrote there would be shown too.
 */
import type { Hide } from '../../languages/shown-values.js';
import { keys } from '../../state/keys.js';
import { secretKeyOf } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { HIDDEN } from '../common/reading.js';

/**
 * SecretIDs are UUIDs. Each is found by its first hyphen: an answer has up to a million letters and
 * digits, and few hyphens.
 */
const UUIDS = /(?<=([0-9a-f]{8}))-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Shorter texts are no secrets: replacing them would spoil the answer. */
const SECRET_LENGTH_MIN = 16;

/** Whether a text is a SecretID of this state. One that was imported need be no UUID. */
export const isSecretId = (view: View, text: string): boolean =>
  view.get(keys.tokenSecret(secretKeyOf(text))) !== undefined;

/**
 * Returns a text without SecretIDs of this state and without the given secrets. None of them has a
 * character that JSON escapes, so the text may be JSON.
 */
export function withoutSecrets(view: View, text: string, secrets: readonly string[] = []): string {
  const known = new Map<string, boolean>();
  let shown = '';
  let end = 0;
  for (const { 0: rest, 1: start = '', index } of text.matchAll(UUIDS)) {
    const uuid = start + rest;
    let isSecret = known.get(uuid);
    if (isSecret === undefined) {
      isSecret = isSecretId(view, uuid);
      known.set(uuid, isSecret);
    }
    if (!isSecret) continue;
    shown += text.slice(end, index - start.length) + HIDDEN;
    end = index + rest.length;
  }
  return hiding(secrets)(shown + text.slice(end));
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
