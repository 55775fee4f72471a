// What `npm run e2e` looks at about people and permissions, beside the walk.

import { login, must } from "./browser.mjs";

const PAGES = {
  People: "/projects/default/people",
  "Roles and groups": "/roles",
  Secrets: "/projects/default/secrets",
  Workflows: "/projects/default/workflows",
  Executions: "/projects/default/executions",
  State: "/projects/default/state",
  Locks: "/projects/default/locks",
  Events: "/projects/default/events",
  Audit: "/audit",
  "My account": "/me",
};

async function show(page, address, word) {
  await page.goto(`${address}/#${PAGES[word]}`);
  await page.getByRole("heading", { name: word, level: 1 }).waitFor();
}

/** Has everybody who is logged in hold these permissions and no role. */
function narrow(mock, permissions) {
  for (const session of mock.world.sessions.values()) session.permissions = permissions;
}

export const ACCESS_CASES = {
  async "buttons and pages go by permission, not by role"({ page, mock }) {
    await login(page, mock.address, "admin");
    narrow(mock, ["task.read", "task.output", "task.submit", "secret.read", "secret.value"]);
    await page.reload();
    await page.getByRole("button", { name: "Submit task" }).waitFor();
    await page.getByText("custom role").waitFor();
    const nav = page.getByRole("navigation", { name: "Pages" });
    const shown = await nav.getByRole("link").allInnerTexts();
    const words = shown.map((word) => word.trim()).join(", ");
    must(
      words ===
        "Tasks, Arrays, Approvals, Queue, Images, Secrets, Roles and groups, My account, Getting started",
      `the pages that are offered are ${words}`,
    );
    await page.getByRole("link", { name: "nightly-index" }).click();
    const panel = page.getByRole("complementary", { name: "Task nightly-index" });
    await panel.getByRole("button", { name: "Run again" }).waitFor();
    for (const name of ["Kill", "Pause"])
      must((await panel.getByRole("button", { name }).count()) === 0, `${name} is offered`);
    await show(page, mock.address, "Secrets");
    await page.getByText("No secrets yet").waitFor();
    must((await page.getByRole("button", { name: "Set secret" }).count()) === 0, "it can be set");
  },

  async "what is another's needs another permission"({ page, mock }) {
    await login(page, mock.address, "admin");
    const own = ["task.read", "task.output", "task.kill", "task.pause"];
    narrow(mock, own);
    mock.world.tasks.forEach((task) => (task.createdBy = "mira"));
    await page.reload();
    await page.getByRole("link", { name: "nightly-index" }).click();
    const panel = page.getByRole("complementary", { name: "Task nightly-index" });
    await panel.getByRole("button", { name: "Explain" }).waitFor();
    must((await panel.getByRole("button", { name: "Kill" }).count()) === 0, "Kill is offered");
    narrow(mock, [...own, "task.manage"]);
    await page.reload();
    await panel.getByRole("button", { name: "Kill" }).waitFor();
  },

  async "who may look is offered no change to people, roles and secrets"({ page, mock }) {
    await login(page, mock.address, "vera");
    await show(page, mock.address, "People");
    await page.getByRole("row").filter({ hasText: "mira" }).waitFor();
    const main = page.getByRole("main");
    must((await main.getByRole("button").count()) === 1, "there is more than the copy button");
    await show(page, mock.address, "Roles and groups");
    await page.getByRole("row").filter({ hasText: "operator" }).waitFor();
    must((await main.getByRole("button").count()) === 1, "there is more than the copy button");
    await show(page, mock.address, "Audit");
    await page.getByRole("alert").getByText("this needs the role admin").first().waitFor();
    await page.getByRole("alert").getByText("ask an admin of the project").first().waitFor();
  },

  async "members of a project are given roles and lose them"({ page, mock }) {
    await login(page, mock.address, "admin");
    await show(page, mock.address, "People");
    await page.getByRole("link", { name: "Members of default" }).click();
    await page.getByRole("button", { name: "Give a role" }).click();
    const dialog = page.getByRole("dialog", { name: "A role in default" });
    await dialog.getByLabel("Who", { exact: true }).fill("group:ops");
    await dialog.getByLabel("Role", { exact: true }).selectOption("viewer");
    await dialog.getByText("hostler project grant default group:ops viewer").waitFor();
    await dialog.getByRole("button", { name: "Give role" }).click();
    const row = page.getByRole("row").filter({ hasText: "group:ops" });
    await row.getByText("viewer").waitFor();
    await row.getByRole("button", { name: "Take the role of group:ops away" }).click();
    const away = page.getByRole("dialog", { name: "Take group:ops out of default?" });
    await away.getByText("hostler project revoke default group:ops").waitFor();
    await away.getByRole("button", { name: "Take away" }).click();
    await row.waitFor({ state: "detached" });
  },

  async "a service account is made, and its token is shown once"({ page, mock }) {
    await login(page, mock.address, "admin");
    await show(page, mock.address, "People");
    await page.getByRole("button", { name: "Service account" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a service account" });
    await dialog.getByLabel("Name", { exact: true }).fill("vera");
    await dialog.getByRole("button", { name: "Create account" }).click();
    await dialog.getByRole("alert").getByText("exists already").waitFor();
    await dialog.getByLabel("Name", { exact: true }).fill("ci");
    await dialog.getByText("hostler user create ci --service").waitFor();
    await dialog.getByRole("button", { name: "Create account" }).click();
    const panel = page.getByRole("complementary", { name: "Account ci" });
    await panel.getByText("ci has no tokens.").waitFor();
    await panel.getByRole("button", { name: "Create token" }).click();
    const token = page.getByRole("dialog", { name: "Create a token for ci" });
    await token.getByLabel("Name", { exact: true }).fill("deploy");
    await token.getByLabel("Only for permissions").fill("task.submit");
    await token.getByLabel("Only from addresses").fill("10.0.0.0/8");
    await token.getByRole("button", { name: "Create token" }).click();
    const once = page.getByRole("dialog", { name: "Token deploy" });
    await once.getByText(/^hst_/).waitFor();
    await once.getByRole("button", { name: "I have kept it" }).click();
    await panel.getByText("user, for task.submit, from 10.0.0.0/8").waitFor();
  },

  async "an account that was changed meanwhile is not changed blindly"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/default/people/vera`);
    const panel = page.getByRole("complementary", { name: "Account vera" });
    await panel.getByRole("button", { name: "Disable", exact: true }).click();
    mock.world.access.ids.get("vera").generation += 1;
    const dialog = page.getByRole("dialog", { name: "Disable vera?" });
    await dialog.getByRole("button", { name: "Disable account" }).click();
    await dialog.getByRole("alert").getByText("it was changed meanwhile").waitFor();
    await dialog.getByRole("alert").getByText("read it again").waitFor();
  },

  async "the audit trail is read by pages and narrowed, and says when it is broken"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await show(page, mock.address, "Audit");
    const row = (name) => page.getByRole("row").filter({ hasText: `task ${name}` });
    await row("job-250").waitFor();
    must((await row("job-100").count()) === 0, "everything is on the first page");
    await page.getByRole("button", { name: "Show older entries" }).click();
    await row("job-100").first().waitFor();
    await page.getByLabel("Who", { exact: true }).fill("mira");
    await page.getByLabel("Kind of object").selectOption("task");
    await page.getByLabel("Text", { exact: true }).fill("JOB-24");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByText("hostler audit search JOB-24 --actor mira --kind task").waitFor();
    await row("job-249").waitFor({ state: "detached" });
    await row("job-248").waitFor();
    await page.reload();
    must(
      (await page.getByLabel("Who", { exact: true }).inputValue()) === "mira",
      "it is forgotten",
    );
    await page.getByRole("link", { name: "Show everything" }).click();
    await row("job-249").waitFor();
    const chain = page.getByRole("region", { name: "The chain" });
    await chain.getByText("10 entries behind").waitFor();
    mock.world.records.audit[6].action = "task.remove";
    await chain.getByRole("button", { name: "Verify" }).click();
    await chain.getByText("Broken", { exact: true }).waitFor();
    await chain.getByText("an entry was changed, from entry 7 on.").waitFor();
  },

  async "one's own password is changed, once the present one is right"({ page, mock }) {
    await login(page, mock.address, "vera");
    await show(page, mock.address, "My account");
    const part = page.getByRole("region", { name: "Password", exact: true });
    const fill = async (current, next, again = next) => {
      await part.getByLabel("Present password").fill(current);
      await part.getByLabel("New password", { exact: true }).fill(next);
      await part.getByLabel("New password again").fill(again);
      await part.getByRole("button", { name: "Change password" }).click();
    };
    await fill("hostler", "a horse, a gate", "a horse, a gait");
    await part.getByText("The two passwords differ.").waitFor();
    await fill("wrong", "a horse, a gate");
    await part.getByRole("alert").getByText("this is not the password").first().waitFor();
    await fill("hostler", "a horse, a gate");
    await part.getByText("The new password is set").waitFor();
    must(mock.world.users.get("vera").password === "a horse, a gate", "it is not set");
    must((await part.getByLabel("Present password").inputValue()) === "", "it stays in the field");
  },

  async "the pages fit a phone"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.setViewportSize({ width: 390, height: 800 });
    for (const word of Object.keys(PAGES)) {
      await show(page, mock.address, word);
      await page.getByText("Loading…").first().waitFor({ state: "detached" });
      const over = await page.evaluate(() => {
        const main = document.querySelector("main");
        return Math.max(
          main.scrollWidth - main.clientWidth,
          document.documentElement.scrollWidth - innerWidth,
        );
      });
      must(over <= 0, `${word} is ${over} pixels too wide`);
    }
  },
};
