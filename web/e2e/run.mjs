// `npm run e2e`: the walk of dashboard.mjs against the mock, and what only the mock can show: refusals,
// dropped streams, cursors that are gone, an expired session.

import { launch, must, openPage } from "./browser.mjs";
import { walk } from "./dashboard.mjs";
import { startMock } from "./mock.mjs";

async function login(page, address, name) {
  await page.goto(address);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill("hostler");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
}

const cases = {
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
    must(
      (await page.getByRole("row").filter({ hasText: "thumbs" }).count()) === 0,
      "the filter lets others through",
    );
  },

  async "a task that waits says why"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "train-classifier" }).click();
    const why = page.getByRole("region", { name: "Why it waits" });
    await why.getByText("lacks the label gpu=a100").first().waitFor();
    await why.getByText("hostler task explain train-classifier").waitFor();
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
const browser = await launch();
for (const [name, run] of Object.entries(cases)) {
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
