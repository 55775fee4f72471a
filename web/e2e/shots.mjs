// Pictures of every page from the mock, light and dark, wide and narrow, for looking at:
// `node e2e/shots.mjs FOLDER`. With `--docs` only the pictures that the documentation shows.

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { launch, login, openPage } from "./browser.mjs";
import { startMock } from "./mock.mjs";

const SIZES = { wide: { width: 1360, height: 860 }, narrow: { width: 390, height: 800 } };
const MACHINE_TABS = [
  ["health", "/var is 93 % full"],
  ["services", "chrony.service"],
  ["processes", "ffmpeg"],
  ["packages", "libssl3t64"],
  ["disk", "nvme0n1p3"],
  ["users", "docker"],
  ["logs", "could not write lock file"],
];
const STACK_SHOTS = [
  ["stacks", "", "no space left"],
  ["stack", "/shop-web", "https://shop.example"],
  ["stack-busy", "/rollout", "Let two go on"],
  ["stack-resources", "/shop-web?tab=resources&resource=balancer", "signalled by hand"],
  ["stack-graph", "/shop-web?tab=graph", "to the right of everything"],
  ["stack-events", "/shop-web?tab=events", "Updated"],
  ["stack-history", "/shop-web?tab=history&from=v2", "1 to create, 1 to change"],
  ["stack-template", "/shop-web?tab=template", "heat_template_version"],
];
const DOCS = fileURLToPath(new URL("../../docs/images/", import.meta.url));

async function show(page, address, hash, text) {
  await page.goto(`${address}/${hash}`);
  await page.getByText(text).first().waitFor();
  await page
    .getByText("Live", { exact: true })
    .waitFor()
    .catch(() => undefined);
}

async function every(browser, folder) {
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const mock = await startMock();
      const { context, page } = await openPage(browser, { colorScheme, viewport });
      const shot = (name) =>
        page.screenshot({ path: `${folder}/${name}-${size}-${colorScheme}.png` });
      await page.goto(mock.address);
      await page.getByLabel("Name").waitFor();
      await shot("login");
      await login(page, mock.address);
      await shot("tasks");
      await show(page, mock.address, "#/projects/default/tasks/build-renderd", "io/png.o");
      await shot("task");
      await show(page, mock.address, "#/projects/default/tasks/verify-backups", "Fatal");
      await shot("failed");
      await show(
        page,
        mock.address,
        "#/projects/default/tasks/train-classifier",
        "lacks the label",
      );
      await shot("pending");
      await page.goto(`${mock.address}/#/projects/default/tasks`);
      await page.getByRole("button", { name: "Submit task" }).click();
      await page
        .getByRole("dialog")
        .getByLabel("Command", { exact: true })
        .fill("du -sh /srv | sort -h");
      await page.getByText("Resources, placement and environment").click();
      await shot("submit");
      await page.keyboard.press("Escape");
      await show(page, mock.address, "#/projects/default/tasks/publish-index", "priority 10");
      await shot("task-after");
      await show(page, mock.address, "#/projects/default/tasks/render-042", "unpacked there");
      await page.getByRole("region", { name: "Kept files" }).scrollIntoViewIfNeeded();
      await shot("task-files");
      await page.goto(`${mock.address}/#/projects/default/files`);
      await page.getByText("042.scene").waitFor();
      await shot("files");
      await page.getByRole("link", { name: "042.scene" }).click();
      await page.getByText("give or take an hour").waitFor();
      await shot("file");
      await page.goto(`${mock.address}/#/projects/render-farm/files`);
      await page.getByText("No files yet").waitFor();
      await shot("files-none");
      await page.goto(`${mock.address}/#/projects/default/arrays`);
      await page.getByText("together").waitFor();
      await shot("arrays");
      await page.goto(`${mock.address}/#/projects/default/arrays/sweep`);
      await page.getByText("exit code 3, on stall-1").waitFor();
      await shot("array");
      await page.goto(`${mock.address}/#/projects/render-farm/arrays`);
      await page.getByText("No arrays yet").waitFor();
      await shot("arrays-none");
      await page.getByRole("button", { name: "Submit array" }).click();
      await page.getByText("Resources, placement and environment").click();
      await shot("array-submit");
      await page.keyboard.press("Escape");
      await page.goto(`${mock.address}/#/projects/default/workflows`);
      await page.getByText("puts it live").waitFor();
      await shot("workflows");
      await page.goto(`${mock.address}/#/projects/default/workflows?tab=modules&module=web`);
      await page.getByText("return { port = 443 }").waitFor();
      await shot("modules");
      await page.goto(`${mock.address}/#/projects/default/workflows/release`);
      await page.getByRole("link", { name: "alarm" }).first().waitFor();
      await shot("workflow");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText("Such as").first().waitFor();
      await shot("workflow-run");
      await page.keyboard.press("Escape");
      await page.goto(`${mock.address}/#/projects/default/executions`);
      await page.getByText("mira").or(page.getByText("Failed")).first().waitFor();
      await shot("executions");
      const [failed] = mock.world.executions.keys();
      await page.goto(`${mock.address}/#/projects/default/executions/${failed}`);
      await page.getByText("Cannot stat").first().waitFor();
      await shot("execution");
      await page.goto(`${mock.address}/#/projects/default/executions/${failed}?step=test`);
      await page.getByText('"tests": 212').waitFor();
      await shot("execution-step");
      for (const [name, asked, text] of STACK_SHOTS) {
        await page.goto(`${mock.address}/#/projects/default/stacks${asked}`);
        await page.getByText(text).first().waitFor();
        await shot(name);
      }
      await page.goto(`${mock.address}/#/projects/default/stacks/shop-web`);
      await page.getByRole("button", { name: "Update", exact: true }).click();
      await page.getByText("4 resources,").waitFor();
      await shot("stack-form");
      await page.keyboard.press("Escape");
      await page.goto(`${mock.address}/#/queue`);
      await page.getByText("weight 2").waitFor();
      await shot("queue");
      await page.goto(`${mock.address}/#/accounts`);
      await page.getByText("backup-bot").waitFor();
      await shot("accounts");
      await show(page, mock.address, "#/projects/default/workloads", "shop-front");
      await shot("workloads");
      await show(page, mock.address, "#/projects/default/workloads/shop-front", "basket");
      await page.getByRole("img", { name: /^Memory/ }).waitFor();
      await shot("workload");
      await page.screenshot({
        path: `${folder}/workload-whole-${size}-${colorScheme}.png`,
        fullPage: true,
      });
      await show(page, mock.address, "#/projects/default/workloads/embeddings", "lacks the label");
      await shot("workload-pending");
      await show(page, mock.address, "#/projects/render-farm/workloads", "No workloads yet");
      await shot("workloads-none");
      await page.goto(`${mock.address}/#/nodes`);
      await page.getByText("paddock").waitFor();
      await shot("nodes");
      await page.getByRole("link", { name: "farrier" }).click();
      await page.getByText("Out of service: Xid 79").waitFor();
      await shot("node");
      for (const [tab, text] of MACHINE_TABS) {
        await page.goto(`${mock.address}/#/nodes/farrier?tab=${tab}`);
        await page.getByText(text).first().waitFor();
        await shot(`machine-${tab}`);
      }
      await page.goto(`${mock.address}/#/overview`);
      await page.getByRole("img", { name: /^Memory:/ }).waitFor();
      await page.getByText("the last good backup").waitFor();
      await shot("overview");
      await page.goto(`${mock.address}/#/backups`);
      await page.getByText("no space left").first().waitFor();
      await shot("backups");
      await page.goto(`${mock.address}/#/projects/default/people/vera`);
      await page.getByText("No browser is logged in.").waitFor();
      await shot("people");
      await page.goto(`${mock.address}/#/projects/default/people?tab=members`);
      await page.getByText("mira").waitFor();
      await shot("members");
      await page.goto(`${mock.address}/#/roles/operator`);
      await page.getByText("What it allows").waitFor();
      await shot("roles");
      await page.getByLabel("Close panel").click();
      await page.getByLabel("Compare permissions").check();
      await shot("permissions");
      await page.goto(`${mock.address}/#/groups`);
      await page.getByText("No groups yet").waitFor();
      await shot("groups-none");
      await page.goto(`${mock.address}/#/projects/default/secrets`);
      await page.getByText("No secrets yet").waitFor();
      await shot("secrets-none");
      await page.goto(`${mock.address}/#/projects/default/state`);
      await page.getByRole("row").filter({ hasText: "deploys" }).waitFor();
      await shot("state");
      await page.goto(`${mock.address}/#/projects/default/state/deploys/web%2Fconfig`);
      await page.getByText("replicas").first().waitFor();
      await shot("state-entry");
      await page.goto(`${mock.address}/#/projects/default/locks/db%2Fmigrate`);
      await page.getByText("burnt down").waitFor();
      await shot("lock");
      await page.getByLabel("Close panel").click();
      await page.getByText("gpu-pool").waitFor();
      await shot("locks");
      await page.goto(`${mock.address}/#/projects/default/watchers/full`);
      await page.getByText("there is no /srv").waitFor();
      await shot("watcher");
      await page.getByLabel("Close panel").click();
      await page.getByText("certs").waitFor();
      await shot("watchers");
      await page.goto(`${mock.address}/#/node-backups/nightly`);
      await page.getByText("permission denied").waitFor();
      await shot("node-backup");
      await page.getByLabel("Close panel").click();
      await page.getByText("stall-2").first().waitFor();
      await shot("node-backups");
      await page.goto(`${mock.address}/#/projects/default/events`);
      await page.getByText("Live", { exact: true }).waitFor();
      await shot("events");
      await page.getByRole("link", { name: "task.failed" }).first().click();
      await page.getByRole("region", { name: "From the same cause" }).waitFor();
      await shot("event");
      await page.goto(`${mock.address}/#/audit`);
      await page.getByText("job-250").waitFor();
      await shot("audit");
      await page.goto(`${mock.address}/#/me`);
      await page.getByRole("button", { name: "Set it up" }).click();
      await page.getByLabel("Your password").fill("hostler");
      await page.getByRole("button", { name: "Begin" }).click();
      await page.getByRole("img", { name: "QR code of the secret" }).waitFor();
      await shot("me");
      await page.goto(`${mock.address}/#/start`);
      await page.getByText("online:").waitFor();
      await page.getByRole("button", { name: "Create a join command" }).click();
      await page.getByText("Waiting for the node").waitFor();
      await shot("start");
      await context.close();
      await mock.stop();
    }
  }
}

async function forDocs(browser) {
  const mock = await startMock();
  const { context, page } = await openPage(browser, { viewport: { width: 1360, height: 800 } });
  await login(page, mock.address);
  await page.getByRole("link", { name: "build-renderd" }).click();
  await page.getByRole("log").getByText("io/tiff.o").first().waitFor();
  await page.mouse.move(800, 40);
  await page.screenshot({ path: `${DOCS}dashboard.png` });
  await show(page, mock.address, "#/projects/default/workloads/shop-front", "basket");
  await page.getByRole("img", { name: /^Memory/ }).waitFor();
  await page.getByRole("log").getByText("saddles").first().waitFor();
  await page.screenshot({ path: `${DOCS}workload.png` });
  await page.goto(`${mock.address}/#/projects/default/arrays/sweep`);
  await page.getByText("exit code 3, on stall-1").waitFor();
  await page.screenshot({ path: `${DOCS}array.png` });
  await context.close();
  await mock.stop();
}

const browser = await launch();
if (process.argv.includes("--docs")) await forDocs(browser);
else await every(browser, process.argv[2] ?? "shots");
await browser.close();
