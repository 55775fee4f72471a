// A list that is read again from its beginning while the older pages of it that were asked for stay.

export interface Page<T> {
  items: T[];
  nextCursor?: string | null;
}

export class PagedList<T> {
  /** `undefined` until the first page is there. */
  items = $state.raw<T[]>();
  /** Where older items go on; `undefined` where there are none. */
  next = $state.raw<string>();
  readonly #key: (item: T) => string;

  constructor(key: (item: T) => string) {
    this.#key = key;
  }

  /** The first page, read again. */
  renew(page: Page<T>): void {
    const older = this.#without(this.items ?? [], page.items);
    if (older.length === 0) this.next = page.nextCursor ?? undefined;
    this.items = page.nextCursor ? [...page.items, ...older] : page.items;
  }

  /** The page at `next`. */
  extend(page: Page<T>): void {
    const held = this.items ?? [];
    this.items = [...held, ...this.#without(page.items, held)];
    this.next = page.nextCursor ?? undefined;
  }

  /** What was changed stays where it is; what is new comes first. */
  put(item: T): void {
    const key = this.#key(item);
    const held = this.items ?? [];
    this.items = held.some((one) => this.#key(one) === key)
      ? held.map((one) => (this.#key(one) === key ? item : one))
      : [item, ...held];
  }

  drop(key: string): void {
    this.items = this.items?.filter((one) => this.#key(one) !== key);
  }

  clear(): void {
    this.items = undefined;
    this.next = undefined;
  }

  #without(items: T[], others: T[]): T[] {
    const known = new Set(others.map(this.#key));
    return items.filter((item) => !known.has(this.#key(item)));
  }
}
