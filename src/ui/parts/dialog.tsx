/** Dialogs: the page behind them waits. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * A dialog that is open while it is drawn. It is read from its title on, unless a field has the
 * attribute `autofocus`. Escape closes it; then the focus returns.
 */
export function Dialog({
  title,
  kind,
  onClose,
  children,
}: {
  title: string;
  kind?: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  // Before the next key, which is meant for the dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    const first = dialog?.querySelector<HTMLElement>('[autofocus]');
    (first ?? heading.current)?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Browsers close a dialog by a repeated Escape, whatever the page says.
      onClose={() => element.current?.showModal()}
    >
      <h2 id={id} tabIndex={-1} ref={heading}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}
