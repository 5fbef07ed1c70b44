/** The editor for rules and JSON. A module of its own, which is loaded when it is needed. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
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
import { type Checked, jsonHelp, type Known } from '../schema/editor-help.js';
import { type NamesOf, rulesHelp } from '../schema/rules-help.js';

/** The languages of the editor. */
export type Language = 'rules' | 'json';

/** A place that is marked, counted from 1. */
export interface MarkedPlace {
  readonly line: number;
  readonly column: number;
  /** How many characters are meant; 0 for the line alone. */
  readonly length: number;
}

/** An editor on the page. */
export interface Editor {
  /** Replaces the text, unless it is the same. */
  setText(text: string): void;
  /** Marks lines, and in them the characters that are meant. */
  mark(places: readonly MarkedPlace[]): void;
  /** Looks again at a JSON text, because what is known about it has changed. */
  look(): void;
  /** Puts the caret to a place, counted from 1. */
  goTo(line: number, column: number): void;
  close(): void;
}

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
  '.meant': { textDecoration: 'underline wavy var(--bad)', textDecorationSkipInk: 'none' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--mark)' },
});

const setMarks = StateEffect.define<readonly MarkedPlace[]>();
const LINE = Decoration.line({ class: 'marked' });
const MEANT = Decoration.mark({ class: 'meant' });
const MARKS = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, changes, newDoc }) {
    let after = marks.map(changes);
    for (const effect of effects) {
      if (!effect.is(setMarks)) continue;
      after = Decoration.set(
        effect.value
          .filter(({ line }) => line >= 1 && line <= newDoc.lines)
          .flatMap((place) => {
            const { from, to } = newDoc.line(place.line);
            const begin = Math.min(from + place.column - 1, to);
            const end = Math.min(begin + place.length, to);
            return [LINE.range(from), ...(end > begin ? [MEANT.range(begin, end)] : [])];
          }),
        true,
      );
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
  /** What is known about a JSON text. */
  readonly known: () => Known;
  /** Returns names for rules. */
  readonly namesOf: NamesOf;
  /** Called with what is said about a JSON text. */
  readonly onChecked: (checked: Checked) => void;
}

/**
 * Opens an editor below a shadow root. Its styles are adopted there: the page's policy forbids
 * style elements.
 */
export function openEditor(root: ShadowRoot, given: EditorOptions): Editor {
  const { label, language, text, isReadOnly, onChange } = given;
  // The editor knows one end of lines alone. Texts keep theirs.
  const lineEnd = /\r\n?/.exec(text)?.[0];
  const help = language === 'json' ? jsonHelp(given.known, given.onChecked) : undefined;
  const extensions: Extension[] = [
    lineNumbers(),
    history(),
    // The page saves by Ctrl+Enter, by which the editor would add a line.
    keymap.of([{ key: 'Mod-Enter', run: () => true }, ...defaultKeymap, ...historyKeymap]),
    bracketMatching(),
    highlightActiveLine(),
    help === undefined ? rulesHelp(given.namesOf) : [json(), help.extension],
    indentOnInput(),
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
      if (update.docChanged) onChange(update.state.doc.sliceString(0, undefined, lineEnd));
    }),
  ];
  const view = new EditorView({ doc: text, extensions, parent: root, root });
  return {
    setText(next) {
      const { doc } = view.state;
      if (doc.toString() === next.replaceAll(/\r\n?/g, '\n')) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    mark: (places) => view.dispatch({ effects: setMarks.of(places) }),
    look: () => help?.look(view),
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
