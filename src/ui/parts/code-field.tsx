/** A field for rules or JSON: a label, and an editor that is loaded when it is shown. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readFirst } from '../lists/page.js';
import type { Checked, Found, Known } from '../schema/editor-help.js';
import type { NamesOf } from '../schema/rules-help.js';
import type { Editor, EditorOptions, Language } from './editor.js';
import { AreaField, type FieldProps } from './field.js';

/** Loads the editor, which is a file of its own. Resolves to undefined if that fails. */
export const loadEditor = () => import('./editor.js').catch(() => undefined);

/** Opens an editor in an element. Returns it once it is loaded; null if it cannot be. */
function useEditor(
  host: RefObject<HTMLDivElement | null>,
  given: EditorOptions,
): Editor | null | undefined {
  const { label, language, isReadOnly } = given;
  const [editor, setEditor] = useState<Editor | null>();
  const latest = useRef(given);
  latest.current = given;
  useEffect(() => {
    let opened: Editor | undefined;
    let isGone = false;
    void loadEditor().then((module) => {
      if (isGone || host.current === null) return;
      if (module === undefined) return setEditor(null);
      const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
      opened = module.openEditor(root, {
        label,
        language,
        text: latest.current.text,
        isReadOnly,
        onChange: (typed) => latest.current.onChange(typed),
        known: () => latest.current.known(),
        namesOf: (...asked) => latest.current.namesOf(...asked),
        onChecked: (checked) => latest.current.onChecked(checked),
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

/** Names that are offered in rules. */
const OFFERED = 20;
const LISTS = { service: '/v1/config/service-defaults', namespace: '/v1/namespaces' };

/** Reads names that exist; none if that fails. */
const namesOf: NamesOf = async (of, typed) => {
  const how = { typed, size: OFFERED, once: true };
  const found = readFirst<{ readonly Name: string }>(LISTS[of], how);
  return found.then(({ items }) => items.map(({ Name }) => Name)).catch(() => []);
};

/** An editor with line numbers. The places of findings are marked. Without it, plain text. */
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
  known = {},
  onChecked = () => {},
}: FieldProps & {
  language: Language;
  findings?: readonly Found[];
  /** What is known about a JSON text. */
  known?: Known;
  onChecked?: (checked: Checked) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useEditor(host, {
    label,
    language,
    text: value,
    isReadOnly: isDisabled,
    onChange: onInput,
    known: () => known,
    namesOf,
    onChecked,
  });
  // Before the next key: a later effect would put back a text that was typed over meanwhile.
  useLayoutEffect(() => editor?.setText(value), [editor, value]);
  const places = findings.flatMap(({ Line: line, Column: column = 1, Length: length = 0 }) =>
    line === undefined ? [] : { line, column, length },
  );
  useEffect(() => editor?.mark(places), [editor, JSON.stringify(places)]);
  useEffect(() => editor?.look(), [editor, known.body, known.refusal]);
  useEffect(() => {
    if (caret !== undefined) editor?.goTo(caret.line, caret.column);
  }, [editor, caret]);
  if (editor === null) {
    const texts = { label, help, error, value, onInput, isDisabled, caret };
    return <AreaField {...texts} rows={8} />;
  }
  return (
    <div class="field">
      <span class="label">{label}</span>
      <div class={isDisabled ? 'editor fixed' : 'editor'} ref={host} />
      {help !== undefined && <p class="help">{help}</p>}
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
