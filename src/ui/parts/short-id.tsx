/** IDs in tables: their beginning tells them apart, the whole is copied. */
import { useState } from 'preact/hooks';
import { TEXT } from '../texts.js';
import { Icon } from './icon.js';

/** Characters that are shown. */
export const SHORT = 8;

/** The beginning of an ID, with a button that copies all of it. */
export function ShortId({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(id);
    setCopied(true);
  };
  return (
    <span class="id">
      <code title={id}>{id.slice(0, SHORT)}</code>
      {window.isSecureContext && (
        <button type="button" aria-label={TEXT.list.copy(id)} onClick={() => void copy()}>
          <Icon name={isCopied ? 'done' : 'copy'} />
        </button>
      )}
    </span>
  );
}
