/** Help in the editor for rules: completions, indentation, closing of braces and quotes. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  snippet,
} from '@codemirror/autocomplete';
import { indentUnit, StreamLanguage } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { LOOKS } from './editor-help.js';
import { type RuleOffers, ruleOffers } from './rules-text.js';

/** Returns names that exist and that begin with what was typed, or have it. */
export type NamesOf = (of: 'service' | 'namespace', typed: string) => Promise<readonly string[]>;

/** Policy rules: blocks, names, quoted texts and comments. */
const RULES = StreamLanguage.define<{ depth: number }>({
  startState: () => ({ depth: 0 }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match('#') || stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(/^\w+/)) return 'keyword';
    const sign = stream.next();
    if (sign === '{') state.depth += 1;
    if (sign === '}') state.depth = Math.max(0, state.depth - 1);
    return null;
  },
  indent: ({ depth }, after, { unit }) => (depth - (/^\s*}/.test(after) ? 1 : 0)) * unit,
  languageData: { closeBrackets: { brackets: ['{', '"'] }, indentOnInput: /^\s*}$/ },
});

/** Offers resources, names and levels for the caret. */
async function complete(
  { state, pos, explicit }: CompletionContext,
  namesOf: NamesOf,
): Promise<CompletionResult | null> {
  const found = ruleOffers(state.sliceDoc(0, pos));
  if (found === undefined || (!explicit && found.from === pos && !isAfterQuote(found, state, pos)))
    return null;
  const { from, offers, names } = found;
  if (names === undefined) return { from, options: offers.map(optionOf), validFor: /^[\w-]*$/ };
  const known = await namesOf(names, state.sliceDoc(from, pos));
  return { from, options: known.map((label) => ({ label })) };
}

/** In a quote that was just opened, what fits is offered by itself. */
const isAfterQuote = ({ from }: RuleOffers, state: CompletionContext['state'], pos: number) =>
  from === pos && state.sliceDoc(pos - 1, pos) === '"';

const optionOf = ({ label, insert }: RuleOffers['offers'][number]): Completion => ({
  label,
  apply: snippet(insert),
});

/** Makes the language of an editor for rules with its help. */
export const rulesHelp = (namesOf: NamesOf): Extension => [
  RULES,
  indentUnit.of('  '),
  autocompletion({
    override: [(context) => complete(context, namesOf)],
    icons: false,
    interactionDelay: 0,
  }),
  closeBrackets(),
  keymap.of([...closeBracketsKeymap, ...completionKeymap]),
  LOOKS,
];
