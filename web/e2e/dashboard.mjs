// The dashboard against a real server, in a real browser, as a new user meets it:
//
//   node web/e2e/dashboard.mjs BASE_URL SETUP_CODE [SCREENSHOT_FOLDER]
//   node web/e2e/dashboard.mjs BASE_URL NAME/PASSWORD [SCREENSHOT_FOLDER]
//
// With a setup code the first admin is made (name and password from HOSTLER_E2E_NAME and
// HOSTLER_E2E_PASSWORD). Ends with 0 when everything was seen, 1 with the reason otherwise.

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { launch, must, openPage } from "./browser.mjs";

const SAID = "hello-from-browser";

export async function walk(base, credential, folder) {
  if (folder) await mkdir(folder, { recursive: true });
  const browser = await launch();
  const { page, complaints } = await openPage(browser);
  const shot = (name) => folder && page.screenshot({ path: `${folder}/${name}.png` });
  try {
    await enter(page, base, credential, shot);
    await seeNode(page, shot);
    await runTask(page, shot);
    await leave(page, shot);
    must(complaints.length === 0, `the browser complained: ${complaints.join("; ")}`);
  } catch (error) {
    await shot("failure");
    throw error;
  } finally {
    await browser.close();
  }
}

async function enter(page, base, credential, shot) {
  if (credential.includes("/")) {
    const at = credential.indexOf("/");
    await page.goto(base);
    await page.getByLabel("Name").fill(credential.slice(0, at));
    await page.getByLabel("Password").fill(credential.slice(at + 1));
    await shot("login");
    await page.getByRole("button", { name: "Log in" }).click();
  } else {
    const password = process.env.HOSTLER_E2E_PASSWORD ?? "a horse, a lantern, a gate";
    await page.goto(`${base}/#setup=${encodeURIComponent(credential)}`);
    await page.getByRole("heading", { name: "Create the first admin" }).waitFor();
    must(
      (await page.getByLabel("One-time code").inputValue()) === credential,
      "the code is not filled in",
    );
    must(!page.url().includes(credential), "the code stays in the address");
    await page.getByLabel("Name").fill(process.env.HOSTLER_E2E_NAME ?? "admin");
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByLabel("Password again").fill(password);
    await shot("setup");
    await page.getByRole("button", { name: "Create admin" }).click();
  }
  await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
  const kept = await page.evaluate(() =>
    [document.cookie, localStorage.length, sessionStorage.length].join(),
  );
  must(kept === ",0,0", `scripts can read something that was kept: ${kept}`);
}

async function seeNode(page, shot) {
  await page.getByRole("link", { name: "Getting started" }).click();
  await page.getByText("hostler run -- echo hello").waitFor();
  await page.getByRole("link", { name: "Nodes", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "Online" }).first().waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await shot("nodes");
}

async function runTask(page, shot) {
  await page.getByRole("link", { name: "Tasks", exact: true }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Submit task" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Command", { exact: true }).fill(`echo ${SAID}`);
  await dialog.getByText(`hostler run -- echo ${SAID}`).waitFor();
  await shot("submit");
  await dialog.getByRole("button", { name: "Submit task" }).click();
  const panel = page.getByRole("complementary", { name: /^Task / });
  await panel.getByText("Completed", { exact: true }).waitFor();
  await panel.getByRole("log").getByText(SAID, { exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: SAID }).getByText("Completed").first().waitFor();
  await shot("tasks");
}

async function leave(page, shot) {
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  const status = await page.evaluate(async () => (await fetch("/api/v1/whoami")).status);
  must(status === 401, `after logging out whoami answers ${status}`);
  await shot("logged-out");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [base, credential, folder] = process.argv.slice(2);
  if (!base || !credential) {
    console.error(
      "usage: node web/e2e/dashboard.mjs BASE_URL SETUP_CODE|NAME/PASSWORD [SCREENSHOT_FOLDER]",
    );
    process.exit(2);
  }
  try {
    await walk(base.replace(/\/$/, ""), credential, folder);
    console.log("dashboard: everything was seen");
  } catch (error) {
    console.error(`dashboard: ${error.message}`);
    process.exit(1);
  }
}
