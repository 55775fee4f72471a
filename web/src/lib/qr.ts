// A QR code, drawn here so that a secret is asked of nobody else: ISO/IEC 18004, bytes, error correction
// level L, versions 1 to 10, which hold 271 bytes. A screen is a clean place; more correction would
// only make the squares smaller.

/** Rows of squares; `true` is dark. */
export type Squares = boolean[][];

// By version: codewords of data, codewords of correction in each block, blocks.
const DATA = [19, 34, 55, 80, 108, 136, 156, 194, 232, 274];
const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4];
const ALIGNMENT = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];
const LEVEL_L = 1;

export const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

/** `undefined` where the text is too long. */
export function qr(text: string): Squares | undefined {
  const bytes = new TextEncoder().encode(text);
  const index = DATA.findIndex((room, at) => bytes.length + headBytes(at) <= room);
  if (index < 0) return undefined;
  const words = interleave(index, codewords(bytes, index));
  const candidates = MASKS.map((_, mask) => draw(index, words, mask));
  return candidates.reduce((best, next) => (penalty(next) < penalty(best) ? next : best));
}

/** A path of unit squares, row by row, for SVG. */
export function qrPath(squares: Squares): string {
  const parts: string[] = [];
  squares.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const from = x;
      while (row[x + 1]) x += 1;
      parts.push(`M${from} ${y}h${x + 1 - from}v1h-${x + 1 - from}z`);
    }
  });
  return parts.join("");
}

/** Mode and length, rounded up: 4 bits and 8, or 16 from version 10 on, with 4 bits of end. */
function headBytes(index: number): number {
  return index < 9 ? 2 : 3;
}

function codewords(bytes: Uint8Array, index: number): number[] {
  const bits: number[] = [];
  const push = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
  };
  push(0b0100, 4);
  push(bytes.length, index < 9 ? 8 : 16);
  bytes.forEach((byte) => push(byte, 8));
  push(0, 4);
  const words: number[] = [];
  for (let at = 0; at < bits.length; at += 8)
    words.push(bits.slice(at, at + 8).reduce((sum, bit) => sum * 2 + bit, 0));
  const room = DATA[index] ?? 0;
  for (let pad = 0xec; words.length < room; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

// Multiplication in the field of 256 elements that QR codes use.
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

/** The remainder that makes a Reed-Solomon code of the data. */
export function correction(data: readonly number[], count: number): number[] {
  const divisor = new Array<number>(count).fill(0);
  divisor[count - 1] = 1;
  let root = 1;
  for (let at = 0; at < count; at++) {
    for (let to = 0; to < count; to++)
      divisor[to] = times(divisor[to] ?? 0, root) ^ (divisor[to + 1] ?? 0);
    root = times(root, 2);
  }
  const rest = new Array<number>(count).fill(0);
  for (const word of data) {
    const factor = word ^ (rest.shift() ?? 0);
    rest.push(0);
    divisor.forEach((one, at) => (rest[at] = (rest[at] ?? 0) ^ times(one, factor)));
  }
  return rest;
}

/** Cuts the data into blocks, adds what corrects each, and deals them out in turn. */
function interleave(index: number, words: number[]): number[] {
  const count = BLOCKS[index] ?? 1;
  const short = Math.floor(words.length / count);
  const shorts = count - (words.length % count);
  const blocks: number[][] = [];
  for (let block = 0, at = 0; block < count; block++) {
    const size = block < shorts ? short : short + 1;
    blocks.push(words.slice(at, at + size));
    at += size;
  }
  const extra = blocks.map((block) => correction(block, CORRECTION[index] ?? 0));
  return [...dealt(blocks), ...dealt(extra)];
}

function dealt(blocks: number[][]): number[] {
  const longest = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: longest }, (_, at) =>
    blocks.flatMap((block) => (at < block.length ? [block[at] ?? 0] : [])),
  ).flat();
}

function draw(index: number, words: number[], mask: number): Squares {
  const size = 21 + 4 * index;
  const squares: Squares = Array.from({ length: size }, () => new Array<boolean>(size).fill(false));
  const isTaken: Squares = squares.map((row) => [...row]);
  const set = (row: number, column: number, isDark: boolean): void => {
    const [line, taken] = [squares[row], isTaken[row]];
    if (line === undefined || taken === undefined || column < 0 || column >= size) return;
    line[column] = isDark;
    taken[column] = true;
  };

  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  for (const [top, left] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    for (let down = -4; down <= 4; down++)
      for (let right = -4; right <= 4; right++) {
        const ring = Math.max(Math.abs(down), Math.abs(right));
        set(top + down, left + right, ring !== 2 && ring !== 4);
      }
  const lines = ALIGNMENT[index] ?? [];
  const last = lines.length - 1;
  lines.forEach((top, i) =>
    lines.forEach((left, j) => {
      if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
      for (let down = -2; down <= 2; down++)
        for (let right = -2; right <= 2; right++)
          set(top + down, left + right, Math.max(Math.abs(down), Math.abs(right)) !== 1);
    }),
  );
  format(set, size, mask);
  if (index >= 6) version(set, size, index + 1);

  const isMasked = MASKS[mask] ?? (() => false);
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const isUpwards = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step++)
      for (const column of [right, right - 1]) {
        const row = isUpwards ? size - 1 - step : step;
        if (isTaken[row]?.[column]) continue;
        const isDark = (((words[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
        bit += 1;
        const line = squares[row];
        if (line) line[column] = isDark !== isMasked(row, column);
      }
  }
  return squares;
}

type Put = (row: number, column: number, isDark: boolean) => void;

/** The level and the mask with what corrects them, as they are written. */
export function formatBits(mask: number): number {
  const data = (LEVEL_L << 3) | mask;
  return ((data << 10) | remainder(data, 10, 0x537)) ^ 0x5412;
}

export function versionBits(number: number): number {
  return (number << 12) | remainder(number, 12, 0x1f25);
}

function remainder(data: number, count: number, divisor: number): number {
  let rest = data;
  for (let at = 0; at < count; at++) rest = (rest << 1) ^ ((rest >> (count - 1)) * divisor);
  return rest;
}

function format(set: Put, size: number, mask: number): void {
  const bits = formatBits(mask);
  const isDark = (at: number): boolean => ((bits >> at) & 1) === 1;
  for (let at = 0; at <= 5; at++) set(at, 8, isDark(at));
  set(7, 8, isDark(6));
  set(8, 8, isDark(7));
  set(8, 7, isDark(8));
  for (let at = 9; at < 15; at++) set(8, 14 - at, isDark(at));
  for (let at = 0; at < 8; at++) set(8, size - 1 - at, isDark(at));
  for (let at = 8; at < 15; at++) set(size - 15 + at, 8, isDark(at));
  set(size - 8, 8, true);
}

function version(set: Put, size: number, number: number): void {
  const bits = versionBits(number);
  for (let at = 0; at < 18; at++) {
    const isDark = ((bits >> at) & 1) === 1;
    const [far, near] = [size - 11 + (at % 3), Math.floor(at / 3)];
    set(near, far, isDark);
    set(far, near, isDark);
  }
}

/** How hard it is to read: long runs, blocks, what looks like a corner, too much of one colour. */
function penalty(squares: Squares): number {
  const size = squares.length;
  const columns = squares.map((_, at) => squares.map((row) => row[at] ?? false));
  const lines = [...squares, ...columns].map((line) =>
    line.map((isDark) => (isDark ? "1" : "0")).join(""),
  );
  let sum = 0;
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
    sum += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let row = 0; row + 1 < size; row++)
    for (let column = 0; column + 1 < size; column++) {
      const one = squares[row]?.[column];
      const isBlock =
        one === squares[row]?.[column + 1] &&
        one === squares[row + 1]?.[column] &&
        one === squares[row + 1]?.[column + 1];
      if (isBlock) sum += 3;
    }
  const dark = squares.flat().filter(Boolean).length;
  return sum + 10 * Math.floor(Math.abs((dark * 20) / (size * size) - 10));
}
