import { expect, test } from "vitest";

import { exactBytes, isName, readBytes, readCores, readSpan } from "./fields";

test.each([
  ["512MiB", 512 * 2 ** 20],
  ["2 GiB", 2 ** 31],
  ["1.5k", 1500],
  ["42", 42],
])("readBytes(%s)", (text, value) => expect(readBytes(text)).toEqual({ ok: true, value }));

test.each(["", "x", "1 parsec", "-1", "1e9"])("readBytes refuses “%s”", (text) =>
  expect(readBytes(text).ok).toBe(false),
);

test.each([0, 1, 1023, 1024, 1500, 2 ** 31, 3 * 2 ** 30 + 1])("exactBytes(%d) reads back", (n) =>
  expect(readBytes(exactBytes(n))).toEqual({ ok: true, value: n }),
);

test("cores, spans and names", () => {
  expect(readCores("0.5")).toEqual({ ok: true, value: 0.5 });
  expect(readCores("0.0005").ok).toBe(false);
  expect(readSpan(" 1m30s ")).toEqual({ ok: true, value: "1m30s" });
  expect(readSpan("1 minute").ok).toBe(false);
  expect(["a", "web-1", "0x"].every(isName)).toBe(true);
  expect(["", "-a", "a-", "A", "a_b", "a".repeat(64)].some(isName)).toBe(false);
});
