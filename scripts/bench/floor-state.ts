/** The content of a server of the floor (`floor.ts`), and the reads of it. */

/** The path of the process's figures. */
export const FIGURES_PATH = '/figures';

/** The figures of a server. */
export interface FloorFigures {
  /** CPU time of the process. */
  readonly cpuSeconds: number;
  /** Reads that wait for a change. */
  readonly held: number;
  readonly residentMb: number;
}

interface Named {
  readonly Kind?: string;
  readonly Name: string;
}

/** Entries by kind and name, as text. */
export class FloorState {
  readonly #kinds = new Map<string, Map<string, string>>();
  readonly #waiting = new Map<string, ((body: string) => void)[]>();

  /** Takes an entry in: JSON with a name, and perhaps a kind. */
  apply(data: Buffer): void {
    const text = data.toString();
    const { Kind = 'role', Name } = JSON.parse(text) as Named;
    let kind = this.#kinds.get(Kind);
    if (kind === undefined) {
      kind = new Map();
      this.#kinds.set(Kind, kind);
    }
    kind.set(Name, text);
    const waiting = this.#waiting.get(Name);
    if (waiting === undefined) return;
    this.#waiting.delete(Name);
    for (const done of waiting) done(text);
  }

  /**
   * Answers `/v1/config/<kind>/<name>`, `/v1/config/<kind>` or the figures. With `index` in the
   * query it answers when the entry changes.
   */
  read(url: string, done: (body: string) => void): void {
    const [path, query = ''] = url.split('?');
    if (path === FIGURES_PATH) {
      done(JSON.stringify(this.#figures()));
      return;
    }
    const [, , , kind, name] = path!.split('/');
    const entries = this.#kinds.get(kind!);
    if (name === undefined) done(`[${[...(entries?.values() ?? [])].join(',')}]`);
    else if (query.includes('index=')) this.#hold(name, done);
    else done(entries?.get(name) ?? 'null');
  }

  #hold(name: string, done: (body: string) => void): void {
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) this.#waiting.set(name, [done]);
    else waiting.push(done);
  }

  #figures(): FloorFigures {
    const { user, system } = process.cpuUsage();
    const held = [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
    const residentMb = process.memoryUsage.rss() / 2 ** 20;
    return { cpuSeconds: (user + system) / 1e6, held, residentMb };
  }
}
