// A real browser, and the complaints that it makes along the way.

import { existsSync } from "node:fs";

import { chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
export const DEADLINE_MS = 30_000;

export function launch() {
  const executablePath =
    process.env.HOSTLER_E2E_BROWSER ?? PLACES.find((place) => existsSync(place));
  if (executablePath === undefined)
    throw new Error("no browser found; install chromium or name one in HOSTLER_E2E_BROWSER");
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A page of its own; `complaints` fills with what must never happen. */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1360, height: 860 },
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
  page.on("request", (request) => {
    const { origin } = new URL(request.url());
    const home = page.url() === "about:blank" ? origin : new URL(page.url()).origin;
    if (origin !== home) complaints.push(`asked another host: ${request.url()}`);
  });
  return { context, page, complaints };
}

export function must(condition, words) {
  if (!condition) throw new Error(words);
}

/** Into the mock, where everybody has the same password. */
export async function login(page, address, name = "admin") {
  await page.goto(address);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill("hostler");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
}

export async function textOf(download) {
  const parts = [];
  for await (const part of await download.createReadStream()) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}
