/** What a person's browser does at a provider: follows redirects, keeps cookies, submits forms. */

const REDIRECTS_MAX = 20;

/** A browser with cookies, without a screen and scripts. */
export class Browser {
  /** Cookies by name and path. */
  readonly #cookies = new Map<string, { name: string; path: string; value: string }>();

  /**
   * Follows redirects within the origin and submits the forms of its pages with these fields, until
   * a redirect leaves the origin, and returns that address; or until a page without a form, and
   * returns the address of the page. Throws on an answer that is no page.
   */
  async visit(url: string, origin: string, fields: Record<string, string>): Promise<string> {
    let response = await this.#fetch(url);
    let at = url;
    for (let i = 0; i < REDIRECTS_MAX; i++) {
      const location = response.headers.get('location');
      if (location !== null) {
        at = new URL(location, at).href;
        if (new URL(at).origin !== origin) return at;
        response = await this.#fetch(at);
        continue;
      }
      const page = await response.text();
      if (!response.ok) throw new Error(`${at} answered ${response.status}: ${page}`);
      if (!page.includes('<form')) return at;
      const [, action] = /<form[^>]*\saction="([^"]*)"/.exec(page) ?? [];
      const hidden = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
      const body = new URLSearchParams({
        ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
        ...fields,
      });
      at = new URL(action ?? at, at).href;
      response = await this.#fetch(at, { method: 'POST', body });
    }
    throw new Error(`${url} led to more than ${REDIRECTS_MAX} pages and redirects`);
  }

  async #fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname } = new URL(url);
    const cookie = [...this.#cookies.values()]
      .filter(({ path }) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  #keep(line: string): void {
    const [, name, value, attributes] = /^([^=]+)=([^;]*)(.*)$/.exec(line)!;
    const path = /;\s*path=([^;]*)/i.exec(attributes!)?.[1] ?? '/';
    const expires = /;\s*expires=([^;]*)/i.exec(attributes!)?.[1];
    const key = `${name} ${path}`;
    if (expires !== undefined && Date.parse(expires) < Date.now()) this.#cookies.delete(key);
    else this.#cookies.set(key, { name: name!, path, value: value! });
  }
}
