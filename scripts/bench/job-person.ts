/**
 * A person at a browser: points, types and thinks as fast as the keystroke-level model says (Card,
 * Moran and Newell), in real time, so that what the page does meanwhile happens as it would.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';

/** Milliseconds for a key, for pointing at something, for a click, and for a thought. */
export const MODEL = { key: 200, point: 1100, click: 200, think: 1350 } as const;

/** What a job took. */
export interface Effort {
  readonly clicks: number;
  readonly keys: number;
  readonly seconds: number;
}

/** Counts what they do. */
export class Person {
  readonly #begun = performance.now();
  #clicks = 0;
  #keys = 0;

  /** What they have done so far. */
  get effort(): Effort {
    const seconds = (performance.now() - this.#begun) / 1000;
    return { clicks: this.#clicks, keys: this.#keys, seconds };
  }

  /** Waits until something is there, and takes it in. */
  async read(what: Locator): Promise<void> {
    await what.first().waitFor();
    await sleep(MODEL.think);
  }

  /** Finds something, and clicks it; `times` 2 selects a word. */
  async click(what: Locator, times = 1): Promise<void> {
    await what.waitFor();
    await sleep(MODEL.think + MODEL.point + MODEL.click * times);
    this.#clicks += 1;
    await what.click({ clickCount: times });
  }

  /** Types what they have in mind. */
  async type({ keyboard }: Page, text: string): Promise<void> {
    await sleep(MODEL.think);
    await this.#typeOn(keyboard, text);
  }

  async #typeOn(keyboard: Page['keyboard'], text: string): Promise<void> {
    this.#keys += text.length;
    await keyboard.type(text, { delay: MODEL.key });
  }

  /** Takes the first thing that an editor offers to what they type. */
  async complete(page: Page, text: string): Promise<void> {
    await this.#typeOn(page.keyboard, text);
    await this.read(page.locator('.cm-tooltip [role=option]'));
    await this.press(page, 'Enter');
  }

  /**
   * Types the beginning of a name, and takes it of the browser's own list by two keys. A browser
   * without a window shows no such list: the name is put in.
   */
  async pick({ keyboard }: Page, begin: string, name: string): Promise<void> {
    const keys = begin.length + 2;
    this.#keys += keys;
    await sleep(MODEL.think * 2 + MODEL.key * keys);
    await keyboard.insertText(name);
  }

  /** Presses keys one after the other, without a thought; `Control+v` is two. */
  async press({ keyboard }: Page, ...chords: readonly string[]): Promise<void> {
    for (const chord of chords) {
      const keys = chord.split('+').length;
      this.#keys += keys;
      await sleep(MODEL.key * keys);
      await keyboard.press(chord);
    }
  }

  /** Presses keys that do something. */
  async command(page: Page, chord: string): Promise<void> {
    await sleep(MODEL.think);
    await this.press(page, chord);
  }

  /** Pastes what they have copied. */
  async paste(page: Page, text: string): Promise<void> {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await this.press(page, 'Control+v');
  }

  /** Selects a word of a terminal by two clicks, which copies it. */
  async copyFromTerminal(): Promise<void> {
    await sleep(MODEL.think + MODEL.point + MODEL.click * 2);
    this.#clicks += 1;
  }

  /** Types a line into a terminal; `isAgain`: takes the last one by the arrow key. */
  async enter(line: string, { isAgain = false } = {}): Promise<void> {
    const keys = 1 + (isAgain ? 1 : line.length);
    this.#keys += keys;
    await sleep(MODEL.think + MODEL.key * keys);
  }
}
