/** Room for what may be wider than the page. */
import type { ComponentChildren } from 'preact';

/** Content that scrolls sideways, by keyboard too. */
export function Scroll({
  label,
  kind = 'scroll',
  children,
}: {
  label: string;
  kind?: string;
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll only what has the focus
    <section class={kind} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
