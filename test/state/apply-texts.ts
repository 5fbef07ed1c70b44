/** Gathers, from the source, the texts that apply puts into the replicated state. */
import {
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { readSources } from '../../scripts/tidy/sources.js';

/** Apply is all of `state/`, the rules of `kinds/` that it evaluates, and shared refusals. */
const RULES = [
  'chain|chain-causes|chain-graph|conditions|conflicts|cross-entry-rules|gateway-status',
  'problems|provider-rules|targets',
];
const APPLY = new RegExp(`^src/(?:base/errors\\.ts$|state/|kinds/(?:${RULES.join('|')})\\.ts$)`);
/** Calls whose texts stay out of the state: they stop the node, or document a field. */
const OUTSIDE = new Set(['FatalError', 'Error', 'invariant', 'keep', 'omit', 'computed']);
/** Members that document an object. */
const DOCUMENTS = new Set(['description', 'noun']);
/** At least two words, or a word and a value. */
const SENTENCE = /[A-Za-z"'}:,] [A-Za-z"'$]/;

/** Returns a text with `${}` for what is put into it; undefined for what is no text. */
function textOf(node: Node): string | undefined {
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ literal }) => `\${}${literal.text}`);
    return node.head.text + spans.join('');
  }
  if (!isBinaryExpression(node) || node.operatorToken.kind !== SyntaxKind.PlusToken)
    return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  if (left === undefined && right === undefined) return undefined;
  return `${left ?? '${}'}${right ?? '${}'}`;
}

function isOutside(node: Node): boolean {
  if (isPropertyAssignment(node)) return DOCUMENTS.has(node.name.getText());
  const isCall = isCallExpression(node) || isNewExpression(node);
  return isCall && isIdentifier(node.expression) && OUTSIDE.has(node.expression.text);
}

function gather(node: Node, found: Set<string>): void {
  if (isOutside(node)) return;
  const text = textOf(node);
  // Sentences of documentation end in a full stop.
  if (text !== undefined && SENTENCE.test(text) && !text.endsWith('.')) found.add(text);
  if (text !== undefined && !isTemplateExpression(node)) return;
  node.forEachChild((child) => {
    gather(child, found);
    return undefined;
  });
}

/** Returns the texts of apply in the source below `root`, in alphabetical order. */
export function applyTexts(root: string): string[] {
  const found = new Set<string>();
  for (const { path, file } of readSources(root)) if (APPLY.test(path)) gather(file, found);
  return [...found].sort();
}
