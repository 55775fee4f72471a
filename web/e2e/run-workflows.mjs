// What `npm run e2e` looks at where workflows and their executions are shown.

import { login, must } from "./browser.mjs";

function file(name, text) {
  return { name, mimeType: "text/plain", buffer: Buffer.from(text) };
}

export const WORKFLOW_CASES = {
  async "workflows are listed, shown with graph, source and versions, and removed"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Workflows", exact: true }).click();
    const row = (name) => page.getByRole("row").filter({ hasText: name });
    await row("release.sloth").getByText("Builds, tests and puts it live").waitFor();
    await page.getByRole("link", { name: "release", exact: true }).click();
    const graph = page.getByRole("group", { name: "Graph of release" });
    await graph.getByRole("link", { name: "deploy to all web machines" }).waitFor();
    must((await graph.getByRole("link").count()) === 7, "not every step is drawn");
    await page.getByText("A dashed line leads to").waitFor();

    await graph.getByRole("link", { name: "test", exact: true }).focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Step test" });
    await panel.getByText("up to 2 times, exponential").waitFor();
    await panel.getByText("release.sloth:3").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    await page.getByText("Source", { exact: true }).click();
    const text = page.getByRole("region", { name: "Text of release.sloth" });
    await text.getByText("Builds, tests and puts a program live").waitFor();
    await page.getByLabel("File").selectOption("lib/words.lua");
    await page.getByText("return {}").waitFor();
    await page.getByText("With the modules web@2.").waitFor();
    await page.getByLabel("File").selectOption("web@2//web.lua");
    await page.getByText("return { port = 443 }").waitFor();

    await page.getByRole("link", { name: "Version 1", exact: true }).click();
    await page.getByRole("link", { name: "newest: 2" }).waitFor();
    must((await graph.getByRole("link").count()) === 4, "another version is drawn");

    await page.keyboard.press("Escape");
    await row("nightly.lua").getByRole("button", { name: "Remove nightly clean-up" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove nightly clean-up?" });
    await dialog.getByText("hostler workflow rm 'nightly clean-up'").waitFor();
    await dialog.getByRole("button", { name: "Remove workflow" }).click();
    await row("nightly.lua").waitFor({ state: "detached" });

    await page.goto(`${mock.address}/#/projects/default/workflows/nightly%20clean-up`);
    await page.getByRole("alert").getByText("there is no workflow").waitFor();
  },

  async "a file is pushed, and its mistakes are told with their lines"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/render-farm/workflows`);
    await page.getByText("No workflows yet").waitFor();
    await page.getByRole("button", { name: "Push workflow" }).click();
    const dialog = page.getByRole("dialog", { name: "Push a workflow" });
    const chooser = dialog.getByLabel("File", { exact: true });
    await chooser.setInputFiles(file("frames.sloth", "-- frames\nlocal mistake\n"));
    await dialog.getByRole("button", { name: "Push" }).click();
    const alert = dialog.getByRole("alert");
    await alert.getByText("frames.sloth, line 2:").waitFor();
    await alert.getByText("local mistake").waitFor();

    const good = 'task("draw")\nworkflow.define("frames")\n';
    await chooser.setInputFiles(file("frames.sloth", `${good}-- odd\n`));
    await dialog.getByRole("button", { name: "Push" }).click();
    await dialog.getByText("Kept: frames (version 1).").waitFor();
    await dialog.getByText("it has no effect").waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("link", { name: "frames", exact: true }).waitFor();
  },

  async "modules are listed, read in each version, pushed and removed"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Workflows", exact: true }).click();
    await page.getByRole("link", { name: "Modules", exact: true }).click();
    const row = (name) => page.getByRole("row").filter({ hasText: name });
    await row("acme.deploy").getByText("web@2").waitFor();
    await page.getByRole("link", { name: "web", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Module web" });
    await panel.getByText("return { port = 443 }").waitFor();
    await panel.getByRole("link", { name: "Version 1" }).click();
    await panel.getByText("return { port = 80 }").waitFor();
    await panel.getByText('require("web@1")').waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Push module" }).click();
    const dialog = page.getByRole("dialog", { name: "Push a module" });
    const chooser = dialog.getByLabel("File", { exact: true });
    await chooser.setInputFiles(file("web.lua", "local mistake\n"));
    await dialog.getByText("hostler workflow module push web.lua").waitFor();
    await dialog.getByRole("button", { name: "Push" }).click();
    await dialog.getByRole("alert").getByText("web.lua, line 1:").waitFor();
    await chooser.setInputFiles(file("web.lua", "return { port = 8443 }\n"));
    await dialog.getByLabel("Name").fill("a/b");
    await dialog.getByText("Letters, digits").waitFor();
    must(await dialog.getByRole("button", { name: "Push" }).isDisabled(), "a bad name is sent");
    await dialog.getByLabel("Name").fill("");
    await dialog.getByRole("button", { name: "Push" }).click();
    await dialog.waitFor({ state: "detached" });
    await row("web.lua").getByRole("cell", { name: "3", exact: true }).waitFor();

    await page.getByRole("button", { name: "Remove acme.deploy" }).click();
    const sure = page.getByRole("dialog", { name: "Remove acme.deploy?" });
    await sure.getByText("hostler workflow module rm acme.deploy").waitFor();
    await sure.getByRole("button", { name: "Remove module" }).click();
    await row("acme.deploy").waitFor({ state: "detached" });

    await page.goto(`${mock.address}/#/projects/render-farm/workflows?tab=modules`);
    await page.getByText("No modules yet").waitFor();
  },

  async "a workflow is carried out, waits for an approval, is cancelled and retried"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/default/workflows/release`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Run release" });
    await dialog.getByLabel("Values").fill("{");
    await dialog.getByRole("button", { name: "Run" }).click();
    await dialog.getByText("This is not JSON").waitFor();
    await dialog.getByLabel("Values").fill('{"tag": "v3"}');
    await dialog.getByText("Such as").first().waitFor();
    mock.world.isRunHeld = true;
    await dialog.getByRole("button", { name: "Run" }).click();
    await dialog.getByRole("alert").getByText("needs an approval").waitFor();
    await dialog.getByRole("button", { name: "Run" }).click();

    const graph = page.getByRole("group", { name: "Graph of release" });
    await graph.getByRole("link", { name: "build: Running" }).waitFor();
    await graph.getByRole("link", { name: "test: Succeeded" }).waitFor();
    await graph.getByRole("link", { name: "ask: Awaits approval" }).waitFor();
    await page.getByText("5 of 7 steps are over").waitFor();
    const asked = page.getByRole("row").filter({ hasText: "Awaits approval" });
    await asked.getByRole("link", { name: "See the request" }).waitFor();
    await page.getByRole("region", { name: "Values" }).getByText('"tag": "v3"').waitFor();
    await page
      .getByRole("region", { name: "Times" })
      .getByRole("link", { name: /^build/ })
      .waitFor();

    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    const sure = page.getByRole("dialog", { name: "Cancel release?" });
    await sure.getByRole("button", { name: "Cancel execution" }).click();
    await graph.getByRole("link", { name: "ask: Cancelled" }).waitFor();

    await page.getByRole("button", { name: "Retry", exact: true }).click();
    const again = page.getByRole("dialog", { name: "Retry release?" });
    await again.getByText("3 steps are done again").waitFor();
    await again.getByLabel("What is done again").selectOption("pack");
    await again.getByText("4 steps are done again").waitFor();
    await again.getByText(/hostler workflow retry \S+ --from pack$/).waitFor();
    await again.getByRole("button", { name: "Retry execution" }).click();
    await graph.getByRole("link", { name: "ask: Awaits approval" }).waitFor();
  },

  async "executions are listed and narrowed, and only for looking at by who may not change them"({
    page,
    mock,
  }) {
    await login(page, mock.address, "vera");
    await page.getByRole("link", { name: "Executions", exact: true }).click();
    const row = (name) => page.getByRole("row").filter({ hasText: name });
    await row("Failed").waitFor();
    await row("admin").waitFor();
    await page.getByRole("link", { name: "Over", exact: true }).click();
    await row("admin").waitFor({ state: "detached" });
    await page.getByLabel("Workflow").selectOption("nightly clean-up");
    await page.getByText("No execution matches.").waitFor();
    await page.getByLabel("Workflow").selectOption("");
    await row("Failed")
      .getByRole("link", { name: /^Execution / })
      .click();
    await page.getByText("Cannot stat").first().waitFor();
    await page.getByRole("region", { name: "Outputs" }).getByText("6f0c51").waitFor();
    const graph = page.getByRole("group", { name: "Graph of release" });
    await graph.getByRole("link", { name: "test: Succeeded" }).click();
    const panel = page.getByRole("complementary", { name: "Step test" });
    await panel.getByText('"tests": 212').waitFor();
    await panel.getByRole("link", { name: /^Task / }).waitFor();
    for (const verb of ["Retry", "Run again", "Retry from here", "Cancel"])
      must(
        (await page.getByRole("button", { name: verb, exact: true }).count()) === 0,
        `a viewer may ${verb}`,
      );
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.setViewportSize({ width: 390, height: 800 });
    const over = await page.evaluate(() => {
      const main = document.querySelector("main");
      return main.scrollWidth - main.clientWidth;
    });
    must(over <= 0, `an execution is ${over} pixels too wide for a phone`);
    await page.setViewportSize({ width: 1360, height: 860 });
    await page.getByRole("link", { name: "Task and output of build" }).click();
    await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
    await page.getByRole("complementary").waitFor();

    await page.getByRole("link", { name: "Workflows", exact: true }).click();
    await page.getByRole("link", { name: "release", exact: true }).waitFor();
    for (const verb of ["Push workflow", "Run release", "Remove release"])
      must((await page.getByRole("button", { name: verb }).count()) === 0, `a viewer may ${verb}`);
    await page.getByRole("link", { name: "Modules", exact: true }).click();
    await page.getByRole("link", { name: "acme.deploy", exact: true }).waitFor();
    for (const verb of ["Push module", "Remove web"])
      must((await page.getByRole("button", { name: verb }).count()) === 0, `a viewer may ${verb}`);
  },
};
