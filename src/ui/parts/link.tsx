/** Links between pages. */
import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { go, hrefOf, type Query } from '../router.js';

/** A page: the segments of its path, and parameters. */
export interface Target {
  readonly to: readonly string[];
  readonly query?: Query;
}

/** A link to a page. The browser's own ways to open links work. */
export function Link({
  to,
  query,
  isCurrent = false,
  kind,
  children,
}: Target & { isCurrent?: boolean; kind?: 'button' | 'main button'; children: ComponentChildren }) {
  const href = hrefOf(to, query);
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(href);
  };
  return (
    <a href={href} class={kind} aria-current={isCurrent ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  );
}
