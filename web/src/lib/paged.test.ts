import { describe, expect, it } from "vitest";

import { PagedList } from "./paged.svelte";

function list(): PagedList<string> {
  return new PagedList<string>((item) => item.slice(0, 1));
}

describe("a list of pages", () => {
  it("keeps older pages when the first is read again", () => {
    const paged = list();
    paged.renew({ items: ["d", "c"], nextCursor: "c" });
    paged.extend({ items: ["c", "b"], nextCursor: "b" });
    expect(paged.items).toEqual(["d", "c", "b"]);
    paged.renew({ items: ["e", "d2"], nextCursor: "d" });
    expect(paged.items).toEqual(["e", "d2", "c", "b"]);
    expect(paged.next).toBe("b");
  });

  it("holds only the first page where there is no other", () => {
    const paged = list();
    paged.renew({ items: ["b", "a"], nextCursor: "a" });
    paged.renew({ items: ["b"] });
    expect(paged.items).toEqual(["b"]);
    expect(paged.next).toBe("a");
    paged.renew({ items: ["b"], nextCursor: null });
    expect(paged.next).toBeUndefined();
  });

  it("puts and drops by key", () => {
    const paged = list();
    paged.drop("a");
    expect(paged.items).toBeUndefined();
    paged.put("a");
    paged.put("b");
    paged.put("a2");
    expect(paged.items).toEqual(["b", "a2"]);
    paged.drop("b");
    expect(paged.items).toEqual(["a2"]);
    paged.clear();
    expect(paged.items).toBeUndefined();
  });
});
