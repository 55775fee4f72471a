// What people type into fields, read strictly: a mistake is said in words before anything is sent.

import { type Amount, bytes } from "./words";

export type Read<T> = { ok: true; value: T } | { ok: false; error: string };

const UNITS: Record<string, number> = {
  "": 1,
  b: 1,
  k: 1000,
  kb: 1000,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  t: 1e12,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** `512MiB`, `2GiB`, `1500000`. */
export function readBytes(text: string): Read<number> {
  const [, number = "", unit = ""] = /^([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  const factor = UNITS[unit.toLowerCase()];
  const value = Number(number) * (factor ?? Number.NaN);
  if (number === "" || !Number.isSafeInteger(Math.round(value)))
    return {
      ok: false,
      error: `“${text}” is not an amount of memory; write for example 512MiB or 2GiB.`,
    };
  return { ok: true, value: Math.round(value) };
}

/** An amount in the unit that says it exactly, so that reading it gives it back. */
export function exactBytes(given: Amount): string {
  const amount = Number(given);
  const text = bytes(amount).replace(" ", "");
  const back = readBytes(text);
  return back.ok && back.value === amount ? text : String(amount);
}

/** `2`, `0.5`; at most three decimals. */
export function readCores(text: string): Read<number> {
  if (!/^[0-9]{1,6}(\.[0-9]{1,3})?$/.test(text.trim()))
    return { ok: false, error: `“${text}” is not a number of cores; write for example 2 or 0.5.` };
  return { ok: true, value: Number(text.trim()) };
}

/** `30s`, `1m30s`, `2h`; passed on as it stands. */
export function readSpan(text: string): Read<string> {
  const trimmed = text.trim();
  if (!/^([0-9]{1,9}(d|h|m|s|ms))+$/.test(trimmed))
    return { ok: false, error: `“${text}” is not a duration; write for example 30s, 1m30s or 2h.` };
  return { ok: true, value: trimmed };
}

/** `KEY=value`, one a line (environment) or with commas (labels). */
export function readPairs(text: string, separator: RegExp): Read<Record<string, string>> {
  const value: Record<string, string> = {};
  for (const part of text.split(separator)) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    if (at <= 0) return { ok: false, error: `“${part.trim()}” is not of the form key=value.` };
    value[part.slice(0, at).trim()] = part.slice(at + 1);
  }
  return { ok: true, value };
}

export function isName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}
