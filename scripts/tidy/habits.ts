/** Size, width, doc comments, and idioms that this project does not use. */
import { basename } from 'node:path';
import {
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isSpreadAssignment,
  isTypeAliasDeclaration,
  isVariableDeclaration,
  isVariableStatement,
  type Node,
  type SignatureDeclaration,
  SyntaxKind,
} from 'typescript/unstable/ast';
import type { Finding } from './findings.js';
import { layerOf, placeOf, type Source, walk } from './sources.js';
import { type Exported, exportsOf } from './usage.js';

/** Columns of a line of code or prose. */
export const WIDTH_MAX = 100;
const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 60;

/** Returns the lines that are too wide. The formatter breaks code, but not comments and text. */
export function wide({ path, file }: Source): Finding[] {
  return file.text.split('\n').flatMap((line, index) =>
    [...line].length <= WIDTH_MAX
      ? []
      : [
          {
            rule: 'width',
            at: `${path}:${index + 1}`,
            bucket: path,
            message: `${[...line].length} characters, ${WIDTH_MAX} at most`,
          },
        ],
  );
}

/** Returns a finding if a file is too long. */
export function longFile({ path, file }: Source): Finding[] {
  const lines = file.text.split('\n').length - 1;
  if (lines <= FILE_LINES_MAX) return [];
  const message = `${lines} lines, ${FILE_LINES_MAX} at most`;
  return [{ rule: 'fileLines', at: path, bucket: path, size: lines, message }];
}

/** Returns the name of a function, a method or a function in a constant; undefined for others. */
function functionName(node: Node): string | undefined {
  if (isFunctionDeclaration(node) || isMethodDeclaration(node)) return node.name?.getText();
  if (isConstructorDeclaration(node)) return 'constructor';
  if (!isArrowFunction(node) && !isFunctionExpression(node)) return undefined;
  return isVariableDeclaration(node.parent) ? node.parent.name.getText() : undefined;
}

/** Returns the named functions that are too long. */
export function longFunctions(source: Source): Finding[] {
  const { path, file } = source;
  const findings: Finding[] = [];
  const line = (position: number): number => file.getLineAndCharacterOfPosition(position).line;
  walk(file, (node) => {
    const name = functionName(node);
    if (name === undefined) return;
    const size = line(node.getEnd()) - line(node.getStart(file)) + 1;
    if (size <= FUNCTION_LINES_MAX) return;
    const message = `${name}: ${size} lines, ${FUNCTION_LINES_MAX} at most`;
    const bucket = `${path}#${name}`;
    findings.push({ rule: 'functionLines', at: placeOf(source, node), bucket, size, message });
  });
  return findings;
}

/** Endings of names whose members, or whose place, say what there is to say. */
const PLAIN_ENDING =
  /(Parts|Options|Props|Routes|Page|Commands|UseCases|_TEXT|_OPERATIONS|_HANDLERS|_COLUMNS)$/;
/** Calls that are given a sentence for each member. */
const DECLARING = /^(define\w+|objectType|bodyOf|rows|tagged)[<(]/;

/** Whether a function registers commands, or is a type guard: its signature says so. */
function isPlainFunction(name: string, { parameters, type }: SignatureDeclaration): boolean {
  const registers = /^add[A-Z]/.test(name) && parameters[0]?.type?.getText() === 'Command';
  return registers || type?.kind === SyntaxKind.TypePredicate;
}

/**
 * Whether a doc comment would only repeat the name: of what has a plain ending, of a type derived
 * from a constant or from a member, of a constant of one word, of a declaration with sentences.
 */
function speaksForItself({ name, node }: Exported): boolean {
  if (PLAIN_ENDING.test(name)) return true;
  if (isFunctionDeclaration(node)) return isPlainFunction(name, node);
  if (isTypeAliasDeclaration(node))
    return /\btypeof \w/.test(node.getText()) || node.type.kind === SyntaxKind.IndexedAccessType;
  if (!isVariableStatement(node)) return false;
  const [declared] = node.declarationList.declarations;
  if (declared?.initializer === undefined) return false;
  if (isArrowFunction(declared.initializer)) return isPlainFunction(name, declared.initializer);
  return /^([A-Z]+|[a-z]+)$/.test(name) || DECLARING.test(declared.initializer.getText());
}

/** Whether the head of a file describes this export, after which the file is named. */
function isNamesake({ path, file }: Source, { name }: Exported): boolean {
  const fileName = basename(path)
    .replace(/\.tsx?$/, '')
    .replaceAll('-', '');
  return file.text.startsWith('/**') && name.replaceAll('_', '').toLowerCase() === fileName;
}

/** Returns the exports of the product that lack a doc comment. */
export function undocumented(source: Source): Finding[] {
  if (!/^(?:src|clients)\//.test(source.path)) return [];
  return exportsOf(source)
    .filter(({ node }) => node.jsDoc === undefined)
    .filter((one) => !speaksForItself(one) && !isNamesake(source, one))
    .map(({ name, node }) => ({
      rule: 'undocumented',
      at: placeOf(source, node),
      bucket: layerOf(source.path),
      message: `${name}: no doc comment`,
    }));
}

/** The text for each idiom, and what to write instead. */
const IDIOMS = {
  spread: 'a literal spread into a literal: write its members',
  private: 'the keyword private: name the member #like this',
  any: 'the type any',
  exclusive: 'a test that is skipped, or that leaves out the others',
} as const;

function idiomOf(node: Node): keyof typeof IDIOMS | undefined {
  if (isSpreadAssignment(node) && isObjectLiteralExpression(node.expression)) return 'spread';
  if (node.kind === SyntaxKind.PrivateKeyword) return 'private';
  if (node.kind === SyntaxKind.AnyKeyword) return 'any';
  if (!isPropertyAccessExpression(node)) return undefined;
  const [owner, name] = [node.expression.getText(), node.name.getText()];
  return /^(?:describe|it|context)$/.test(owner) && /^(?:only|skip)$/.test(name)
    ? 'exclusive'
    : undefined;
}

/** Returns the uses of idioms that this project does not accept. */
export function idioms(source: Source): Finding[] {
  const findings: Finding[] = [];
  walk(source.file, (node) => {
    const rule = idiomOf(node);
    if (rule === undefined) return;
    const bucket = source.path;
    findings.push({ rule, at: placeOf(source, node), bucket, message: IDIOMS[rule] });
  });
  return findings;
}
