/** The secret of a new token, which the server shows once. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { newSecret } from '../objects/types.js';
import { Link } from '../parts/link.js';
import { Status } from '../parts/notice.js';
import { place } from '../router.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';

/** Stays above every page until the user says that they have it, and takes the focus of each. */
export function NewSecret() {
  const made = useStore(newSecret);
  const { visit } = useStore(place);
  const [copied, setCopied] = useState<string>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // After the page has given the focus to its own heading.
    const frame = requestAnimationFrame(() => heading.current?.focus());
    return () => cancelAnimationFrame(frame);
  }, [made, visit]);
  useEffect(() => {
    if (made === undefined) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [made]);
  if (made === undefined) return null;
  const { accessor, secret } = made;
  return (
    <section class="notice good secret" aria-labelledby="secret">
      <h2 id="secret" tabIndex={-1} ref={heading}>
        {TEXT.token.secret}
      </h2>
      <p>
        {TEXT.token.once} <Link to={['tokens', accessor]}>{TEXT.token.secretOf}</Link>
      </p>
      <div class="row">
        <code>{secret}</code>
        {window.isSecureContext && (
          <button
            type="button"
            onClick={async () => {
              await navigator.clipboard.writeText(secret);
              setCopied(secret);
            }}
          >
            {TEXT.token.copy}
          </button>
        )}
        <button type="button" onClick={() => newSecret.set(undefined)}>
          {TEXT.token.haveIt}
        </button>
      </div>
      <Status>{copied === secret && TEXT.token.copied}</Status>
    </section>
  );
}
