/** The limits that are constants in the source, each with the comment that gives its reason. */
import {
  getTextOfJSDocComment,
  isIdentifier,
  isInterfaceDeclaration,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isVariableStatement,
  type JSDoc,
  type Node,
  type PropertyAssignment,
  type VariableStatement,
} from 'typescript/unstable/ast';
import { layerOf, readSources, type Source, walk } from '../tidy/sources.js';

/** A limit in the source. */
export interface Constant {
  readonly name: string;
  /** The value as written in the source. */
  readonly value: string;
  readonly reason: string;
  readonly path: string;
}

/** A name that says how much, how long or how often. Other numbers are part of a format. */
const LIMIT =
  /(?:^|_)(?:MAX|MIN|MS|BYTES|CHARS|LENGTH|ENTRIES|RECORDS|OPERATIONS|TICKS|TURNS?|KEPT|SLOTS|STEP|EVERY|SECONDS|FACTOR|MARGIN|SHARE|WINDOW|BACKLOG|ATTEMPTS|TIMEOUTS|AT_ONCE|PER|BUDGET|ASKS|FROM|JITTER)(?:_|$)/;
/** A number, or arithmetic on numbers and other constants. */
const NUMBER = /^[\w\s.*/+()-]*\d[\w\s.*/+()-]*$/;
/** Objects of limits that are not settings. */
const OBJECT = 'DEFAULT_LIMITS';

/**
 * The constants of the product by layer, in the order of the files; not those that are `settings`.
 */
export function constantsOf(
  root: string,
  settings: ReadonlySet<string>,
): ReadonlyMap<string, readonly Constant[]> {
  const sources = readSources(root).filter(({ path }) => path.startsWith('src/'));
  const byLayer = new Map<string, Constant[]>();
  for (const source of sources) {
    const found = [...topLevel(source), ...members(source, sources)].filter(
      ({ name }) => !settings.has(name),
    );
    const layer = layerOf(source.path);
    byLayer.set(layer, [...(byLayer.get(layer) ?? []), ...found]);
  }
  return byLayer;
}

/** The constants of a file. One without its own comment has that of the number above it. */
function topLevel(source: Source): Constant[] {
  const found: Constant[] = [];
  let above: { readonly end: number; readonly reason: string } | undefined;
  for (const statement of source.file.statements) {
    if (!isVariableStatement(statement)) continue;
    const [declaration] = statement.declarationList.declarations;
    const name = declaration?.name.getText() ?? '';
    const value = declaration?.initializer?.getText() ?? '';
    const line = source.file.getLineAndCharacterOfPosition(statement.getStart(source.file)).line;
    const reason = docOf(statement) ?? (above?.end === line - 1 ? above.reason : undefined);
    const { line: end } = source.file.getLineAndCharacterOfPosition(statement.getEnd());
    const isNumber = NUMBER.test(value);
    above = reason === undefined || !isNumber ? undefined : { end, reason };
    if (!LIMIT.test(name) || !isNumber) continue;
    found.push({ name, value, reason: reason ?? '', path: source.path });
  }
  return found;
}

/** The members of an object of limits; their reasons are beside them or in an interface. */
function members(source: Source, all: readonly Source[]): Constant[] {
  const found: Constant[] = [];
  for (const statement of source.file.statements) {
    if (!isVariableStatement(statement) || nameOf(statement) !== OBJECT) continue;
    const object = statement.declarationList.declarations[0]!.initializer;
    if (object === undefined || !isObjectLiteralExpression(object)) continue;
    for (const member of object.properties) {
      if (!isPropertyAssignment(member)) continue;
      const name = member.name.getText();
      const reason = commentBefore(source, member) ?? docOfMember(name, all, source);
      const value = member.initializer.getText();
      found.push({ name, value, reason: reason ?? '', path: source.path });
    }
  }
  return found;
}

const nameOf = (statement: VariableStatement): string | undefined =>
  statement.declarationList.declarations[0]?.name.getText();

/** The doc comment of a node on one line. */
function docOf({ jsDoc }: Node): string | undefined {
  const last = jsDoc?.at(-1) as JSDoc | undefined;
  return last === undefined ? undefined : getTextOfJSDocComment(last.comment)?.replace(/\s+/g, ' ');
}

/** The `//` comment on the lines before a member. */
function commentBefore(source: Source, member: PropertyAssignment): string | undefined {
  const before = source.file.text.slice(member.getFullStart(), member.getStart(source.file));
  const lines = before.split('\n').filter((line) => line.trim().startsWith('//'));
  if (lines.length === 0) return undefined;
  return lines.map((line) => line.trim().slice(2).trim()).join(' ');
}

/** The doc comment of a member of this name in an interface `…Limits`, nearby files first. */
function docOfMember(name: string, all: readonly Source[], near: Source): string | undefined {
  const layer = layerOf(near.path);
  const sorted = [near, ...all.filter(({ path }) => layerOf(path) === layer)];
  for (const { file } of [...sorted, ...all]) {
    let doc: string | undefined;
    let above: string | undefined;
    walk(file, (node) => {
      if (!isInterfaceDeclaration(node) || !/Limits$|Timing$/.test(node.name.text)) return;
      for (const member of node.members) {
        above = docOf(member) ?? above;
        const { name: own } = member as { name?: Node };
        if (own !== undefined && isIdentifier(own) && own.text === name) doc ??= above;
      }
    });
    if (doc !== undefined) return doc;
  }
  return undefined;
}
