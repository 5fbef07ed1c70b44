/** Where the user is: the path below `/ui`, and the query string. */
import { type Store, store } from './store.js';

const ROOT = '/ui';

/** A place in the web UI. */
export interface Place {
  /** The decoded segments of the path: `[]` for the overview. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** Differs for each visit, so that a page starts afresh. */
  readonly visit: number;
}

/** Returns a text as it was before it was percent-encoded, or as it is if it never was. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function current(visit: number): Place {
  const path = location.pathname.slice(ROOT.length);
  const parts = path.split('/').filter((part) => part !== '');
  return {
    parts: parts.map(decoded),
    query: new URLSearchParams(location.search),
    visit,
  };
}

/** The present place. */
export const place: Store<Place> = store(current(0));

/** Returns what tells whether the user is still on the page of the moment of the call. */
export function visited(): () => boolean {
  const { visit: begun } = place.get();
  return () => place.get().visit === begun;
}

const visit = (): void => place.set(current(place.get().visit + 1));
addEventListener('popstate', visit);

/** The namespace of the present place; '' stands for that of the token. */
export const namespace = (): string => place.get().query.get('ns') ?? '';

/** Parameters of a link. Undefined ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** Returns the address of a page. It keeps the namespace unless the query names one. */
export function hrefOf(parts: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams();
  const ns = query['ns'] ?? namespace();
  if (ns !== '') search.set('ns', ns);
  for (const [name, value] of Object.entries(query))
    if (name !== 'ns' && value !== undefined) search.set(name, value);
  const text = search.toString();
  const path = `${ROOT}/${parts.map(encodeURIComponent).join('/')}`;
  return text === '' ? path : `${path}?${text}`;
}

/** Goes to a page. `replace` leaves no step back to the present one. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  visit();
}

/** Gives the present page another address. It goes on, and keeps the focus. */
export function readdress(href: string): void {
  history.replaceState(null, '', href);
  place.set(current(place.get().visit));
}
