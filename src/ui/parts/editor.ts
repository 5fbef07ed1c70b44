/** The editor for rules and JSON. A module of its own, which is loaded when it is needed. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  HighlightStyle,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language';
import { EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The languages of the editor. */
export type Language = 'rules' | 'json';

/** An editor on the page. */
export interface Editor {
  /** Replaces the text, unless it is the same. */
  setText(text: string): void;
  /** Marks lines, counted from 1. */
  mark(lines: readonly number[]): void;
  /** Puts the caret to a place, counted from 1. */
  goTo(line: number, column: number): void;
  close(): void;
}

/** Policy rules: blocks, names, quoted texts and comments. */
const RULES = StreamLanguage.define<null>({
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match('#') || stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(/^\w+/)) return 'keyword';
    stream.next();
    return null;
  },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.propertyName], color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-value)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
]);

const LOOKS = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--field)' },
  '&.cm-focused': { outline: '3px solid var(--focus)' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--ink)', minHeight: '8em' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--quiet)', border: 'none' },
  '.cm-scroller': { overflow: 'auto', maxHeight: '32em', lineHeight: '1.5' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--mark)' },
  '.marked': { backgroundColor: 'var(--warn-back)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--mark)' },
});

const setMarks = StateEffect.define<readonly number[]>();
const MARK = Decoration.line({ class: 'marked' });
const MARKS = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, changes, newDoc }) {
    let after = marks.map(changes);
    for (const effect of effects) {
      if (!effect.is(setMarks)) continue;
      const lines = [...new Set(effect.value)].filter((line) => line >= 1 && line <= newDoc.lines);
      const sorted = lines.sort((a, b) => a - b);
      after = Decoration.set(sorted.map((line) => MARK.range(newDoc.line(line).from)));
    }
    return after;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** How an editor is opened. */
export interface EditorOptions {
  readonly label: string;
  readonly language: Language;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

/**
 * Opens an editor below a shadow root. Its styles are adopted there: the page's policy forbids
 * style elements.
 */
export function openEditor(root: ShadowRoot, given: EditorOptions): Editor {
  const { label, language, text, isReadOnly, onChange } = given;
  const extensions: Extension[] = [
    lineNumbers(),
    history(),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    bracketMatching(),
    highlightActiveLine(),
    language === 'json' ? json() : RULES,
    syntaxHighlighting(COLOURS),
    LOOKS,
    MARKS,
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-readonly': String(isReadOnly),
      spellcheck: 'false',
      tabindex: '0',
    }),
    EditorState.readOnly.of(isReadOnly),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
  const view = new EditorView({ doc: text, extensions, parent: root, root });
  return {
    setText(next) {
      const { doc } = view.state;
      if (doc.toString() === next) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    mark: (lines) => view.dispatch({ effects: setMarks.of(lines) }),
    goTo(line, column) {
      const { doc } = view.state;
      const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
      const anchor = Math.min(from + column - 1, to);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
      view.focus();
    },
    close: () => view.destroy(),
  };
}
