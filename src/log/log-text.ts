/** Lines of the log for people: time, level, sentence, and the members that say more. */

import { styleText } from 'node:util';
import { lines, oneLine } from '../base/printable.js';
import { two } from '../base/text.js';

type Line = Readonly<Record<string, unknown>>;

/** Members that the line shows elsewhere, or that are the same in every line. */
const SHOWN = new Set(['level', 'time', 'node', 'msg', 'event', 'err']);
const PAINTS: Readonly<Record<string, 'red' | 'yellow' | 'green' | 'dim'>> = {
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'dim',
};

/** Returns a line of JSON as text: `14:05:09.123 info  n1 serving  url=… [serving]`. */
export function textLine(json: string, colour: boolean): string {
  const line = JSON.parse(json) as Line;
  const { level, time, node, msg, event, err } = line;
  const paint = (text: string, style: 'red' | 'yellow' | 'green' | 'dim'): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const members = Object.entries(line)
    .filter(([name, value]) => !SHOWN.has(name) && value !== undefined)
    // The sentence says it already.
    .filter(([, value]) => typeof value !== 'string' || !String(msg).includes(value))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .map(oneLine);
  const head = [
    paint(clockOf(String(time)), 'dim'),
    paint(String(level).padEnd(5), PAINTS[String(level)] ?? 'dim'),
    oneLine(String(node ?? '')),
    oneLine(String(msg)),
  ];
  const rest = paint([...members, `[${event}]`].join(' '), 'dim');
  return `${head.join(' ')}  ${rest}\n${errorText(err)}`;
}

function clockOf(time: string): string {
  const date = new Date(time);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

function errorText(err: unknown): string {
  const { stack, message } = (err ?? {}) as { stack?: string; message?: string };
  const text = stack ?? message;
  return text === undefined ? '' : `${lines(text).replace(/^/gm, '    ')}\n`;
}
