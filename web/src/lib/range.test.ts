import { expect, test } from "vitest";

import { rangeWords, readRange } from "./range";

test.each([
  ["1-100", "100 tasks"],
  ["7", "1 task"],
  ["0-99:5", "20 tasks"],
  ["1,4,7-9", "5 tasks"],
  [" 1-10000 % 50 ", "10,000 tasks, at most 50 at once"],
  ["1-1000000", "1,000,000 tasks"],
])("%s", (text, words) => {
  const read = readRange(text);
  expect(read.ok && rangeWords(read.value)).toBe(words);
  expect(read.ok && read.value.text).toBe(text.replaceAll(" ", ""));
});

test.each([
  ["", "whole numbers"],
  ["a-b", "whole numbers"],
  ["1-", "whole numbers"],
  ["1,,2", "whole numbers"],
  ["9-1", "ends before"],
  ["1-9:0", "step"],
  ["1-9%0", "at once"],
  ["1-9%", "at once"],
  ["1-9%2%3", "at once"],
  ["1-5,5", "twice"],
  ["1-1000001", "a million"],
  ["2147483648", "at most"],
])("%s is no range", (text, word) => {
  const read = readRange(text);
  expect(read.ok ? "" : read.error).toContain(word);
});
