import { describe, expect, test } from "vitest";

import { quoteCommand, shellOnly, splitCommand } from "./argv";

describe("splitCommand", () => {
  test.each([
    ["echo hello", ["echo", "hello"]],
    ["  echo\t a\nb ", ["echo", "a", "b"]],
    ["echo 'a b' \"c d\" e\\ f", ["echo", "a b", "c d", "e f"]],
    ["echo 'it'\\''s'", ["echo", "it's"]],
    ['echo "a \\"b\\" \\n"', ["echo", 'a "b" \\n']],
    ["echo '' \"\"", ["echo", "", ""]],
    ["a'b'c", ["abc"]],
    ["", []],
  ])("%s", (text, argv) => {
    expect(splitCommand(text)).toEqual({ ok: true, argv });
  });

  test.each(["echo 'a", 'echo "a', "echo a\\"])("refuses %s", (text) => {
    expect(splitCommand(text).ok).toBe(false);
  });

  test("reads what quoteCommand writes", () => {
    const argv = ["sh", "-c", "echo \"$HOME\" 'x' \\ | wc", "", "a b", "ä", "--k=v", "a\nb"];
    expect(splitCommand(quoteCommand(argv))).toEqual({ ok: true, argv });
  });
});

test.each([
  ["echo a | wc", "|"],
  ["a && b", "&&"],
  ["echo $HOME", "$HOME"],
  ['echo "$HOME"', "$HOME"],
  ["ls *", "*"],
  ["echo 'a | b'", undefined],
  ["curl https://host/a?b=c", undefined],
  ["python3 -c 'print(1)'", undefined],
])("shellOnly(%s)", (text, found) => {
  expect(shellOnly(text)).toBe(found);
});
