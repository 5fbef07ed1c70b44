/**
 * Values read lately, bounded in size: a value that is read again soon costs no visit to LevelDB.
 */
export class RecentValues {
  private young = new Map<string, string>();
  private old = new Map<string, string>();
  private youngChars = 0;
  private readonly limitChars: number;

  /** `limitChars`: of all keys and values together. */
  constructor(limitChars: number) {
    this.limitChars = limitChars;
  }

  get(key: string): string | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const again = this.old.get(key);
    if (again !== undefined) this.set(key, again);
    return again;
  }

  set(key: string, value: string): void {
    this.young.set(key, value);
    this.youngChars += key.length + value.length;
    if (this.youngChars <= this.limitChars / 2) return;
    // What was not asked for while this half filled up is let go.
    this.old = this.young;
    this.young = new Map();
    this.youngChars = 0;
  }

  delete(key: string): void {
    this.young.delete(key);
    this.old.delete(key);
  }

  clear(): void {
    this.young.clear();
    this.old.clear();
    this.youngChars = 0;
  }
}
