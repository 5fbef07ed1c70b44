/** What became of the last write, told on the page that it leads to. */
import { useEffect, useState } from 'preact/hooks';
import { Status } from '../parts/notice.js';

let pending: string | undefined;

/** Leaves a note for the next page. */
export function leaveNote(text: string): void {
  pending = text;
}

/** Shows the note that was left for this page. */
export function Note() {
  const [text, setText] = useState<string>();
  useEffect(() => {
    setText(pending);
    pending = undefined;
  }, []);
  return <Status>{text}</Status>;
}
