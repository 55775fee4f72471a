// The dashboard against a real server, in a real browser, as a new user meets it:
//
//   node web/e2e/dashboard.mjs BASE_URL SETUP_CODE [SCREENSHOT_FOLDER]
//   node web/e2e/dashboard.mjs BASE_URL NAME/PASSWORD [SCREENSHOT_FOLDER]
//
// With a setup code the first admin is made (name and password from HOSTLER_E2E_NAME and
// HOSTLER_E2E_PASSWORD). The workload is applied with the command line that HOSTLER_E2E_CLI names,
// and by the page itself where there is none. Ends with 0 when everything was seen, 1 with the reason
// otherwise.

import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { launch, must, openPage, textOf } from "./browser.mjs";
import { seeAccess } from "./walk-access.mjs";

const SAID = "hello-from-browser";
const LEFT = { name: "leaver", file: "left.txt", text: "hello-from-file" };
const KEPT = {
  name: "kept",
  mode: "forever",
  command: ["sh", "-c", "echo hello-from-kept; while :; do echo tick; sleep 1; done"],
  tags: ["demo"],
};

export async function walk(base, credential, folder) {
  if (folder) await mkdir(folder, { recursive: true });
  const browser = await launch();
  const { page, complaints } = await openPage(browser);
  const shot = (name) => folder && page.screenshot({ path: `${folder}/${name}.png` });
  try {
    await enter(page, base, credential, shot);
    await seeNode(page, shot);
    await runTask(page, shot);
    await runArray(page, shot);
    await keepFile(page, shot);
    await seeImages(page, shot);
    await seeAccounts(page, shot);
    await keepWorkload(page, shot);
    await seeAccess(page, { base, browser, password: passwordOf(credential), shot });
    await leave(page, shot);
    must(complaints.length === 0, `the browser complained: ${complaints.join("; ")}`);
  } catch (error) {
    await shot("failure");
    throw error;
  } finally {
    await browser.close();
  }
}

function passwordOf(credential) {
  if (credential.includes("/")) return credential.slice(credential.indexOf("/") + 1);
  return process.env.HOSTLER_E2E_PASSWORD ?? "a horse, a lantern, a gate";
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
    const password = passwordOf(credential);
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

async function runArray(page, shot) {
  await page.getByRole("link", { name: "Arrays", exact: true }).click();
  await page.getByRole("button", { name: "Submit array" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Command", { exact: true }).fill('echo "index $HOSTLER_ARRAY_INDEX"');
  await dialog.getByLabel("Run it through a shell").check();
  await dialog.getByLabel("Range").fill("1-4%2");
  await dialog.getByLabel("Name", { exact: true }).fill("four");
  await dialog.getByText("4 tasks, at most 2 at once").waitFor();
  await shot("array-submit");
  await dialog.getByRole("button", { name: "Submit array" }).click();
  const panel = page.getByRole("complementary", { name: "Array four" });
  await panel.getByRole("paragraph").getByText("4 of 4 ended: 4 completed").waitFor();
  await shot("array");
  await panel.getByRole("link", { name: "4 Completed" }).click();
  await page.getByRole("link", { name: "four-3", exact: true }).click();
  const task = page.getByRole("complementary", { name: "Task four-3" });
  await task.getByText("four, index 3").waitFor();
  await task.getByRole("button", { name: "Explain" }).click();
  await task.getByRole("region", { name: "Why it is where it is" }).getByText(/ended/).waitFor();
  await page.getByRole("link", { name: "Queue", exact: true }).click();
  await page
    .getByRole("region", { name: "Project default" })
    .getByText(/^weight/)
    .waitFor();
  await shot("queue");
}

/** Runs the command line, where there is one. */
function run(cli, words, given = "") {
  return new Promise((resolve, reject) => {
    const child = execFile(cli, words, (error, _, said) =>
      error ? reject(new Error(`${error.message}\n${said}`)) : resolve(),
    );
    child.stdin.end(given);
  });
}

/** Makes a change through the API, as the page's own session. */
function send(page, method, address, body) {
  return page.evaluate(
    async ({ method, address, body }) => {
      const who = await (await fetch("/api/v1/whoami")).json();
      const headers = { "x-hostler-csrf": who.csrfToken, "content-type": "application/json" };
      if (method === "POST") headers["idempotency-key"] = crypto.randomUUID();
      const response = await fetch(address, { method, headers, body });
      if (!response.ok) throw new Error(await response.text());
    },
    { method, address, body: JSON.stringify(body) },
  );
}

/** Submits a task that leaves a file. */
function submitLeaver(page) {
  const { name, file, text } = LEFT;
  const command = ["sh", "-c", `echo ${text} > ${file}`];
  const cli = process.env.HOSTLER_E2E_CLI;
  if (cli !== undefined)
    return run(cli, ["task", "submit", "--name", name, "--keep", file, "--", ...command]);
  const spec = { command, outputs: [{ path: file, when: "success" }] };
  return send(page, "POST", "/api/v1/projects/default/tasks", { name, spec });
}

/** Saves a file through a link, and holds it to its name and content. */
async function save(page, link, { file, text }) {
  const coming = page.waitForEvent("download");
  await link.click();
  const download = await coming;
  must(download.suggestedFilename() === file, `it is saved as ${download.suggestedFilename()}`);
  const found = await textOf(download);
  must(found === `${text}\n`, `the file holds ${JSON.stringify(found)}`);
}

async function keepFile(page, shot) {
  const { name, file } = LEFT;
  await submitLeaver(page);
  await page.getByRole("link", { name: "Tasks", exact: true }).click();
  await page.getByRole("link", { name, exact: true }).click();
  const task = page.getByRole("complementary", { name: `Task ${name}` });
  const kept = task.getByRole("region", { name: "Kept files" });
  const row = kept.getByRole("row").filter({ hasText: file });
  await row.getByText("Kept", { exact: true }).waitFor();
  await row.getByText("16 B", { exact: true }).waitFor();
  await kept.getByText(`hostler task download ${name}`).waitFor();
  await save(page, row.getByRole("link", { name: `Download ${file}` }), LEFT);
  await shot("task-files");

  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();
  const listed = page.getByRole("row").filter({ hasText: file });
  await listed.getByText("Left by a task").waitFor();
  await shot("files");
  await listed.getByRole("link", { name: file, exact: true }).click();
  const panel = page.getByRole("complementary", { name: `File ${file}` });
  await panel.getByText("16 B, 16 bytes").waitFor();
  await save(page, panel.getByRole("link", { name: "Download", exact: true }), LEFT);
  await panel.getByRole("button", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog", { name: `Remove ${file}?` });
  await dialog.getByText("hostler blob rm").waitFor();
  await dialog.getByRole("button", { name: "Remove file" }).click();
  await dialog.getByRole("alert").getByText("a task still needs this blob").waitFor();
  await shot("file-needed");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
}

async function seeImages(page, shot) {
  await page.getByRole("link", { name: "Images", exact: true }).click();
  await page.getByRole("heading", { name: "Images", exact: true }).waitFor();
  await page.getByText(/\d+ versions?$/).waitFor();
  await shot("images");
}

async function seeAccounts(page, shot) {
  await page.getByRole("link", { name: "Accounts", exact: true }).click();
  const rows = page.locator("tbody").getByRole("row");
  await rows.filter({ hasText: "default" }).first().waitFor();
  await page.getByRole("button", { name: "Download CSV" }).waitFor();
  await shot("accounts");
}

/** Applies a workload from outside of what the page shows. */
function apply(page) {
  const cli = process.env.HOSTLER_E2E_CLI;
  if (cli !== undefined) return run(cli, ["workload", "apply", "-f", "-"], JSON.stringify(KEPT));
  const { name, ...spec } = KEPT;
  return send(page, "PUT", `/api/v1/projects/default/workloads/${name}`, spec);
}

async function keepWorkload(page, shot) {
  await page.getByRole("link", { name: "Workloads", exact: true }).click();
  await page.getByRole("heading", { name: "Workloads", level: 1 }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await shot("workloads-before");
  await apply(page);
  const row = page.getByRole("row").filter({ hasText: KEPT.name });
  await row.getByText("Running", { exact: true }).waitFor();
  await row.getByText("1/1").waitFor();
  await shot("workloads");
  await row.getByRole("link", { name: KEPT.name, exact: true }).click();
  const shown = page.getByRole("article", { name: `Workload ${KEPT.name}` });
  const log = shown.getByRole("log");
  await log.getByText("hello-from-kept", { exact: true }).waitFor();
  await log.getByText("tick", { exact: true }).nth(1).waitFor();
  await shown.getByRole("region", { name: "Runs" }).getByText("Running").waitFor();
  await shown.getByRole("region", { name: "Spec" }).getByText("mode: forever").waitFor();

  await shown.getByRole("searchbox").fill("^hello");
  await log.getByText("tick", { exact: true }).first().waitFor({ state: "detached" });
  await log.getByText("hello-from-kept", { exact: true }).waitFor();
  await shown.getByRole("button", { name: "Show everything" }).click();
  await log.getByText("tick", { exact: true }).nth(2).waitFor();
  await shot("workload");

  await shown.getByRole("button", { name: "Stop", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `Stop ${KEPT.name}?` });
  await dialog.getByText(`hostler workload stop ${KEPT.name}`).waitFor();
  await dialog.getByRole("button", { name: "Stop workload" }).click();
  const placements = shown.getByRole("region", { name: "Placements" });
  await placements.getByText("Stopped", { exact: true }).waitFor();
  await log.getByText(/run 1 ended/).waitFor();
  await shown
    .getByRole("region", { name: "Runs" })
    .getByText(/stopped/)
    .waitFor();
  await shown.getByRole("button", { name: "Start", exact: true }).waitFor();
  await shot("workload-stopped");

  await page.getByRole("link", { name: "Nodes", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "Online" }).first().getByRole("link").click();
  const here = page.getByRole("region", { name: "Workloads here" });
  await here.getByRole("link", { name: KEPT.name, exact: true }).waitFor();
  await shot("node");
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
