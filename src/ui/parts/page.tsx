/** What every page has: its title, and the focus after a visit. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { place } from '../router.js';
import { useStore } from '../store.js';

let shown = place.get().visit;

/** The content of a page under its heading. The heading gets the focus when the user comes here. */
export function Page({
  title,
  about,
  children,
}: {
  title: string;
  about?: string | undefined;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { visit } = useStore(place);
  useLayoutEffect(() => {
    document.title = `${title} · Conclave`;
  }, [title]);
  // Before the next key, which may move the focus on.
  useLayoutEffect(() => {
    if (visit !== shown) heading.current?.focus();
    shown = visit;
  }, [visit]);
  return (
    <>
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {about !== undefined && <p class="about">{about}</p>}
      {children}
    </>
  );
}
