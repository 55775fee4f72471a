// A graph of steps as boxes and lines. Steps stand in columns: each to the right of everything that it
// comes after. A line that passes a column on its way gets a place there like a box, so that no line
// runs through one. The order within a column is found by a few sweeps (each step goes to the middle of
// its neighbours), and the heights by moving boxes towards their neighbours without changing the order.

export interface GraphStep {
  name: string;
  dependsOn?: readonly string[];
  /** It runs only when one of these has failed. */
  afterFailureOf?: readonly string[];
}

export interface Box {
  name: string;
  column: number;
  /** The upper left corner. */
  x: number;
  y: number;
}

export interface Line {
  from: string;
  to: string;
  isFailure: boolean;
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
}

export const BOX_WIDTH = 172;
export const BOX_HEIGHT = 34;
/** More than this nobody can follow with their eyes. */
export const STEPS_DRAWN = 400;
const GAP_X = 46;
const GAP_Y = 16;
const BEND_HEIGHT = 10;
const MARGIN = 8;
const SWEEPS = 6;

/** A name that fits into a box; what does not is cut there, and told in full elsewhere. */
export function fitting(name: string, most: number): string {
  const letters = [...name];
  return letters.length <= most
    ? name
    : `${letters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`;
}

/** A step, or a line on its way through a column. */
interface Spot {
  column: number;
  height: number;
  /** What stands before and behind it, one column away. */
  before: Spot[];
  behind: Spot[];
  place: number;
  middle: number;
}

interface Link {
  from: number;
  to: number;
  isFailure: boolean;
}

export function layout(steps: readonly GraphStep[]): Layout {
  const links = linksOf(steps);
  const columns = columnsOf(steps.length, links);
  const spots = columns.map((column) => spot(column, BOX_HEIGHT));
  const all = [...spots];
  const drawn = links.map((link) => {
    const [from, to] = [spots[link.from], spots[link.to]] as [Spot, Spot];
    const way = [from];
    for (let column = from.column + 1; column < to.column; column++) {
      const bend = spot(column, BEND_HEIGHT);
      all.push(bend);
      way.push(bend);
    }
    way.push(to);
    if (to.column > from.column) way.slice(1).forEach((next, i) => join(way[i] as Spot, next));
    return { ...link, way };
  });

  const grid = byColumn(all);
  arrange(grid);
  spread(grid);
  const top = Math.min(0, ...all.map(({ middle, height }) => middle - height / 2));
  for (const one of all) one.middle += MARGIN - top;

  const name = (index: number): string => steps[index]?.name ?? "";
  return {
    width: Math.max(0, grid.length * (BOX_WIDTH + GAP_X) - GAP_X) + 2 * MARGIN,
    height: Math.max(0, ...all.map(({ middle, height }) => middle + height / 2)) + MARGIN,
    boxes: spots.map(({ column, middle }, index) => ({
      name: name(index),
      column,
      x: left(column),
      y: middle - BOX_HEIGHT / 2,
    })),
    lines: drawn.map(({ from, to, isFailure, way }) => ({
      from: name(from),
      to: name(to),
      isFailure,
      path: curve(way),
    })),
  };
}

function spot(column: number, height: number): Spot {
  return { column, height, before: [], behind: [], place: 0, middle: 0 };
}

function join(from: Spot, to: Spot): void {
  from.behind.push(to);
  to.before.push(from);
}

/** What a step names that is not there, or is itself, is passed over. */
function linksOf(steps: readonly GraphStep[]): Link[] {
  const positions = new Map(steps.map(({ name }, index) => [name, index]));
  return steps.flatMap((step, to) => {
    const known = new Set<string>();
    const of = (names: readonly string[] | undefined, isFailure: boolean): Link[] =>
      (names ?? []).flatMap((name) => {
        const from = positions.get(name);
        if (from === undefined || from === to || known.has(name)) return [];
        known.add(name);
        return [{ from, to, isFailure }];
      });
    return [...of(step.dependsOn, false), ...of(step.afterFailureOf, true)];
  });
}

/** The longest way to each step. What is in a circle, which no server lets in, stands behind what is not. */
function columnsOf(count: number, links: readonly Link[]): number[] {
  const columns = new Array<number>(count).fill(0);
  const open = new Array<number>(count).fill(0);
  const next = new Map<number, number[]>();
  for (const { from, to } of links) {
    open[to] = (open[to] ?? 0) + 1;
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  const ready = open.flatMap((waits, index) => (waits === 0 ? [index] : []));
  for (let at = ready.shift(); at !== undefined; at = ready.shift()) {
    for (const to of next.get(at) ?? []) {
      columns[to] = Math.max(columns[to] ?? 0, (columns[at] ?? 0) + 1);
      open[to] = (open[to] ?? 0) - 1;
      if (open[to] === 0) ready.push(to);
    }
  }
  return columns;
}

function byColumn(all: readonly Spot[]): Spot[][] {
  const grid: Spot[][] = [];
  for (const one of all) {
    while (grid.length <= one.column) grid.push([]);
    grid[one.column]?.push(one);
  }
  for (const column of grid) number(column);
  return grid;
}

function number(column: readonly Spot[]): void {
  column.forEach((one, place) => (one.place = place));
}

function arrange(grid: Spot[][]): void {
  const sort = (column: Spot[], side: "before" | "behind"): void => {
    const wish = new Map(
      column.map((one) => [one, mean(one[side].map(({ place }) => place)) ?? one.place]),
    );
    column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || a.place - b.place);
    number(column);
  };
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of grid.slice(1)) sort(column, "before");
    for (const column of grid.slice(0, -1).toReversed()) sort(column, "behind");
  }
  for (const column of grid.slice(1)) sort(column, "before");
}

function spread(grid: readonly Spot[][]): void {
  const settle = (column: readonly Spot[], wish: (one: Spot) => number): void => {
    const offsets: number[] = [];
    let below = 0;
    for (const { height } of column) {
      offsets.push(below + height / 2);
      below += height + GAP_Y;
    }
    const places = rising(column.map((one, i) => wish(one) - (offsets[i] ?? 0)));
    column.forEach((one, i) => (one.middle = (places[i] ?? 0) + (offsets[i] ?? 0)));
  };
  const near =
    (...sides: ("before" | "behind")[]) =>
    (one: Spot): number =>
      mean(sides.flatMap((side) => one[side].map(({ middle }) => middle))) ?? one.middle;
  for (const column of grid) settle(column, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of grid.slice(1)) settle(column, near("before"));
    for (const column of grid.toReversed()) settle(column, near("behind", "before"));
  }
}

/** The nearest numbers that never fall. */
export function rising(wanted: readonly number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  for (const value of wanted) {
    let block = { sum: value, count: 1 };
    for (let last = blocks.at(-1); last; last = blocks.at(-1)) {
      if (last.sum / last.count <= block.sum / block.count) break;
      blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0
    ? undefined
    : values.reduce((sum, one) => sum + one, 0) / values.length;
}

function left(column: number): number {
  return MARGIN + column * (BOX_WIDTH + GAP_X);
}

/** From the right side of the first to the tip at the left side of the last, level through what lies between. */
function curve(way: readonly Spot[]): string {
  const [first, ...rest] = way as [Spot, ...Spot[]];
  let [x, y] = [left(first.column) + BOX_WIDTH, first.middle];
  let path = `M${round(x)} ${round(y)}`;
  for (const one of rest) {
    const [toX, toY] = [left(one.column), one.middle];
    const half = (x + toX) / 2;
    path += `C${round(half)} ${round(y)} ${round(half)} ${round(toY)} ${round(toX)} ${round(toY)}`;
    [x, y] = [toX + BOX_WIDTH, toY];
    if (one !== rest.at(-1)) path += `H${round(x)}`;
  }
  return `${path}m-6-4l6 4l-6 4`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
