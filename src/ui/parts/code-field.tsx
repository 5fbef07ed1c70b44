/** A field for rules or JSON: a label, and an editor that is loaded when it is shown. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Finding } from '../api/types.js';
import type { Editor, EditorOptions, Language } from './editor.js';
import type { FieldProps } from './field.js';

/** Loads the editor, which is a file of its own. */
export const loadEditor = () => import('./editor.js');

/** Opens an editor in an element while it is shown. Returns it once it is loaded. */
function useEditor(
  host: RefObject<HTMLDivElement | null>,
  given: Omit<EditorOptions, 'onChange'>,
  onChange: (text: string) => void,
): Editor | undefined {
  const { label, language, text, isReadOnly } = given;
  const [editor, setEditor] = useState<Editor>();
  const latest = useRef({ text, onChange });
  latest.current = { text, onChange };
  useEffect(() => {
    let opened: Editor | undefined;
    let isGone = false;
    void loadEditor().then(({ openEditor }) => {
      if (isGone || host.current === null) return;
      const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
      opened = openEditor(root, {
        label,
        language,
        text: latest.current.text,
        isReadOnly,
        onChange: (typed) => latest.current.onChange(typed),
      });
      setEditor(opened);
    });
    return () => {
      isGone = true;
      opened?.close();
    };
  }, [label, language, isReadOnly]);
  return editor;
}

/** An editor with line numbers. The lines of findings are marked. */
export function CodeField({
  label,
  help,
  error,
  value,
  onInput,
  isDisabled = false,
  language,
  findings = [],
  caret,
}: FieldProps & {
  language: Language;
  findings?: readonly Finding[];
}) {
  const host = useRef<HTMLDivElement>(null);
  const given = { label, language, text: value, isReadOnly: isDisabled };
  const editor = useEditor(host, given, onInput);
  // Before the next key: a later effect would put back a text that was typed over meanwhile.
  useLayoutEffect(() => editor?.setText(value), [editor, value]);
  const lines = findings.flatMap(({ Line }) => Line ?? []);
  useEffect(() => editor?.mark(lines), [editor, lines.join()]);
  useEffect(() => {
    if (caret !== undefined) editor?.goTo(caret.line, caret.column);
  }, [editor, caret]);
  return (
    <div class="field">
      <span class="label">{label}</span>
      <div class="editor" ref={host} />
      {help !== undefined && <p class="help">{help}</p>}
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
