/** What became of the last write, told on the page that it leads to. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { Status } from '../parts/notice.js';

let pending: string | undefined;

/** Leaves a note for the next page. */
export function leaveNote(text: string): void {
  pending = text;
}

/** Shows the note that was left for this page until it is over, as when the next write begins. */
export function Note({ isOver = false }: { isOver?: boolean }) {
  const [text, setText] = useState<string>();
  useEffect(() => {
    setText(pending);
    pending = undefined;
  }, []);
  useLayoutEffect(() => {
    if (isOver) setText(undefined);
  }, [isOver]);
  return <Status>{text}</Status>;
}
