// What `npm run e2e` looks at where stacks are shown.

import { login, must } from "./browser.mjs";

const TEMPLATE = `heat_template_version: "2018-08-31"
parameters:
  size:
    type: number
    default: 3
    label: Size
  token:
    type: string
    hidden: true
resources:
  first:
    type: OS::Heat::Value
  second:
    type: OS::Heat::Value
`;

function row(page, name) {
  return page.getByRole("row").filter({ hasText: name });
}

function open(page, mock, stack, tab = "") {
  const asked = tab === "" ? "" : `?tab=${tab}`;
  return page.goto(`${mock.address}/#/projects/default/stacks/${stack}${asked}`);
}

export const STACK_CASES = {
  async "stacks are listed with how they stand, and narrowed"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Stacks", exact: true }).click();
    await row(page, "shop-web").getByText("Updated", { exact: true }).waitFor();
    await row(page, "rollout").getByText("Updating", { exact: true }).waitFor();
    await row(page, "staging").getByText("no space left").waitFor();
    must((await row(page, "shop-web-servers").count()) === 0, "nested stacks are listed");
    await page.getByLabel("Nested").check();
    await row(page, "shop-web-servers").waitFor();
    await page.getByLabel("Nested").uncheck();
    await page.getByRole("link", { name: "Failed", exact: true }).click();
    await row(page, "shop-web").waitFor({ state: "detached" });
    await row(page, "staging").waitFor();
    await page.getByText("hostler stack ls --status failed").waitFor();
    await page.getByRole("link", { name: "All", exact: true }).click();
    await row(page, "shop-db").getByRole("link", { name: "Only with the tag prod" }).click();
    await row(page, "staging").waitFor({ state: "detached" });
    await page.getByText("hostler stack ls --tag prod").waitFor();
    await page.getByRole("link", { name: "any tag" }).click();
    await row(page, "staging").waitFor();
    await page.getByLabel("What is or was done to it").selectOption("create");
    await row(page, "shop-web").waitFor({ state: "detached" });
    await row(page, "staging").waitFor();

    await page.getByRole("link", { name: "Dependencies", exact: true }).click();
    const map = page.getByRole("group", { name: "Stacks of default" });
    await map.getByRole("link", { name: "shop-web", exact: true }).waitFor();
    await page.getByRole("region", { name: "Order" }).getByText("shop-db").waitFor();
    await page.goto(`${mock.address}/#/projects/render-farm/stacks`);
    await page.getByText("No stacks yet").waitFor();
  },

  async "a stack shows outputs, parameters, a tree of resources and its graph"({ page, mock }) {
    await login(page, mock.address, "admin");
    await open(page, mock, "shop-web");
    await page.getByText("6 of 6 resources are done").waitFor();
    const outputs = page.getByRole("region", { name: "Outputs" });
    await outputs.getByText("https://shop.example").waitFor();
    await outputs.getByText("has no attribute token").waitFor();
    const parameters = page.getByRole("region", { name: "Parameters" });
    await parameters.getByText("******").waitFor();
    must(
      (await parameters.getByText("OS::stack_name").count()) === 0,
      "pseudo parameters are shown",
    );
    await page.getByRole("button", { name: "Go through it" }).click();
    await page.getByText("0 of servers is not there").waitFor();

    await page.getByRole("link", { name: "Resources", exact: true }).click();
    const fold = page.getByRole("button", { name: "What lies in servers" });
    await row(page, "server.yaml").first().waitFor();
    await fold.focus();
    await page.keyboard.press("Enter");
    await row(page, "server.yaml").first().waitFor({ state: "detached" });
    must((await fold.getAttribute("aria-expanded")) === "false", "a folded row says it is open");
    await fold.click();
    await page.getByLabel("Find a resource").fill("server.yaml");
    await row(page, "network").waitFor({ state: "detached" });
    await row(page, "OS::Heat::ResourceGroup").waitFor();
    await page.getByRole("link", { name: /^0\W+of / }).click();
    const below = page.getByRole("complementary", { name: "Resource 0" });
    await below.getByRole("link", { name: /^shop-web-servers/ }).waitFor();
    await page.keyboard.press("Escape");
    await below.waitFor({ state: "detached" });

    await page.getByRole("link", { name: "Graph", exact: true }).click();
    const graph = page.getByRole("group", { name: "Graph of shop-web" });
    await graph.getByRole("link", { name: "network: Created" }).waitFor();
    must((await graph.getByRole("link").count()) === 4, "not every resource is drawn");
    await graph.getByRole("link", { name: "balancer: Created" }).focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Resource balancer" });
    await panel.getByRole("region", { name: "Metadata" }).getByText("by hand").waitFor();
    await panel.getByRole("button", { name: "Signal" }).click();
    const dialog = page.getByRole("dialog", { name: "Signal balancer?" });
    await dialog.getByLabel("What it is told").fill("{");
    await dialog.getByText("This is not JSON").waitFor();
    must(await dialog.getByRole("button", { name: "Signal resource" }).isDisabled(), "bad JSON");
    await dialog.getByLabel("What it is told").fill('{"status": "SUCCESS"}');
    await dialog.getByText("hostler stack signal shop-web balancer --data").waitFor();
    await dialog.getByRole("button", { name: "Signal resource" }).click();
    await panel.getByText("It was signalled.").waitFor();
    await panel.getByText("status: SUCCESS").waitFor();
    await panel.getByRole("button", { name: "Mark as broken" }).click();
    const mark = page.getByRole("dialog", { name: /Mark as broken/ });
    await mark.getByLabel("Reason").fill("it smokes");
    await mark.getByRole("button", { name: "Mark as broken" }).click();
    await panel.getByText("it smokes").waitFor();
    await graph.getByRole("link", { name: "balancer: Check failed" }).waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    const tabs = page.getByRole("navigation", { name: "What of the stack is shown" });
    await tabs.getByRole("link", { name: "Events" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await row(page, "Signal received").waitFor();
    await page.getByLabel("Only of this resource").fill("network");
    await page.keyboard.press("Enter");
    await row(page, "Signal received").waitFor({ state: "detached" });
    await row(page, "network").waitFor();
  },

  async "a stack is made with a form for its parameters, and goes live"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/default/stacks`);
    await page.getByRole("button", { name: "Create stack" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a stack" });
    const template = dialog.getByLabel("Template", { exact: true });
    await template.fill("resources:\n  a: mistake\n");
    await dialog.getByRole("alert").getByText("nobody knows").waitFor();
    await dialog.getByRole("alert").getByText("a: mistake").waitFor();
    await template.fill(TEMPLATE);
    await dialog.getByText("2 resources,").waitFor();
    await dialog.getByLabel("Size").fill("many");
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await dialog.getByText("Begin with a letter").waitFor();
    await dialog.getByLabel("Name", { exact: true }).fill("mill");
    await dialog.getByText("“many” is not a number.").waitFor();
    await dialog.getByLabel("Size").fill("5");
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await dialog.getByText("The Parameter (token) was not provided.").waitFor();
    await dialog.getByLabel("token").fill("s3cret");
    await dialog.getByText("--name mill -P size=5 --parameter-file token=token.txt").waitFor();
    must(
      !(await dialog.getByRole("group", { name: "On the command line" }).innerText()).includes(
        "s3cret",
      ),
      "a secret is part of a command",
    );

    await dialog.getByRole("button", { name: "See what it would do" }).click();
    await page.getByText("2 to create").first().waitFor();
    await page.getByText("There is no stack of this name yet").waitFor();
    await page.getByText("known when it is done").first().waitFor();
    await page.getByRole("button", { name: "Apply" }).click();
    await page
      .getByRole("dialog", { name: "Apply the plan to mill?" })
      .getByRole("button", { name: "Apply plan" })
      .click();
    await page.getByRole("status").getByText("Creating", { exact: true }).waitFor();
    await page
      .getByRole("navigation", { name: "What of the stack is shown" })
      .getByRole("link", { name: "Overview" })
      .click();
    await page.getByText("2 of 2 resources are done").waitFor();
    await page.getByRole("status").getByText("Created", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Parameters" }).getByText("******").waitFor();
  },

  async "an update changes only what is given, is planned, and refused when the stack moved"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await open(page, mock, "shop-web");
    await page.getByRole("button", { name: "Update", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Update shop-web" });
    await dialog.getByRole("group", { name: "Size" }).getByLabel("Replicas").waitFor();
    must((await dialog.getByLabel("Replicas").inputValue()) === "2", "what there is is not shown");
    must((await dialog.getByLabel("db_password").inputValue()) === "", "a secret is shown");
    await dialog.getByLabel("Replicas").fill("4");
    await dialog.getByLabel("db_password").fill("new secret");
    await dialog.getByRole("button", { name: "See what it would do" }).click();
    const plan = page.getByRole("region", { name: "Plan", exact: true });
    await plan.getByText("1 to replace, 3 as they are").waitFor();
    await plan.getByText("replaces the object").waitFor();
    await plan.getByText("network: it is used by others").waitFor();
    const shown = await plan.innerText();
    must(!/s3cret|t0p|new secret/.test(shown), "a plan shows a secret");
    const stack = mock.world.stacks.find(({ view }) => view.name === "shop-web");
    stack.view.traversal += 1;
    await plan.getByRole("button", { name: "Apply" }).click();
    const sure = page.getByRole("dialog", { name: "Apply the plan to shop-web?" });
    await sure.getByRole("button", { name: "Apply plan" }).click();
    await sure.getByRole("alert").getByText("has changed since").waitFor();
    await sure.getByRole("button", { name: "Cancel" }).click();
    await plan.getByRole("button", { name: "Forget" }).click();
    await page.getByRole("button", { name: "Forget plan" }).click();
    await page.getByText("There are none.").waitFor();

    await page.getByRole("button", { name: "Update", exact: true }).click();
    await dialog.getByLabel("Replicas").fill("6");
    stack.view.traversal += 1;
    await dialog.getByRole("button", { name: "Update", exact: true }).click();
    await dialog.getByRole("alert").getByText("was changed meanwhile").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Update", exact: true }).click();
    await dialog.getByLabel("Replicas").fill("6");
    await dialog.getByRole("button", { name: "Update", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("status").getByText("Updating", { exact: true }).waitFor();
    must(stack.view.parameters.replicas === "6", "the parameter was not sent");
    must(stack.view.parameters.db_password === "******", "what was not typed was sent");
  },

  async "a hook is cleared, a change is cancelled, a stack is suspended and resumed"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await open(page, mock, "rollout");
    await page.getByText("1 of 3 resources are done: 2 waiting").waitFor();
    const waits = page.getByRole("region", { name: "Waits for somebody" });
    await waits.getByRole("button", { name: "Let two go on" }).click();
    await page.getByText("hostler stack hook clear rollout two --hook pre-update").waitFor();
    await page.getByRole("button", { name: "Clear hook" }).click();
    await waits.waitFor({ state: "detached" });
    await page.getByRole("status").getByText("Updated", { exact: true }).waitFor();

    const ask = async (verb) => {
      await page.getByRole("button", { name: verb, exact: true }).click();
      const dialog = page.getByRole("dialog", { name: `${verb} rollout?` });
      await dialog.getByText(`hostler stack ${verb.toLowerCase()} rollout`).waitFor();
      await dialog.getByRole("button", { name: `${verb} stack` }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await ask("Suspend");
    await page.getByRole("status").getByText("Suspended", { exact: true }).waitFor();
    must(
      (await page.getByRole("button", { name: "Update", exact: true }).count()) === 0,
      "what is suspended can be updated",
    );
    await ask("Resume");
    await page.getByRole("status").getByText("Resumed", { exact: true }).waitFor();
    await ask("Check");
    await page.getByRole("status").getByText("Checked", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Update", exact: true }).click();
    const form = page.getByRole("dialog", { name: "Update rollout" });
    await form.getByRole("button", { name: "Update", exact: true }).click();
    await form.waitFor({ state: "detached" });
    await ask("Cancel");
    await page
      .getByRole("status")
      .getByText(/^Roll(ing|ed) back$/)
      .waitFor();
  },

  async "what is looked at stays while the stack is read again"({ page, mock }) {
    await login(page, mock.address, "admin");
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    const count = (part) => asked.filter((url) => url.includes(part)).length;
    const twice = async () => {
      asked.length = 0;
      const isStack = (response) => response.url().endsWith("/stacks/rollout");
      for (let i = 0; i < 2; i++) await page.waitForResponse(isStack);
      await page.waitForTimeout(300);
    };
    await open(page, mock, "rollout", "graph&resource=two");
    const panel = page.getByRole("complementary", { name: "Resource two" });
    const signal = panel.getByRole("button", { name: "Signal" });
    await signal.focus();
    await twice();
    must(
      await signal.evaluate((button) => document.activeElement === button),
      "the panel takes the focus again",
    );
    await open(page, mock, "rollout", "events");
    await row(page, "Stack UPDATE started").waitFor();
    await twice();
    must(count("newest=true") === 0, "events are read from the beginning again");
    must(count("after=") > 0, "new events are not asked for");
    await open(page, mock, "rollout", "history&from=v1");
    await page.getByText("1 to create, 1 to change").waitFor();
    await twice();
    must(count("/compare") === 0, "it is compared again and again");
    await open(page, mock, "rollout", "drift");
    await page.getByText("Nobody has looked yet").waitFor();
    await twice();
    must(count("/drift") === 0, "drift is read again and again");
  },

  async "drift is looked for, shown and put right by a plan"({ page, mock }) {
    await login(page, mock.address, "admin");
    await open(page, mock, "shop-web", "drift");
    await page.getByText("Nobody has looked yet").waitFor();
    await page.getByRole("button", { name: "Look now" }).click();
    const drift = page.getByRole("region", { name: "Drift" });
    await drift.getByText("Drifted", { exact: true }).waitFor();
    await drift.getByText("servers/0").waitFor();
    await drift.getByText("the stack says").first().waitFor();
    must(
      (await drift.getByText("In sync", { exact: true }).count()) === 0,
      "what is in sync is listed",
    );
    await drift.getByLabel("Also what is in sync").check();
    await drift.getByText("In sync", { exact: true }).waitFor();
    await drift.getByText("hostler stack drift fix shop-web").waitFor();
    await drift.getByRole("button", { name: "See what would put it right" }).click();
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Apply plan" }).click();
    await page.getByRole("status").getByText("Updated", { exact: true }).waitFor();
  },

  async "revisions and snapshots are compared, taken and gone back to"({ page, mock }) {
    await login(page, mock.address, "admin");
    await open(page, mock, "shop-web", "history");
    await row(page, "more of it")
      .getByRole("link", { name: "Compare revision 2 with now" })
      .click();
    const compare = page.getByRole("region", { name: "Compare" });
    await compare.getByText("1 to create, 1 to change").waitFor();
    await compare.getByText("hostler stack revision compare shop-web 2").waitFor();
    await compare.getByLabel("to", { exact: true }).selectOption("v3");
    await compare.getByText("hostler stack revision compare shop-web 2 3").waitFor();
    await page.getByRole("button", { name: "Take a snapshot" }).click();
    const dialog = page.getByRole("dialog", { name: "Take a snapshot of shop-web?" });
    await dialog.getByLabel("Name").fill("after-sale");
    await dialog.getByRole("button", { name: "Take snapshot" }).click();
    await row(page, "after-sale").getByText("Snapshot taken", { exact: true }).waitFor();
    await page.getByRole("status").getByText("Snapshot taken", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Remove snapshot after-sale" }).click();
    await page.getByRole("button", { name: "Remove snapshot", exact: true }).click();
    await row(page, "after-sale").waitFor({ state: "detached" });

    await row(page, "before-sale").getByRole("button", { name: "Restore" }).click();
    const sure = page.getByRole("dialog", { name: "Restore shop-web to snapshot before-sale?" });
    await sure.getByRole("button", { name: "See what it would do" }).click();
    await page
      .getByRole("region", { name: "Plan", exact: true })
      .getByRole("heading", { name: "Restore shop-web", exact: true })
      .waitFor();
    await open(page, mock, "shop-web", "history");
    await row(page, "more of it").getByRole("button", { name: "Restore" }).click();
    await page.getByText("hostler stack revision restore shop-web 2").waitFor();
    await page.getByRole("button", { name: "Restore stack" }).click();
    await page
      .getByRole("status")
      .getByText(/^Restor(ing|ed)$/)
      .waitFor();

    await open(page, mock, "shop-web", "template");
    await page.getByText("The shop as customers see it").waitFor();
    await page.getByLabel("File").selectOption("environment");
    await page.getByText("db_password:").waitFor();
    must((await page.getByText("correct horse").count()) === 0, "an environment shows a secret");
    await page.getByLabel("File").selectOption("prod.yaml");
    await page.getByText("it may have secrets in it").waitFor();
    must((await page.getByText("correct horse").count()) === 0, "a file shows a secret");
    await page.getByLabel("As of").selectOption("1");
    await page.getByText("hostler stack revision show shop-web 1").waitFor();
    await page.getByLabel("File").selectOption("template");
    await page.getByText("The first shop").waitFor();
  },

  async "a lock keeps others out, is released, and taken away with a reason"({ page, mock }) {
    await login(page, mock.address, "admin");
    await open(page, mock, "shop-db", "lock");
    await page.getByText("Nobody holds it.").waitFor();
    await page.getByRole("button", { name: "Lock it" }).click();
    const dialog = page.getByRole("dialog", { name: "Lock shop-db?" });
    await dialog.getByLabel("How long").fill("long");
    await dialog.getByText("is not a duration").waitFor();
    await dialog.getByLabel("How long").fill("30m");
    await dialog.getByLabel("What for").fill("release 42");
    await dialog.getByText("hostler stack lock acquire shop-db --ttl 30m").waitFor();
    await dialog.getByRole("button", { name: "Lock stack" }).click();
    await page.getByText("Held by you", { exact: true }).waitFor();
    await page.getByText("release 42").waitFor();
    await page.getByRole("button", { name: "Renew" }).click();
    await page.getByRole("button", { name: "Release", exact: true }).click();
    await page.getByRole("button", { name: "Release lock" }).click();
    await page.getByText("Free", { exact: true }).waitFor();

    const stack = mock.world.stacks.find(({ view }) => view.name === "shop-db");
    const time = new Date().toISOString();
    const times = { timeAsked: time, timeGranted: time, timeRenewed: time };
    stack.hold = { id: "h", by: "mira", holder: { why: "mending" }, ttl: "1h", token: 2, ...times };
    await page.getByText("mending").waitFor();
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.getByRole("button", { name: "Check stack" }).click();
    await page.getByRole("alert").getByText("is locked by mira").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Force release" }).click();
    const force = page.getByRole("dialog", { name: "Take the lock of shop-db away?" });
    must(
      await force.getByRole("button", { name: "Force release" }).isDisabled(),
      "without a reason",
    );
    await force.getByLabel("Reason").fill("mira is on holiday");
    await force.getByRole("button", { name: "Force release" }).click();
    await page.getByText("taken away by admin: mira is on holiday").waitFor();
  },

  async "a stack is deleted once its name was typed, and only by force while it is used"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await open(page, mock, "shop-db", "dependencies");
    await page
      .getByRole("region", { name: "Used by" })
      .getByRole("link", { name: "shop-web" })
      .click();
    await page.getByRole("region", { name: "Uses" }).getByText("There", { exact: true }).waitFor();
    await open(page, mock, "shop-db");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Delete shop-db?" });
    const verb = dialog.getByRole("button", { name: "Delete stack" });
    await dialog.getByRole("alert").getByText("used by shop-web").waitFor();
    await dialog.getByLabel("Type shop-db to delete it").fill("shop-db");
    must(await verb.isDisabled(), "what is used can be deleted without force");
    await dialog.getByLabel("Delete it all the same").check();
    await dialog.getByLabel("Type shop-db to delete it").fill("shop-d");
    must(await verb.isDisabled(), "another name is good enough");
    await dialog.getByLabel("Type shop-db to delete it").fill("shop-db");
    await dialog.getByText("hostler stack rm shop-db --force").waitFor();
    await verb.click();
    await page
      .getByRole("status")
      .getByText(/^(Deleting|Gone)$/)
      .waitFor();
    await page.getByRole("status").getByText("Gone", { exact: true }).waitFor();
    must(
      (await page.getByRole("button", { name: "Update" }).count()) === 0,
      "what is gone changes",
    );
    await page.keyboard.press("Escape");
    await row(page, "shop-web").waitFor();
    must((await row(page, "shop-db").count()) === 0, "what is gone is listed");
  },

  async "who may only look is offered nothing else, and a phone shows all of it"({ page, mock }) {
    await login(page, mock.address, "vera");
    await page.getByRole("link", { name: "Stacks", exact: true }).click();
    await row(page, "shop-web").waitFor();
    const none = async (verbs) => {
      for (const name of verbs)
        must(
          (await page.getByRole("button", { name, exact: true }).count()) === 0,
          `a viewer may ${name}`,
        );
    };
    await none(["Create stack"]);
    await page.getByRole("link", { name: "rollout", exact: true }).click();
    await page.getByRole("region", { name: "Waits for somebody" }).waitFor();
    await none(["Update", "Cancel", "Delete", "Let two go on"]);
    must((await page.getByRole("link", { name: "Plan", exact: true }).count()) === 0, "plans");
    await open(page, mock, "shop-web", "resources&resource=balancer");
    await page.getByRole("complementary", { name: "Resource balancer" }).waitFor();
    await none(["Signal", "Mark as broken"]);
    await open(page, mock, "shop-web", "history");
    await row(page, "before-sale").waitFor();
    await none(["Take a snapshot", "Restore revision 2"]);
    await open(page, mock, "shop-web", "drift");
    await page.getByText("Nobody has looked yet").waitFor();
    await none(["Look now"]);
    await open(page, mock, "shop-web", "lock");
    await page.getByText("Nobody holds it.").waitFor();
    await none(["Lock it", "Force release"]);

    await page.setViewportSize({ width: 390, height: 800 });
    for (const [tab, text] of [
      ["", "https://shop.example"],
      ["resources", "balancer"],
      ["graph", "to the right of everything"],
      ["events", "network"],
      ["history", "more of it"],
      ["template", "heat_template_version"],
    ]) {
      await open(page, mock, "shop-web", tab);
      await page.getByText(text).first().waitFor();
      const over = await page.evaluate(() => {
        const main = document.querySelector("main");
        return main.scrollWidth - main.clientWidth;
      });
      must(over <= 0, `${tab || "overview"} of a stack is ${over} pixels too wide for a phone`);
    }
  },
};
