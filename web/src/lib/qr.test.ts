import { expect, test } from "vitest";

import { correction, formatBits, MASKS, qr, qrPath, type Squares, versionBits } from "./qr";

const URI =
  "otpauth://totp/Hostler:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Hostler&algorithm=SHA1&digits=6&period=30";

test("the figures of the standard", () => {
  const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
  expect(correction(data, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
  expect(formatBits(0)).toBe(0b111011111000100);
  expect(formatBits(7)).toBe(0b110100101110110);
  expect(versionBits(7)).toBe(0b000111110010010100);
});

test.each([
  ["a", 21],
  ["x".repeat(17), 21],
  ["x".repeat(18), 25],
  ["ü".repeat(30), 33],
  [URI, 41],
])("%s is read back from %d squares a side", (text, side) => {
  const squares = qr(text);
  expect(squares?.length).toBe(side);
  expect(read(squares ?? [])).toBe(text);
});

test("what is longer has more squares, up to a bound", () => {
  expect(qr("x".repeat(271))?.length).toBe(57);
  expect(qr("x".repeat(272))).toBeUndefined();
});

test("a path draws each run of dark squares once", () => {
  expect(qrPath([[true, true, false, true], []])).toBe("M0 0h2v1h-2zM3 0h1v1h-1z");
});

/** Reads a code of version 1 to 6 as the standard says, and holds what corrects against the data. */
function read(squares: Squares): string {
  const size = squares.length;
  const index = (size - 21) / 4;
  const isDark = (row: number, column: number): boolean => squares[row]?.[column] ?? false;
  const isNear = (at: number): boolean => Math.abs(at - (size - 7)) <= 2;
  const isReserved = (row: number, column: number): boolean =>
    (row < 9 && (column < 9 || column >= size - 8)) ||
    (row >= size - 8 && column < 9) ||
    row === 6 ||
    column === 6 ||
    (index > 0 && isNear(row) && isNear(column));
  const written = [12, 11, 10].reduce((sum, at) => sum * 2 + Number(isDark(8, 14 - at)), 0);
  const isMasked = MASKS[written ^ ((0x5412 >> 10) & 7)] ?? (() => false);

  const bits: number[] = [];
  const pairs = Array.from({ length: (size - 1) / 2 }, (_, at) => size - 1 - 2 * at);
  pairs
    .map((column) => (column <= 6 ? column - 1 : column))
    .forEach((right, turn) => {
      for (let step = 0; step < size; step++)
        for (const column of [right, right - 1]) {
          const row = turn % 2 === 0 ? size - 1 - step : step;
          if (!isReserved(row, column))
            bits.push(Number(isDark(row, column) !== isMasked(row, column)));
        }
    });
  const words = Array.from({ length: Math.floor(bits.length / 8) }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((sum, bit) => sum * 2 + bit, 0),
  );

  const [data, extra, blocks] = [
    [19, 7, 1],
    [34, 10, 1],
    [55, 15, 1],
    [80, 20, 1],
    [108, 26, 1],
    [136, 18, 2],
  ][index] ?? [0, 0, 1];
  const turns = (from: number, to: number, block: number): number[] =>
    words.slice(from, to).filter((_, at) => at % (blocks ?? 1) === block);
  const found: number[] = [];
  for (let block = 0; block < (blocks ?? 1); block++) {
    const own = turns(0, data ?? 0, block);
    const end = (data ?? 0) + (extra ?? 0) * (blocks ?? 1);
    expect(turns(data ?? 0, end, block)).toEqual(correction(own, extra ?? 0));
    found.push(...own);
  }
  expect((found[0] ?? 0) >> 4).toBe(0b0100);
  const nibble = (at: number): number => ((found[at >> 1] ?? 0) >> (at % 2 === 0 ? 4 : 0)) & 15;
  const byte = (at: number): number => nibble(at) * 16 + nibble(at + 1);
  const length = byte(1);
  const bytes = Uint8Array.from({ length }, (_, at) => byte(3 + 2 * at));
  return new TextDecoder().decode(bytes);
}
