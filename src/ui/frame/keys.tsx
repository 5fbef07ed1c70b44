/** The keys that work on every page. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.js';
import { Table } from '../parts/table.js';
import { TEXT } from '../texts.js';
import { Palette } from './palette.js';

type Open = 'palette' | 'keys' | undefined;

/** Whether a key is typed into a field. Editors have theirs below a shadow root. */
function isTyped(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/**
 * Presses the main button of the dialog that is open. Without one, submits the form of what has
 * the focus, or else the first of the page.
 */
function save(event: KeyboardEvent): void {
  // A key that is held down would apply what nobody has read.
  if (event.repeat) return;
  // Of two, the last is in front.
  const dialog = [...document.querySelectorAll('dialog')].at(-1);
  if (dialog !== undefined) {
    dialog.querySelector<HTMLButtonElement>('button.main')?.click();
    return;
  }
  const own = event.target instanceof Element ? event.target.closest('form') : null;
  const form = own ?? document.querySelector<HTMLFormElement>('main form:has([type=submit])');
  const button = form?.querySelector<HTMLButtonElement>('[type=submit]');
  if (button?.disabled === false) form!.requestSubmit(button);
}

/** What the keys open. `open` lets a button do the same. */
export function useKeys(): {
  readonly dialog: preact.VNode | undefined;
  open(what: Open): void;
} {
  const [open, setOpen] = useState<Open>();
  // Before the page is painted: a key that is pressed at once must not be lost.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      const isCommand = (ctrlKey || metaKey) && !altKey;
      if (isCommand && key.toLowerCase() === 'k') setOpen('palette');
      else if (isCommand && key === 'Enter') save(event);
      else if (isCommand || altKey || isTyped(event) || document.querySelector('dialog')) return;
      else if (key === '?') setOpen('keys');
      else if (key === '/') document.querySelector<HTMLElement>('main [type=search]')?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  const close = (): void => setOpen(undefined);
  return {
    open: setOpen,
    dialog:
      open === 'palette' ? (
        <Palette onClose={close} />
      ) : open === 'keys' ? (
        <KeysDialog onClose={close} />
      ) : undefined,
  };
}

function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={TEXT.keys.title} onClose={onClose}>
      <Table caption={TEXT.keys.title} columns={TEXT.keys.columns}>
        {TEXT.keys.all.map(([key, what]) => (
          <tr key={key}>
            <th scope="row">
              <kbd>{key}</kbd>
            </th>
            <td>{what}</td>
          </tr>
        ))}
      </Table>
      <button type="button" onClick={onClose}>
        {TEXT.keys.close}
      </button>
    </Dialog>
  );
}
