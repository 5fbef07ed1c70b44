/** Finds out whether another command moves from the same source at the same time. */
import type { Feed } from '../../api/endpoints/history.js';
import type { Api } from '../client/http.js';
import type { Migration } from './migration.js';
import { ownerOf } from './objects.js';

/** Changes that one look at the history shows. */
const LOOKED_AT_MAX = 1000;

/** What is written at the target for the same source, but not by this command. */
export class Others {
  readonly #api: Api;
  readonly #own: Pick<Migration, 'entries' | 'owner'>;
  /** The newest entry that was looked at; undefined before the first look. */
  #seen: number | undefined;

  constructor(api: Api, own: Pick<Migration, 'entries' | 'owner'>) {
    this.#api = api;
    this.#own = own;
  }

  /** Returns a change that another command has made since this was called last. */
  async change(): Promise<Feed['Changes'][number] | undefined> {
    const after = this.#seen === undefined ? {} : { after: String(this.#seen) };
    const query = { limit: String(LOOKED_AT_MAX), ...after };
    const answer = await this.#api.get('/v1/history', { query, isPlain: true, takesAny: true });
    if (answer.status !== 200) return undefined;
    const { Index, Changes, More } = answer.json<Feed>();
    const isFirst = this.#seen === undefined;
    this.#seen = More && !isFirst ? Changes.at(-1)!.Index : Index;
    // What is older may be of an earlier run.
    if (isFirst) return undefined;
    const { entries, owner } = this.#own;
    return Changes.find((one) => ownerOf(one.Reason) === owner && !entries.has(one.Index));
  }
}
