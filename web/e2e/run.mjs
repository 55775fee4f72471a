// `npm run e2e`: the walk of dashboard.mjs against the mock, and what only the mock can show: refusals,
// dropped streams, cursors that are gone, an expired session. `npm run e2e -- WORD` runs only the cases
// with this word in their names.

import { launch, login, must, openPage, textOf } from "./browser.mjs";
import { walk } from "./dashboard.mjs";
import { ACCESS_CASES } from "./run-access.mjs";
import { EVENT_CASES } from "./run-events.mjs";
import { FILE_CASES } from "./run-files.mjs";
import { MACHINE_CASES } from "./run-machine.mjs";
import { NODE_BACKUP_CASES } from "./run-node-backups.mjs";
import { PEOPLE_CASES } from "./run-people.mjs";
import { SHARED_CASES } from "./run-shared.mjs";
import { STACK_CASES } from "./run-stacks.mjs";
import { WATCHER_CASES } from "./run-watchers.mjs";
import { WORKFLOW_CASES } from "./run-workflows.mjs";
import { startMock } from "./mock.mjs";

const cases = {
  ...FILE_CASES,
  ...PEOPLE_CASES,
  ...ACCESS_CASES,
  ...WORKFLOW_CASES,
  ...STACK_CASES,
  ...SHARED_CASES,
  ...EVENT_CASES,
  ...WATCHER_CASES,
  ...NODE_BACKUP_CASES,
  ...MACHINE_CASES,

  async "a new installation is set up"() {
    const mock = await startMock({ isFresh: true });
    await walk(mock.address, "SETUP-CODE").finally(mock.stop);
  },

  async "a known user logs in"() {
    const mock = await startMock();
    await walk(mock.address, "admin/hostler").finally(mock.stop);
  },

  async "a wrong password is refused in words"({ page, mock }) {
    await page.goto(mock.address);
    await page.getByLabel("Name").fill("admin");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").getByText("the name or the password is wrong").waitFor();
  },

  async "a viewer sees no buttons, and a refusal that comes anyway is shown"({ page, mock }) {
    await login(page, mock.address, "vera");
    must(
      (await page.getByRole("button", { name: "Submit task" }).count()) === 0,
      "a viewer may submit",
    );
    await page.getByRole("link", { name: "build-renderd" }).click();
    const panel = page.getByRole("complementary");
    await panel.getByRole("log").getByText("libscene.a").waitFor();
    must((await panel.getByRole("button", { name: "Kill" }).count()) === 0, "a viewer may kill");
    await page.getByRole("button", { name: "Log out" }).click();

    await login(page, mock.address, "admin");
    for (const session of mock.world.sessions.values()) session.role = "viewer";
    await page.getByRole("button", { name: "Submit task" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Command", { exact: true }).fill("true");
    await dialog.getByRole("button", { name: "Submit task" }).click();
    await dialog.getByRole("alert").getByText("this needs the role user").waitFor();
    await dialog.getByRole("alert").getByText("ask an admin of the project").waitFor();
  },

  async "killing asks first, and the list follows"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "nightly-index" }).click();
    const panel = page.getByRole("complementary");
    await panel.getByRole("button", { name: "Kill" }).click();
    const dialog = page.getByRole("dialog", { name: "Kill nightly-index?" });
    await dialog.getByText("hostler task kill nightly-index").waitFor();
    await dialog.getByRole("button", { name: "Kill task" }).click();
    await panel.getByText("Killed", { exact: true }).waitFor();
    await page.getByRole("row").filter({ hasText: "nightly-index" }).getByText("Killed").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Failed" }).click();
    await page.getByRole("row").filter({ hasText: "verify-backups" }).waitFor();
    await page
      .getByRole("row")
      .filter({ hasText: "thumbs" })
      .first()
      .waitFor({ state: "detached" });
  },

  async "a task that waits says why"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "train-classifier" }).click();
    const why = page.getByRole("region", { name: "Why it waits" });
    await why.getByText("lacks the label gpu=a100").first().waitFor();
    await why.getByText("hostler task explain train-classifier").waitFor();
  },

  async "a task is paused, goes on, and is tried again when it failed"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "nightly-index" }).click();
    const panel = page.getByRole("complementary");
    const ask = async (verb, name) => {
      await panel.getByRole("button", { name: verb, exact: true }).click();
      const dialog = page.getByRole("dialog", { name: `${verb} ${name}?` });
      await dialog.getByText(`hostler task ${verb.toLowerCase()} ${name}`).waitFor();
      await dialog.getByRole("button", { name: `${verb} task` }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await ask("Pause", "nightly-index");
    await panel.getByText("Paused", { exact: true }).waitFor();
    await page.getByRole("row").filter({ hasText: "nightly-index" }).getByText("Paused").waitFor();
    await ask("Resume", "nightly-index");
    await panel.getByText("Running", { exact: true }).waitFor();
    must(
      (await panel.getByRole("button", { name: "Retry" }).count()) === 0,
      "what runs can be tried again",
    );

    await page.goto(`${mock.address}/#/projects/default/tasks/verify-backups`);
    await page.getByRole("complementary", { name: "Task verify-backups" }).waitFor();
    await ask("Retry", "verify-backups");
    await panel.getByText("Completed", { exact: true }).waitFor();
    const attempts = panel.getByRole("region", { name: "Attempts" });
    await attempts.getByRole("row").filter({ hasText: "stall-1" }).nth(1).waitFor();
    await attempts.getByText("hostler task runs verify-backups").waitFor();
  },

  async "a task shows what it waits for, holds and belongs to"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/default/tasks/publish-index`);
    const panel = page.getByRole("complementary", { name: "Task publish-index" });
    const after = panel.getByRole("listitem");
    await after.filter({ hasText: "nightly-index" }).getByText("Running").waitFor();
    await after.filter({ hasText: "sweep has ended" }).getByText("Running").waitFor();
    await panel.getByText("priority 10").waitFor();
    await panel.getByText("up to 3 times, after: failed, timed out, lost").waitFor();
    await panel.getByRole("link", { name: "sweep" }).click();
    await page.getByRole("complementary", { name: "Array sweep" }).waitFor();

    await page.goto(`${mock.address}/#/projects/default/tasks/encode-archive`);
    await page.getByText("8 cores, 50 % of a GPU, model L4").waitFor();
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByRole("region", { name: "Why it is where it is" }).waitFor();

    await page.goto(`${mock.address}/#/projects/default/tasks/render-041`);
    await page
      .getByRole("complementary", { name: "Task render-041" })
      .getByText("Out of memory", { exact: true })
      .waitFor();
  },

  async "an array shows how far it is and what failed, leads to its tasks, and is killed"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Arrays", exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: "sweep" });
    await row.getByRole("img", { name: /^4,7\d\d of 10,000 ended: .* 2 failed/ }).waitFor();
    await row.getByRole("link", { name: "sweep" }).click();
    const panel = page.getByRole("complementary", { name: "Array sweep" });
    const wrong = panel.getByRole("region", { name: "What went wrong" });
    await wrong.getByText("exit code 3, on stall-1").waitFor();
    await wrong.getByText("hostler task retry --array sweep").waitFor();

    await panel.getByRole("link", { name: "2 Failed" }).click();
    await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
    await page.getByRole("row").filter({ hasText: "sweep-902" }).waitFor();
    await page.getByText("hostler task ls --array sweep --state failed").waitFor();
    const others = page.getByRole("row").filter({ hasText: "verify-backups" });
    must((await others.count()) === 0, "the filter lets others through");
    must(
      (await page.getByLabel("Array", { exact: true }).inputValue()) === "sweep",
      "the filter does not say which array",
    );
    await page.getByLabel("Array", { exact: true }).selectOption("");
    await others.waitFor();
    await page.goBack();
    await page.goBack();

    await panel.getByRole("button", { name: "Kill" }).click();
    const dialog = page.getByRole("dialog", { name: "Kill sweep?" });
    await dialog.getByText("hostler task array kill sweep").waitFor();
    await dialog.getByRole("button", { name: "Kill array" }).click();
    await panel.getByRole("link", { name: /^5,\d\d\d Killed/ }).waitFor();
    await panel.getByText("Failed", { exact: true }).first().waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
  },

  async "an array is submitted, and mistakes in it are said first"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/render-farm/arrays`);
    await page.getByText("No arrays yet").waitFor();
    await page.getByText("hostler task submit -p render-farm --name sweep").waitFor();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog", { name: "Submit an array" });
    await dialog.getByLabel("Command", { exact: true }).fill("echo hello");
    await dialog.getByLabel("Range").fill("9-1");
    await dialog.getByLabel("Name", { exact: true }).fill("tiles");
    await dialog.getByText("Resources, placement and environment").click();
    await dialog.getByLabel("GPUs").fill("many");
    await dialog.getByLabel("Priority").fill("5");
    await dialog.getByRole("button", { name: "Submit array" }).click();
    await dialog.getByText("A range ends before it begins").waitFor();
    await dialog.getByText("GPUs are counted in whole numbers").waitFor();
    await dialog.getByLabel("Range").fill("1-6%3");
    await dialog.getByText("6 tasks, at most 3 at once").waitFor();
    await dialog.getByLabel("GPUs").fill("1:0.5");
    await dialog
      .getByText(
        "hostler task submit -p render-farm --name tiles --array 1-6%3 --gpus 1:0.5 --priority 5 -- echo hello",
      )
      .waitFor();
    await dialog.getByRole("button", { name: "Submit array" }).click();
    const panel = page.getByRole("complementary", { name: "Array tiles" });
    await panel.getByRole("paragraph").getByText("6 of 6 ended: 6 completed").waitFor();
    await panel.getByText("0.02 cores, 50 % of a GPU").waitFor();
  },

  async "the queue says what each project holds and whose turn is next"({ page, mock }) {
    await login(page, mock.address, "vera");
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    const project = page.getByRole("region", { name: "Project default" });
    await project.getByText("weight 2").waitFor();
    await project.getByRole("img", { name: /^Cores of default: \d+ %/ }).waitFor();
    await project.getByText(/ of 256 GiB/).waitFor();
    const first = project.getByRole("row").nth(1);
    await first.getByText("publish-index").waitFor();
    await first.getByText("after nightly-index has completed").waitFor();
    await page.getByText("hostler queue", { exact: true }).waitFor();
    await project.getByRole("link", { name: "train-classifier" }).click();
    await page.getByRole("complementary", { name: "Task train-classifier" }).waitFor();
  },

  async "accounts are chosen by days, sorted, summed and taken along as a file"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Accounts", exact: true }).click();
    const rows = page.locator("tbody").getByRole("row");
    await rows.filter({ hasText: "backup-bot" }).waitFor();
    must((await rows.first().innerText()).includes("render-farm"), "who used most is not first");
    await page.getByRole("button", { name: "GPU-hours" }).click();
    must((await rows.first().innerText()).includes("310.8"), "it is not sorted by GPU-hours");
    must(
      (await page.getByRole("columnheader", { name: "GPU-hours" }).getAttribute("aria-sort")) ===
        "descending",
      "the order is not told",
    );
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    const file = await coming;
    must(/^hostler-account-.*\.csv$/.test(file.suggestedFilename()), "the file has another name");
    const [head, line] = (await textOf(file)).split("\r\n");
    must(
      head === "project,user,tasks,coreHours,gpuHours,memoryGibHours,runHours,waitSecondsMean",
      `the file begins with ${head}`,
    );
    must(line === "default,mira,263,988.4,310.75,4100,61,42", `the file goes on with ${line}`);
    await page.getByLabel("Summed by").selectOption("user");
    await rows.filter({ hasText: "mira" }).getByText("353").waitFor();
    await page.getByLabel("Of project").selectOption("site-backups");
    await rows.filter({ hasText: "mira" }).waitFor({ state: "detached" });
    await page.getByText("hostler account -p site-backups --from").waitFor();
    await page.goto(`${mock.address}/#/accounts?from=2020-01-01&to=2020-01-31`);
    await page.getByText("Nothing was used in these days").waitFor();
    await page.getByText("hostler account --from 2020-01-01 --to 2020-01-31").waitFor();
    await page.goto(`${mock.address}/#/accounts?from=2020-02-01&to=2020-01-31`);
    await page.getByRole("alert").getByText("the first day comes after the last").waitFor();
  },

  async "the GPUs of a node say how they are"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Nodes", exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: "farrier" });
    await row.getByText("3 × NVIDIA L4").waitFor();
    await row.getByText("1 out of service").waitFor();
    await row.getByText("8 of 32 cores").waitFor();
    await row.getByText("1.5 of 3 GPUs").waitFor();
    await row.getByRole("link", { name: "farrier" }).click();
    const gpus = page.getByRole("region", { name: "GPUs" });
    await gpus.getByRole("img", { name: "GPU 0 busy: 91 %" }).waitFor();
    await gpus.getByRole("img", { name: "GPU 1 reserved: 50 %" }).waitFor();
    await gpus.getByText("19 GiB of 24 GiB").waitFor();
    const reserved = page.getByRole("region", { name: "Reserved" });
    await reserved.getByRole("img", { name: "Cores reserved: 25 %" }).waitFor();
    await gpus.getByText("71 °C").waitFor();
    await gpus.getByText("Out of service: Xid 79").waitFor();
  },

  async "workloads are found by state, tag, node and word, and the address keeps it"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Workloads", exact: true }).click();
    const row = (name) => page.getByRole("row").filter({ hasText: name });
    await row("shop-front").getByText("Healthy").waitFor();
    await page.getByRole("link", { name: /^Backoff/ }).click();
    await row("shop-front").waitFor({ state: "detached" });
    await row("thumbnails").getByText("exit code 1").waitFor();
    await page.getByRole("link", { name: "All", exact: true }).click();
    await page.getByLabel("Node", { exact: true }).selectOption("stall-3");
    await row("shop-front").waitFor({ state: "detached" });
    await page.getByLabel("Tag", { exact: true }).selectOption("ops");
    await row("nightly-backup").getByText(/^in /).waitFor();
    await page.reload();
    await row("nightly-backup").waitFor();
    must((await row("shop-front").count()) === 0, "the address does not keep the filter");
    await page.keyboard.press("/");
    await page.keyboard.type("no such thing");
    await page.getByText("No workload matches.").waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await row("shop-front").getByRole("link", { name: "shop-front" }).click();
    await page.getByRole("article", { name: "Workload shop-front" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Workloads", level: 1 }).waitFor();
    const focused = await page.evaluate(() => document.activeElement?.id);
    must(focused === "workload-shop-front", `the focus is on ${focused}`);
  },

  async "a viewer sees a workload and its output, but no verbs"({ page, mock }) {
    await login(page, mock.address, "vera");
    await page.goto(`${mock.address}/#/projects/default/workloads/shop-front`);
    const shown = page.getByRole("article");
    const log = shown.getByRole("log");
    await log.getByText("Output is missing here: 2 KiB could not be kept").waitFor();
    await log.getByText(/run 1 ended: out of memory/).waitFor();
    for (const name of ["Start", "Stop", "Restart", "Remove"])
      must((await shown.getByRole("button", { name }).count()) === 0, `a viewer may ${name}`);
    await shown.getByRole("img", { name: /^Processor: .* at most, limit|^Processor:/ }).waitFor();
    await shown.getByRole("button", { name: "Pause" }).click();
    await shown.getByText("Paused", { exact: true }).waitFor();
    const held = await log.getByText("saddles").count();
    await shown.getByRole("button", { name: "Follow" }).click();
    await log.getByText("saddles").nth(held).waitFor();
    await shown.getByRole("searchbox").fill("(");
    await shown.getByRole("alert").getByText("this is not a regular expression").waitFor();
    await shown.getByRole("searchbox").fill("timeout");
    await log.getByText("basket").first().waitFor({ state: "detached" });
    await log.getByText("upstream catalogue").first().waitFor();
    await shown.getByText("hostler workload logs shop-front -f --grep timeout").waitFor();
    await shown.getByRole("button", { name: "Explain" }).click();
    await shown.getByText("It is on 2 of 2 nodes.").waitFor();
  },

  async "a refusal is shown with what to do next, and what is gone is said to be"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/default/workloads/catalogue`);
    const shown = page.getByRole("article");
    await shown.getByRole("button", { name: "Restart" }).click();
    for (const session of mock.world.sessions.values()) session.role = "viewer";
    const dialog = page.getByRole("dialog", { name: "Restart catalogue?" });
    await dialog.getByRole("button", { name: "Restart workload" }).click();
    await dialog.getByRole("alert").getByText("this needs the role user").waitFor();
    await dialog.getByRole("alert").getByText("ask an admin of the project").waitFor();
    for (const session of mock.world.sessions.values()) session.role = "admin";
    await dialog.getByRole("button", { name: "Restart workload" }).click();
    await dialog.waitFor({ state: "detached" });
    await shown.getByRole("log").getByText("run 2 began").waitFor();

    await page.reload();
    await shown.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Remove workload" }).click();
    const row = page.getByRole("row").filter({ hasText: "/srv/catalogue/serve" });
    await row.getByText("Removing").waitFor();
    await row.waitFor({ state: "detached" });
    await page.goto(`${mock.address}/#/projects/default/workloads/catalogue`);
    await page.getByRole("alert").getByText("there is no workload `catalogue`").waitFor();
    await page.getByRole("link", { name: "All workloads" }).click();
    await page.getByRole("heading", { name: "Workloads", level: 1 }).waitFor();
  },

  async "a workload's output that breaks off goes on without a hole"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/default/workloads/catalogue`);
    const log = page.getByRole("log");
    await log.getByText("compacted").nth(1).waitFor();
    mock.world.readers.forEach(({ response }) => response.destroy());
    await log.getByText("compacted").nth(2).waitFor();
    const shown = await log.locator(".line").count();
    const [workload] = [...mock.world.workloads.values()].filter(
      ({ name }) => name === "catalogue",
    );
    must(shown <= workload.lines.length, "a line is there twice");
    must((await log.getByText("answered").count()) >= 2, "lines are missing");
  },

  async "streams that drop are taken up again, also where the cursor is gone"({ page, mock }) {
    await login(page, mock.address, "admin");
    const { world } = mock;
    const cut = () => world.watchers.forEach(({ response }) => response.destroy());
    const submit = (name) =>
      page.evaluate(async (given) => {
        const who = await (await fetch("/api/v1/whoami")).json();
        const headers = { "x-hostler-csrf": who.csrfToken, "idempotency-key": crypto.randomUUID() };
        const body = JSON.stringify({ name: given, spec: { command: ["echo", "x"] } });
        await fetch("/api/v1/projects/default/tasks", { method: "POST", headers, body });
      }, name);
    cut();
    await submit("while-away");
    await page.getByRole("row").filter({ hasText: "while-away" }).getByText("Completed").waitFor();
    world.sequence += 1000;
    world.history.length = 0;
    await submit("after-the-gap");
    cut();
    await page
      .getByRole("row")
      .filter({ hasText: "after-the-gap" })
      .getByText("Completed")
      .waitFor();
  },

  async "output that breaks off goes on without a hole"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "build-renderd" }).click();
    const log = page.getByRole("log");
    await log.getByText("io/png.o").waitFor();
    mock.world.readers.forEach(({ response }) => response.destroy());
    await log.getByText("io/tiff.o").first().waitFor();
    must((await log.getByText("io/png.o").count()) === 1, "a line is there twice");
  },

  async "an expired session leads to the login page and back"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "smoke", exact: true }).click();
    await page.getByRole("log").getByText("hello", { exact: true }).waitFor();
    mock.world.sessions.clear();
    mock.world.watchers.forEach(({ response }) => response.destroy());
    await page.getByText("Your session has ended").waitFor();
    await page.getByLabel("Name").fill("admin");
    await page.getByLabel("Password").fill("hostler");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("complementary", { name: "Task smoke" }).waitFor();
  },

  async "the load of nodes is fresh though nothing happens to them"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Nodes", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "stall-1" }).waitFor();
    const node = [...mock.world.nodes.values()].find(({ name }) => name === "stall-1");
    node.metrics.runsActive = 77;
    await page.getByRole("row").filter({ hasText: "stall-1" }).getByText("77").waitFor();
  },

  async "a page is fetched when it is wanted, and says so when it cannot be"({ page, mock }) {
    const nodes = "**/assets/Nodes-*.js";
    let isAsked = false;
    await page.route(nodes, (route) => {
      isAsked = true;
      return route.abort();
    });
    await login(page, mock.address, "admin");
    must(!isAsked, "a page that nobody opened was fetched");
    await page.getByRole("link", { name: "Nodes", exact: true }).click();
    await page.getByRole("alert").getByText("This page could not be fetched").waitFor();
    must(isAsked, "the page was not fetched");
    await page.unroute(nodes);
    await page.getByRole("button", { name: "Load the dashboard again" }).click();
    await page.getByRole("row").filter({ hasText: "stall-1" }).waitFor();
  },

  async "a join command brings a node"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Getting started" }).click();
    await page.getByRole("button", { name: "Create a join command" }).click();
    await page.getByText("hostler agent join").waitFor();
    await page.getByText("Waiting for the node").waitFor();
    await page.getByText("is online.").waitFor();
  },
};

let failed = 0;
const only = process.argv[2] ?? "";
const browser = await launch();
for (const [name, run] of Object.entries(cases).filter(([name]) => name.includes(only))) {
  const mock = await startMock();
  const { context, page, complaints } = await openPage(browser);
  try {
    await run({ page, mock });
    must(complaints.length === 0, `the browser complained: ${complaints.join("; ")}`);
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.message}`);
  } finally {
    await context.close();
    await mock.stop();
  }
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
