// What `npm run e2e` looks at where nodes look at something.

import { login, must } from "./browser.mjs";

async function open(page, mock, rest = "", name = "admin") {
  await login(page, mock.address, name);
  await page.goto(`${mock.address}/#/projects/default/watchers${rest}`);
  await page.getByRole("heading", { name: "Watchers", level: 1 }).waitFor();
}

async function confirm(page, title, verb, command) {
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByText(command).waitFor();
  await dialog.getByRole("button", { name: verb }).click();
  await dialog.waitFor({ state: "detached" });
}

export const WATCHER_CASES = {
  async "a watcher says how it stands on each node and what it told, and is turned off and on"({
    page,
    mock,
  }) {
    await login(page, mock.address);
    await page.getByRole("link", { name: "Watchers", exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: "full" });
    await row.getByText("Firing", { exact: true }).waitFor();
    await row.getByText("3 look, 1 firing, 1 in trouble").waitFor();
    await page.getByRole("row").filter({ hasText: "certs" }).getByText("Disabled").waitFor();
    await row.getByRole("link", { name: "full" }).click();
    const panel = page.getByRole("complementary", { name: "Watcher full" });
    const nodes = panel.getByRole("region", { name: "Nodes" });
    await nodes.getByText("91 %").waitFor();
    await nodes.getByText("there is no /srv").waitFor();
    await nodes.getByText("2 news were given up").waitFor();
    const told = panel.getByRole("region", { name: "Latest events" });
    await told.getByText("stall-2: disk /srv is above 85%: 91 %").waitFor();
    await panel.getByText("hostler watcher show full").waitFor();

    await panel.getByRole("button", { name: "Disable" }).click();
    await confirm(page, "Disable full?", "Disable watcher", "hostler watcher disable full");
    await nodes.getByText("Off", { exact: true }).first().waitFor();
    await told.getByText("watcher.changed").waitFor();
    await panel.getByRole("button", { name: "Enable" }).click();
    await confirm(page, "Enable full?", "Enable watcher", "hostler watcher enable full");
    await nodes.getByText("Pending", { exact: true }).first().waitFor();
    await panel.getByRole("button", { name: "Remove" }).click();
    await confirm(page, "Remove full?", "Remove watcher", "hostler watcher rm full");
    await panel.waitFor({ state: "detached" });
    must((await row.count()) === 0, "it is listed though it was removed");
  },

  async "a watcher is added, and mistakes in it are said first"({ page, mock }) {
    await open(page, mock);
    await page.getByRole("button", { name: "Add watcher" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a watcher" });
    await dialog.getByLabel("Look at").selectOption("command");
    await dialog.getByRole("button", { name: "Add watcher" }).click();
    await dialog.getByText("Use 1 to 63 lowercase letters").waitFor();
    await dialog.getByText("Name a program, and its arguments.").waitFor();
    await dialog.getByLabel("Name", { exact: true }).fill("nginx");
    await dialog.getByLabel("Look at").selectOption("service");
    await dialog.getByLabel("Unit").fill("nginx.service");
    await dialog.getByLabel("failed", { exact: true }).check();
    await dialog.getByLabel("Only on nodes with labels").fill("site=barn");
    await dialog.getByLabel("Quiet after it fired").fill("5m");
    await dialog
      .getByText(
        "hostler watcher add nginx --service nginx.service --on failed -l site=barn --cooldown 5m",
      )
      .waitFor();
    await dialog.getByRole("button", { name: "Add watcher" }).click();
    const panel = page.getByRole("complementary", { name: "Watcher nginx" });
    await panel.getByText("service nginx.service").waitFor();
    await panel.getByRole("region", { name: "Nodes" }).getByText("stall-3").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Add watcher" }).click();
    await dialog.getByLabel("Name", { exact: true }).fill("nginx");
    await dialog.getByLabel("Path").fill("/etc/hosts");
    await dialog.getByRole("button", { name: "Add watcher" }).click();
    await dialog.getByRole("alert").getByText("there is a watcher `nginx` already").waitFor();
  },

  async "who may look at watchers changes none"({ page, mock }) {
    await open(page, mock, "/full", "vera");
    const panel = page.getByRole("complementary", { name: "Watcher full" });
    await panel.getByText("room for the database", { exact: true }).waitFor();
    for (const name of ["Disable", "Remove"])
      must((await panel.getByRole("button", { name }).count()) === 0, `${name} is offered`);
    must((await page.getByRole("button", { name: "Add watcher" }).count()) === 0, "it can add one");
  },
};
