/** YAML errors in plain words. The parser words them for those who know its grammar. */
import type { LineCounter, YAMLParseError } from 'yaml';

/** A syntax error: where it is, from 1, and what it is. */
export interface YamlError {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Returns the first syntax error of a document. */
export function yamlErrorOf(
  text: string,
  errors: readonly YAMLParseError[],
  lineCounter: LineCounter,
): YamlError {
  const [{ code, message, pos }] = errors as [YAMLParseError];
  const { line, col } = lineCounter.linePos(pos[0]);
  const lines = text.split('\n');
  const own = lines[line - 1] ?? '';
  if (code === 'BLOCK_AS_IMPLICIT_KEY') {
    const deeper = lines.findIndex((one, at) => at >= line && one.trim() !== '');
    // The value goes on in the next line, which looks like a key.
    if (errors.some((one) => one.code === 'MULTILINE_IMPLICIT_KEY') && deeper >= 0)
      return {
        line: deeper + 1,
        column: indentOf(lines[deeper]!) + 1,
        message: `wrong indentation: "${keyOf(lines[deeper]!)}" is deeper than "${keyOf(own)}"`,
      };
    return { line, column: col, message: 'a value that contains ": " needs quotes' };
  }
  const column = own.slice(0, col - 1).trim() === '' ? indentOf(own) + 1 : col;
  return { line, column, message: wordsOf(code, message.split('\n')[0]!, own) };
}

function wordsOf(code: string, message: string, line: string): string {
  const plain = message.replace(/ at line \d+, column \d+:?$/, '');
  const open = /end with a ([\]}])/.exec(plain)?.[1];
  if (open !== undefined) return `"${open}" is missing`;
  if (/^Missing closing/.test(plain)) return `the closing quote ${plain.at(16)} is missing`;
  if (/^All (?:mapping|sequence) items/.test(plain))
    return `wrong indentation: "${keyOf(line)}" does not line up with what precedes it`;
  const start = /^Plain value cannot start with .* (\S+)$/.exec(plain)?.[1];
  if (start !== undefined) return `a value that begins with ${start} needs quotes`;
  if (/^Implicit (?:map )?keys need/.test(plain))
    return `expected "KEY: VALUE", found "${line.trim()}"`;
  if (/^Unexpected \S+-scalar token/.test(plain)) return 'a comma or a colon is missing before it';
  if (code === 'DUPLICATE_KEY') return `"${keyOf(line)}" appears twice`;
  if (code === 'TAB_AS_INDENT') return 'a tab in the indentation: use spaces';
  return plain.charAt(0).toLowerCase() + plain.slice(1);
}

const indentOf = (line: string): number => /^\s*/.exec(line)![0].length;

/** Returns the key of a line, or the whole of it if it has none. */
const keyOf = (line: string): string => line.trim().replace(/^(?:- +)+|: .*$|:$/g, '');
