/**
 * The web UI: files that the build packed, served below `/ui/`. A path that is no file is the page
 * itself, which reads its path in the browser.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Refusal } from '../errors.js';
import type { Context, Middleware } from './context.js';
import { refuseEarly } from './error-handling.js';
import type { Front } from './front.js';
import { PreparedResponse } from './prepared-response.js';
import { contentTypes, headerOf } from './response-headers.js';
import { send } from './send.js';

/** The page may load and ask what this node serves, and nothing else; no page may frame it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'font-src', 'connect-src'].map(
    (name) => `${name} 'self'`,
  ),
  ...['form-action', 'base-uri', 'frame-ancestors'].map((name) => `${name} 'none'`),
].join('; ');
const SECURITY = [
  ...['Content-Security-Policy', CONTENT_SECURITY_POLICY],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
];
/** The name of an asset holds a hash of its content. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable'];
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': contentTypes.text,
};
const METHODS = 'GET,HEAD';
const PAGE = 'index.html';
const ASSETS = '/ui/assets/';
const unpack = promisify(gunzip);

/** A file of the folder, and the same compressed. */
interface PackedFile {
  readonly body: Buffer;
  readonly packed: Buffer;
}

/**
 * Answers `/ui/` and what is below it from a folder of files that end in `.gz`, and leads browsers
 * from `/` there. The files are read when the first of them is asked for.
 */
export function uiPages(front: Front, folder: string): Middleware {
  let files: Promise<ReadonlyMap<string, PackedFile>> | undefined;
  return async (context, next) => {
    const { req, state } = context;
    const { path } = state;
    const target = redirectOf(path, req.headers.accept);
    if (target === undefined && !path.startsWith('/ui/')) return next();
    const why = refusalOf(front, req.method!, path);
    if (why !== undefined) return refuseEarly(front, context, why, extraOf(why));
    if (target !== undefined) return redirect(front, context, target);
    files ??= readFiles(folder).catch((error: unknown) => {
      files = undefined;
      throw error;
    });
    const name = path.startsWith(ASSETS) ? path.slice('/ui/'.length) : PAGE;
    const file = (await files).get(name);
    if (file === undefined) {
      const message = `The web UI has no file ${JSON.stringify(path.slice(0, 200))}`;
      return refuseEarly(front, context, { code: 'not_found', message });
    }
    answer(front, context, name, file);
  };
}

/** Where a path leads that is not the page's own. Only browsers are led away from `/`. */
function redirectOf(
  path: string,
  accept: string | undefined,
): { readonly status: number } | undefined {
  if (path === '/ui') return { status: 301 };
  return path === '/' && accept?.includes('text/html') ? { status: 307 } : undefined;
}

function refusalOf({ options }: Front, method: string, path: string): Refusal | undefined {
  if (options.blockedPaths.some((prefix) => path.startsWith(prefix)))
    return { code: 'permission_denied', message: 'Endpoint is blocked by agent configuration' };
  if (METHODS.split(',').includes(method)) return undefined;
  return { code: 'method_not_allowed', message: `method ${method} not allowed` };
}

const extraOf = ({ code }: Refusal): readonly string[] =>
  code === 'method_not_allowed' ? ['Allow', METHODS] : [];

function redirect({ names }: Front, { req, res }: Context, { status }: { status: number }): void {
  const headers = ['Location', '/ui/', 'Content-Type', contentTypes.text];
  headers.push(...names.base, ...names.unkept);
  send(req, res, new PreparedResponse(status, headers, 'The web UI is at /ui/\n'));
}

function answer({ names, options }: Front, { req, res }: Context, name: string, file: PackedFile) {
  const keeps = name !== PAGE && headerOf(options.responseHeaders, 'cache-control') === undefined;
  const headers = ['Content-Type', TYPES[extname(name)] ?? 'application/octet-stream'];
  headers.push(...SECURITY, ...(keeps ? FOREVER : names.unkept), ...names.base);
  send(req, res, new PreparedResponse(200, headers, file.body, file.packed));
}

/** Reads every packed file, by its path in the folder without `.gz`. */
async function readFiles(folder: string): Promise<ReadonlyMap<string, PackedFile>> {
  const files = new Map<string, PackedFile>();
  for (const entry of await readdir(folder, { recursive: true })) {
    if (!entry.endsWith('.gz')) continue;
    const packed = await readFile(join(folder, entry));
    const name = entry.slice(0, -'.gz'.length).replaceAll('\\', '/');
    files.set(name, { body: await unpack(packed), packed });
  }
  return files;
}
