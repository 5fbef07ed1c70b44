/**
 * Finds unused files, exports and members. Names are matched as text, so a member counts as used if
 * another one has its name.
 */
import { posix } from 'node:path';
import {
  type HeritageClause,
  type Identifier,
  isBindingElement,
  isCallExpression,
  isClassDeclaration,
  isExportDeclaration,
  isExportSpecifier,
  isGetAccessorDeclaration,
  isIdentifier,
  isImportClause,
  isImportDeclaration,
  isImportSpecifier,
  isImportTypeNode,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isNamedExports,
  isNamespaceImport,
  isObjectBindingPattern,
  isPrivateIdentifier,
  isPropertyAccessExpression,
  isPropertyDeclaration,
  isStringLiteral,
  isTypeAliasDeclaration,
  isVariableDeclaration,
  isVariableStatement,
  type Node,
  type Statement,
  SyntaxKind,
} from 'typescript/unstable/ast';
import type { Finding } from './findings.js';
import { placeOf, type Source, walk } from './sources.js';

/** Stands for every name of a module. */
const ALL = '*';

/** What one file imports from another. */
interface Import {
  /** The file, relative to the root of the project. */
  readonly path: string;
  readonly names: readonly string[];
}

/** Returns the exports of a statement, with their nodes. */
export interface Exported {
  readonly name: string;
  readonly node: Node;
}

/** Returns the name of a file as others import it: a file of JSX is imported as any other. */
const moduleOf = (path: string): string => path.replace(/\.tsx$/, '.ts');

/** Returns the file that `specifier` means in the file `from`, if it is one of the project. */
function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts');
}

/**
 * Returns the names in `const { a, b } = await import('…')`. Returns `ALL` if the module is used in
 * another way.
 */
function namesOfDynamicImport(call: Node): string[] {
  const declaration = call.parent.kind === SyntaxKind.AwaitExpression && call.parent.parent;
  if (!declaration || !isVariableDeclaration(declaration)) return [ALL];
  if (!isObjectBindingPattern(declaration.name)) return [ALL];
  return declaration.name.elements.map(
    (element) => (element.propertyName ?? element.name)?.getText() ?? ALL,
  );
}

/** Returns everything that a file imports from the project, including re-exports. */
function importsOf({ path, file }: Source): Import[] {
  const found: Import[] = [];
  const add = (specifier: Node, names: readonly string[]): void => {
    if (!isStringLiteral(specifier)) return;
    const target = resolveImport(path, specifier.text);
    if (target !== undefined) found.push({ path: target, names });
  };
  walk(file, (node) => {
    if (isImportDeclaration(node)) add(node.moduleSpecifier, namesOfClause(node.importClause));
    else if (isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      const { exportClause } = node;
      const named = exportClause !== undefined && isNamedExports(exportClause);
      add(node.moduleSpecifier, named ? exportClause.elements.map(importedName) : [ALL]);
    } else if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword)
      add(node.arguments[0]!, namesOfDynamicImport(node));
    else if (isImportTypeNode(node)) walk(node.argument, (part) => add(part, [ALL]));
  });
  return found;
}

function importedName(specifier: Node): string {
  if (!isImportSpecifier(specifier) && !isExportSpecifier(specifier)) return ALL;
  return (specifier.propertyName ?? specifier.name).getText();
}

function namesOfClause(clause: Node | undefined): string[] {
  if (clause === undefined || !isImportClause(clause)) return [];
  const { name, namedBindings } = clause;
  const named =
    namedBindings === undefined
      ? []
      : isNamespaceImport(namedBindings)
        ? [ALL]
        : namedBindings.elements.map(importedName);
  return name === undefined ? named : ['default', ...named];
}

const isExported = (statement: Statement): boolean =>
  (statement as { modifiers?: readonly Node[] }).modifiers?.some(
    (modifier) => modifier.kind === SyntaxKind.ExportKeyword,
  ) === true;

/** What a file declares and exports. */
export function exportsOf({ file }: Source): Exported[] {
  return file.statements.filter(isExported).flatMap((statement): Exported[] => {
    if (isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => ({
        name: name.getText(),
        node: statement,
      }));
    const { name } = statement as { name?: Identifier };
    return [{ name: name?.text ?? 'default', node: statement }];
  });
}

/**
 * A type exported for callers that write out the parameter or return type of another export.
 */
const isShape = (node: Node): boolean =>
  isInterfaceDeclaration(node) || isTypeAliasDeclaration(node);

/** Returns how often each name occurs in a file, including declarations and imports. */
function occurrences({ file }: Source): Map<string, number> {
  const counts = new Map<string, number>();
  walk(file, (node) => {
    if (isIdentifier(node)) counts.set(node.text, (counts.get(node.text) ?? 0) + 1);
  });
  return counts;
}

/** Returns the files that a file names as programs: `dist/cluster/chaos.js`, `./preload.js`. */
function programsIn({ path, file }: Source): string[] {
  const found: string[] = [];
  walk(file, (node) => {
    if (!isStringLiteral(node) || !node.text.endsWith('.js')) return;
    if (node.text.startsWith('dist/')) found.push(node.text.slice(5).replace(/\.js$/, '.ts'));
    else found.push(resolveImport(path, node.text) ?? node.text.replace(/\.js$/, '.ts'));
  });
  return found;
}

/** Scripts of the build whose output is part of the program. */
const GENERATORS = /^scripts\/(?:documents|validators)\.ts$/;

/**
 * Returns the files that cannot be reached from `entries`, and the exports that no other file
 * imports. In `src/` the program itself must reach a file and use an export: code that only tests
 * use belongs below `test/`.
 */
export function unused(sources: readonly Source[], entries: readonly string[]): Finding[] {
  const byPath = new Map(sources.map((source) => [moduleOf(source.path), source]));
  const imports = new Map(sources.map((source) => [moduleOf(source.path), importsOf(source)]));
  const reach = (from: readonly string[], programs: boolean): Set<string> => {
    const reached = new Set<string>();
    const queue = [...from];
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      const source = byPath.get(path);
      if (source === undefined || reached.has(path)) continue;
      reached.add(path);
      queue.push(...imports.get(path)!.map((taken) => taken.path));
      if (programs) queue.push(...programsIn(source));
    }
    return reached;
  };
  const reached = reach(entries, true);
  const product = reach(
    entries.filter((path) => path.startsWith('src/') || GENERATORS.test(path)),
    false,
  );
  const findings: Finding[] = [];
  const add = (at: string, bucket: string, message: string): void => {
    findings.push({ rule: 'unused', at, bucket, message });
  };
  for (const source of sources) {
    const path = moduleOf(source.path);
    const inProduct = path.startsWith('src/');
    if (!(inProduct ? product : reached).has(path)) {
      const why = reached.has(path) ? 'used by tests alone: move it below test/' : 'unused file';
      add(path, path, why);
      continue;
    }
    const takers = (names: string): string[] =>
      [...imports]
        .filter(([from]) => from !== path)
        .filter(([, taken]) =>
          taken.some((one) => one.path === path && one.names.some((n) => n === names || n === ALL)),
        )
        .map(([from]) => from);
    const counts = occurrences(source);
    for (const { name, node } of exportsOf(source)) {
      const from = takers(name);
      const own = (counts.get(name) ?? 0) > 1;
      const place = placeOf(source, node);
      if (from.length === 0) {
        if (!own) add(place, path, `${name}: unused export`);
        else if (!isShape(node)) add(place, path, `${name}: needless export`);
      } else if (inProduct && !own && !from.some((taker) => product.has(taker)))
        add(place, path, `${name}: used by tests alone`);
    }
  }
  return findings;
}

const isExtends = ({ token }: HeritageClause): boolean => token === SyntaxKind.ExtendsKeyword;

/** Returns the names that are read: as a property, in a pattern, or as text (`keyof`, lists). */
function namesRead(sources: readonly Source[]): Set<string> {
  const read = new Set<string>();
  for (const { file } of sources)
    walk(file, (node) => {
      if (isPropertyAccessExpression(node)) read.add(node.name.getText());
      else if (isBindingElement(node)) read.add((node.propertyName ?? node.name)?.getText() ?? '');
      else if (isStringLiteral(node)) read.add(node.text);
    });
  return read;
}

/**
 * Returns the methods and properties of classes in `src/`, and the methods of interfaces, that
 * nothing reads, not even a test.
 */
export function unusedMembers(sources: readonly Source[]): Finding[] {
  const own = sources.filter(({ path }) => path.startsWith('src/'));
  const read = namesRead(sources);
  const findings: Finding[] = [];
  for (const source of own)
    walk(source.file, (node) => {
      if (!isClassDeclaration(node) && !isInterfaceDeclaration(node)) return;
      // The class that it extends may call it.
      if (isClassDeclaration(node) && node.heritageClauses?.some(isExtends)) return;
      for (const member of node.members) {
        const { name } = member as { name?: Node };
        if (name === undefined || !(isIdentifier(name) || isPrivateIdentifier(name))) continue;
        const kept = isClassDeclaration(node)
          ? isMethodDeclaration(member) ||
            isPropertyDeclaration(member) ||
            isGetAccessorDeclaration(member)
          : isMethodSignatureDeclaration(member);
        if (!kept || read.has(name.getText())) continue;
        const owner = node.name?.getText() ?? 'class';
        findings.push({
          rule: 'unused',
          at: placeOf(source, member),
          bucket: source.path,
          message: `${owner}.${name.getText()}: nothing reads it`,
        });
      }
    });
  return findings;
}
