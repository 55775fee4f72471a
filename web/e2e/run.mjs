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
