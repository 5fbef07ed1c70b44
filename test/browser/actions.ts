/** What a user does on a page, by role and name. */
import type { Locator, Page, Route } from 'playwright-core';

/** Returns a text field, which may offer values, or an editor. */
export const field = (page: Page, name: string): Locator =>
  page
    .getByRole('textbox', { name, exact: true })
    .or(page.getByRole('combobox', { name, exact: true }));

/** Returns a button. */
export const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true });

/** Fills an editor, which is no field of a form. */
export async function write(page: Page, name: string, text: string): Promise<void> {
  await field(page, name).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** Returns the dialog before a write. */
export const reviewOf = (page: Page): Locator =>
  page.getByRole('dialog', { name: 'Review changes' });

/** Saves a form, and applies the changes. */
export async function apply(page: Page, reason = ''): Promise<void> {
  await button(page, 'Save').click();
  const dialog = reviewOf(page);
  if (reason !== '') await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Saves the form of a new object, which is made at once. */
export const create = (page: Page): Promise<void> => button(page, 'Save').click();

/** Resolves once the page says that it has saved. */
export const saved = (page: Page): Promise<void> =>
  page
    .getByRole('status')
    .getByText(/^Saved/)
    .waitFor();

/** Presses Tab until an element with this name has the focus. */
export async function tabTo(page: Page, name: RegExp | string): Promise<void> {
  const focused = `(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    const label = at?.labels?.[0]?.textContent;
    return at?.getAttribute('aria-label') ?? label ?? at?.textContent ?? '';
  })()`;
  for (let pressed = 0; pressed < 80; pressed += 1) {
    await page.keyboard.press('Tab');
    const text = String(await page.evaluate(focused)).trim();
    if (typeof name === 'string' ? text === name : name.test(text)) return;
  }
  throw new Error(`no Tab leads to ${name}`);
}

/** Holds the requests of a page to a path until the function that is returned is called. */
export async function hold(page: Page, path: string): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let isOpen = false;
  await page.route(path, async (route) => {
    if (isOpen) await route.continue();
    else held.push(route);
  });
  return async () => {
    isOpen = true;
    await Promise.all(held.map((route) => route.continue()));
  };
}
