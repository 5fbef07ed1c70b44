/** Help in the editor for JSON: completions, mistakes, and what the field at the caret is. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  snippet,
} from '@codemirror/autocomplete';
import type { EditorState, Extension, Text } from '@codemirror/state';
import { EditorView, keymap, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import type { Finding } from '../api/types.js';
import { mistakesIn } from './check.js';
import { type Described, type Offers, offersAt, sentenceAt } from './help.js';
import { type JsonText, rangeOf, readJson } from './json-text.js';
import { type Schema, schemaAt, without } from './schema.js';

/** A finding with the characters that it is about. */
export type Found = Finding & { readonly Length?: number };

/** What the server refused in the text. */
export interface Refusal {
  /** JSON pointer within the text. */
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

/** What the help is based on. It may change while the editor is open. */
export interface Known {
  /** The schema of the body that holds the text. */
  readonly body?: Schema | undefined;
  /** Where the text stands in the body; nowhere if it is the body itself. */
  readonly member?: string | undefined;
  /** Members of the body that are not typed in the text. */
  readonly apart?: ReadonlySet<string> | undefined;
  readonly refusal?: Refusal | undefined;
}

/** What is said about a text. */
export interface Checked {
  readonly findings: readonly Found[];
  /** What the field at the caret is. */
  readonly sentence: string | undefined;
}

/** Milliseconds after the last key or move. */
const PAUSE_MS = 300;

let last: { readonly doc: Text; readonly text: JsonText } | undefined;
/** Reads a document once for all that is asked about it. */
function read(doc: Text): JsonText {
  if (last?.doc !== doc) last = { doc, text: readJson(doc.toString()) };
  return last.text;
}

/** Returns a document with its schema; undefined if none is known. */
function described(doc: Text, { body, member, apart }: Known): Described | undefined {
  if (body === undefined) return undefined;
  const whole = apart === undefined ? body : without(body, apart);
  const schema = member === undefined ? whole : schemaAt(body, [member]);
  return schema && { text: read(doc), length: doc.length, schema, body };
}

/** Looks at the text after each pause. `look` looks at once. */
class Watcher {
  readonly #view: EditorView;
  readonly #known: () => Known;
  readonly #onChecked: (checked: Checked) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView, known: () => Known, onChecked: (checked: Checked) => void) {
    this.#view = view;
    this.#known = known;
    this.#onChecked = onChecked;
    this.#plan(0);
  }

  update({ docChanged, selectionSet }: ViewUpdate): void {
    if (docChanged || selectionSet) this.#plan(PAUSE_MS);
  }

  destroy(): void {
    clearTimeout(this.#timer);
  }

  look(): void {
    const { doc, selection } = this.#view.state;
    const known = this.#known();
    const { refusal } = known;
    const text = read(doc);
    const given = described(doc, known);
    const found = mistakesIn(text, given?.schema, given?.body).map(
      ({ code, message, from, to }): Found => {
        return Object.assign(placeOf(doc, from, to), error(code, message));
      },
    );
    if (refusal !== undefined && text.root !== undefined) {
      const { from, to } = rangeOf(text.root, stepsOf(refusal.pointer));
      found.push(Object.assign(placeOf(doc, from, to), error(refusal.code, refusal.message)));
    }
    const sentence = given && sentenceAt(given, selection.main.head);
    this.#onChecked({ findings: found, sentence });
  }

  #plan(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), ms);
  }
}

const error = (code: string, message: string) =>
  ({ Severity: 'error', Code: code, Message: message }) as const;

function placeOf(doc: Text, from: number, to: number) {
  const { number, from: begin, to: end } = doc.lineAt(Math.min(from, doc.length));
  return { Line: number, Column: from - begin + 1, Length: Math.max(0, Math.min(to, end) - from) };
}

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** What may be typed at a place, and the text that it would replace. */
interface Completable extends Offers {
  readonly typed: string;
}

function completable({ doc }: EditorState, at: number, known: Known): Completable | undefined {
  const given = described(doc, known);
  const found = given && offersAt(given, at);
  if (found === undefined) return undefined;
  const typed = doc.sliceString(found.from, found.to);
  // A text without its end goes on to the end of the line.
  const isOpen = typed.startsWith('"') && (typed.length === 1 || !typed.endsWith('"'));
  return { ...found, to: isOpen ? at : found.to, typed };
}

/** Offers names and values for the caret. */
function complete(
  { state, pos, explicit }: CompletionContext,
  known: () => Known,
): CompletionResult | null {
  const found = completable(state, pos, known());
  if (found === undefined || (!explicit && found.typed === '')) return null;
  return {
    // The label is compared with what was typed without its quote.
    from: found.from + (found.typed.startsWith('"') ? 1 : 0),
    validFor: /^[\w-]*$/,
    options: found.offers.map(({ label, detail, info, insert }): Completion => {
      return {
        label,
        ...(detail !== '' && { detail }),
        ...(info !== undefined && { info }),
        apply(view, completion, from, to) {
          const now = completable(view.state, to, known()) ?? { from, to };
          snippet(insert)(view, completion, now.from, now.to);
        },
      };
    }),
  };
}

/** What the help of an editor is made of. */
export interface JsonHelp {
  readonly extension: Extension;
  /** Looks at the text at once. */
  look(view: EditorView): void;
}

/** Makes the help of an editor for JSON. */
export function jsonHelp(known: () => Known, onChecked: (checked: Checked) => void): JsonHelp {
  const plugin = ViewPlugin.define((view) => new Watcher(view, known, onChecked));
  return {
    extension: [
      autocompletion({
        override: [(context) => complete(context, known)],
        icons: false,
        // Enter takes an offer as soon as it is shown. Nobody ends a line inside a name.
        interactionDelay: 0,
      }),
      closeBrackets(),
      keymap.of(closeBracketsKeymap),
      plugin,
      LOOKS,
    ],
    look: (view) => view.plugin(plugin)?.look(),
  };
}

/** How completions look. */
export const LOOKS: Extension = EditorView.theme({
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--quiet)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--mark)',
    color: 'var(--ink)',
    outline: '2px solid var(--focus)',
    outlineOffset: '-2px',
  },
  '.cm-completionDetail': { color: 'var(--quiet)', fontStyle: 'normal' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.4em 0.6em' },
});
