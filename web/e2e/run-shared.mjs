// What `npm run e2e` looks at where programs share things: state and locks.

import { login, must } from "./browser.mjs";

export const SHARED_CASES = {
  async "state is found by namespace and beginning, set, and changed only as it was seen"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "State", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "default" }).first().waitFor();
    await page.getByRole("link", { name: "deploys", exact: true }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    const link = (name) => page.getByRole("link", { name, exact: true });
    await link("worker/version").waitFor();
    await page.getByLabel("Keys that begin with").fill("web/");
    await page.keyboard.press("Enter");
    await link("worker/version").waitFor({ state: "detached" });
    await link("web/config").click();
    const panel = page.getByRole("complementary", { name: "Entry web/config" });
    await panel.getByText('"replicas": 3').waitFor();
    await panel.getByText("hostler state get web/config -n deploys").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Set entry" }).click();
    const dialog = page.getByRole("dialog", { name: "Set an entry" });
    await dialog.getByLabel("Key", { exact: true }).fill("web/flag");
    await dialog.getByLabel("Value", { exact: true }).fill("on");
    await dialog.getByText("--if-absent").waitFor();
    await dialog.getByRole("button", { name: "Set entry" }).click();
    const made = page.getByRole("complementary", { name: "Entry web/flag" });
    await made.getByRole("region", { name: "Value" }).getByText("on", { exact: true }).waitFor();
    await made.getByRole("button", { name: "Set value" }).click();
    for (const entry of mock.world.shared.entries.values())
      if (entry.key === "web/flag") entry.revision += 1;
    const other = page.getByRole("dialog", { name: "Another value for web/flag" });
    await other.getByLabel("Value", { exact: true }).fill("off");
    await other.getByRole("button", { name: "Set value" }).click();
    await other.getByRole("alert").getByText("the entry was changed meanwhile").waitFor();
  },

  async "state that others change is shown at once"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.goto(`${mock.address}/#/projects/default/state/deploys`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Watch changes" }).click();
    const changes = page.getByRole("region", { name: "Changes" });
    await changes.getByText("Nothing has changed since.").waitFor();
    await page.evaluate(async () => {
      const who = await (await fetch("/api/v1/whoami")).json();
      await fetch("/api/v1/projects/default/state/deploys/value?key=from/outside", {
        method: "PUT",
        headers: {
          "x-hostler-csrf": who.csrfToken,
          "content-type": "application/octet-stream",
        },
        body: "hello",
      });
    });
    await changes.getByText("from/outside").waitFor();
    await page.getByRole("row").filter({ hasText: "from/outside" }).getByText("5 B").waitFor();
  },

  async "a lock shows who holds it and who waits, and is taken away with a reason"({ page, mock }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Locks", exact: true }).click();
    const row = (name) => page.getByRole("row").filter({ hasText: name });
    await row("db/migrate").getByText("Waited for").waitFor();
    await row("db/migrate").getByText("release 42").waitFor();
    await row("gpu-pool").getByText("2 of 4").waitFor();
    must((await row("nightly").count()) === 0, "a lock that nobody uses is listed");
    await page.getByRole("link", { name: "All that are remembered" }).click();
    await row("nightly").getByText("Free").waitFor();
    await page.getByRole("link", { name: "db/migrate" }).click();
    const panel = page.getByRole("complementary", { name: "Lock db/migrate" });
    await panel.getByRole("region", { name: "Before" }).getByText("web-1 burnt down").waitFor();
    await panel.getByRole("region", { name: "Waiting" }).getByText("ci on stall-2").waitFor();
    await panel.getByRole("button", { name: "Force release" }).click();
    const dialog = page.getByRole("dialog", { name: "Take db/migrate away?" });
    await dialog.getByLabel("Reason").fill("it hangs");
    await dialog.getByText("hostler lock force-release db/migrate --reason 'it hangs'").waitFor();
    await dialog.getByRole("button", { name: "Force release" }).click();
    await dialog.waitFor({ state: "detached" });
    const holders = panel.getByRole("region", { name: "Holders" });
    await holders.getByText("ci on stall-2").waitFor();
    await panel.getByText("taken away by admin: it hangs").waitFor();
  },

  async "who may look at locks and state changes none"({ page, mock }) {
    await login(page, mock.address, "vera");
    await page.goto(`${mock.address}/#/projects/default/locks/db%2Fmigrate`);
    const lock = page.getByRole("complementary", { name: "Lock db/migrate" });
    await lock.getByText("release 43").waitFor();
    must((await lock.getByRole("button", { name: /release/ }).count()) === 0, "it can be taken");
    await page.goto(`${mock.address}/#/projects/default/state/deploys/web%2Fconfig`);
    const entry = page.getByRole("complementary", { name: "Entry web/config" });
    await entry.getByText('"replicas": 3').waitFor();
    for (const name of ["Set value", "Time to live", "Delete"])
      must((await entry.getByRole("button", { name }).count()) === 0, `${name} is offered`);
    must((await page.getByRole("button", { name: "Set entry" }).count()) === 0, "it can be set");
  },
};
