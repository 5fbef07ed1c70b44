/**
 * The web UI: files that the build packed, served below `/ui/`. A path that is no file is the page
 * itself, which reads its path in the browser.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Refusal } from '../../base/errors.js';
import type { Front } from '../front.js';
import type { UiOptions } from '../options.js';
import type { Context, Middleware } from '../request/context.js';
import { refuseEarly } from '../response/error-handling.js';
import { PreparedResponse } from '../response/prepared-response.js';
import { contentTypes, headerOf } from '../response/response-headers.js';
import { send } from '../response/send.js';

/** The page may load and ask what this node serves, and nothing else; no page may frame it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'font-src', 'connect-src'].map(
    (name) => `${name} 'self'`,
  ),
  ...['form-action', 'base-uri', 'frame-ancestors'].map((name) => `${name} 'none'`),
].join('; ');
const SECURITY = [
  'Content-Security-Policy',
  CONTENT_SECURITY_POLICY,
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
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
/** How the names of compressed files end. */
const PACKED = '.gz';
const ASSETS = '/ui/assets/';
const unpack = promisify(gunzip);
const pack = promisify(gzip);

/** Where the page holds what it is told. */
const APP = '<div id="app"';

/** A file of the folder, and the same compressed. */
interface PackedFile {
  readonly body: Buffer;
  readonly packed: Buffer;
}

/**
 * Answers `/ui/` and what is below it from a folder of files that end in `.gz`, and leads browsers
 * from `/` there. A file is read when it is first asked for.
 */
export function uiPages(front: Front, { folder, idleMs }: UiOptions): Middleware {
  const files = new PackedFiles(folder, (page) =>
    page.replace(APP, `${APP} data-idle="${idleMs}"`),
  );
  return async (context, next) => {
    const { req, state } = context;
    const { path } = state;
    const target = redirectOf(path, req.headers.accept);
    if (target === undefined && !path.startsWith('/ui/')) return next();
    const why = refusalOf(front, req.method!, path);
    if (why !== undefined) return refuseEarly(front, context, why, extraOf(why));
    if (target !== undefined) return redirect(front, context, target);
    const name = path.startsWith(ASSETS) ? path.slice('/ui/'.length) : PAGE;
    const file = await files.read(name);
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
  send(req, res, new PreparedResponse(200, headers, file.body, Promise.resolve(file.packed)));
}

/** Compressed files of a folder, which are kept in memory once they were read. */
class PackedFiles {
  readonly #folder: string;
  readonly #files = new Map<string, Promise<PackedFile>>();
  #names: Promise<ReadonlySet<string>> | undefined;

  readonly #told: (page: string) => string;

  /** `told` changes the text of the page itself. */
  constructor(folder: string, told: (page: string) => string) {
    this.#folder = folder;
    this.#told = told;
  }

  /**
   * Returns a file by its path in the folder without `.gz`; undefined if there is none. Rejects
   * with the error of the disk. The next call tries again.
   */
  async read(name: string): Promise<PackedFile | undefined> {
    this.#names ??= this.#list();
    if (!(await kept(this.#names, () => (this.#names = undefined))).has(name)) return undefined;
    const file = this.#files.get(name) ?? this.#unpack(name);
    this.#files.set(name, file);
    return kept(file, () => this.#files.delete(name));
  }

  async #list(): Promise<ReadonlySet<string>> {
    const entries = await readdir(this.#folder, { recursive: true });
    const packed = entries.filter((entry) => entry.endsWith(PACKED));
    return new Set(packed.map((entry) => entry.slice(0, -PACKED.length).replaceAll('\\', '/')));
  }

  async #unpack(name: string): Promise<PackedFile> {
    const packed = await readFile(join(this.#folder, `${name}${PACKED}`));
    if (name !== PAGE) return { body: await unpack(packed), packed };
    const body = Buffer.from(this.#told((await unpack(packed)).toString()));
    return { body, packed: await pack(body) };
  }
}

/** Calls `forget` if the promise is rejected. */
function kept<T>(promise: Promise<T>, forget: () => unknown): Promise<T> {
  promise.catch(forget);
  return promise;
}
