/** A text for programs, with a button that copies it. */
import { useState } from 'preact/hooks';
import { TEXT } from '../texts.js';
import { Status } from './notice.js';
import { Scroll } from './table.js';

/** The text below its title. */
export function Copied({ title, text }: { title: string; text: string }) {
  const [copied, setCopied] = useState<string>();
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  return (
    <section aria-label={title}>
      <div class="row">
        <h3>{title}</h3>
        {window.isSecureContext && (
          <button type="button" onClick={() => void copy()}>
            {TEXT.token.copy}
          </button>
        )}
        <Status>{copied === text && TEXT.token.copied}</Status>
      </div>
      <Scroll label={TEXT.decisions.scrolls(title)} kind="command">
        <pre>{text}</pre>
      </Scroll>
    </section>
  );
}
