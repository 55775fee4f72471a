import { expect, test } from "vitest";

import { ago, bytes, length } from "./words";

test.each([
  [0, "0 ms"],
  [850, "850 ms"],
  [1500, "1.5 s"],
  [12_345, "12 s"],
  [185_000, "3 m 05 s"],
  [7_800_000, "2 h 10 m"],
  [4 * 86_400_000 + 3 * 3_600_000, "4 d 3 h"],
  [-5, "0 s"],
])("length(%d)", (ms, words) => expect(length(ms)).toBe(words));

test("ago", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  expect(ago("2026-01-31T11:59:59Z", now)).toBe("just now");
  expect(ago("2026-01-31T12:00:30Z", now)).toBe("just now");
  expect(ago("2026-01-31T11:59:18Z", now)).toBe("42 s ago");
  expect(ago("2026-01-29T11:00:00Z", now)).toBe("2 d ago");
  expect(ago(undefined, now)).toBe("never");
});

test("bytes", () => {
  expect([0, 1023, 1536, 512 * 2 ** 20, 2 ** 41].map(bytes)).toEqual([
    "0 B",
    "1023 B",
    "1.5 KiB",
    "512 MiB",
    "2 TiB",
  ]);
});
