// What `npm run e2e` looks at where paths of nodes are kept and put back.

import { login, must } from "./browser.mjs";

const panelOf = (page, name) => page.getByRole("complementary", { name: `Backup ${name}` });
const row = (page, ...texts) =>
  texts.reduce((rows, hasText) => rows.filter({ hasText }), page.getByRole("row"));

async function open(page, mock) {
  await login(page, mock.address);
  await page.getByRole("link", { name: "Backups of nodes", exact: true }).click();
  await page.getByRole("heading", { name: "Backups of nodes", level: 1 }).waitFor();
}

export const NODE_BACKUP_CASES = {
  async "a backup of a node says what it has and lacks, and is verified"({ page, mock }) {
    await open(page, mock);
    await row(page, "stall-2", "Failed").waitFor();
    await row(page, "stall-2", "nightly").getByText("Damaged").waitFor();
    await page.getByLabel("Node", { exact: true }).selectOption("stall-1");
    await row(page, "stall-2").first().waitFor({ state: "detached" });
    await page.getByText("hostler node backup ls --node stall-1").waitFor();
    await row(page, "3.1 GiB").getByRole("link", { name: "nightly" }).click();
    const panel = panelOf(page, "nightly");
    const outcome = panel.getByRole("region", { name: "Outcome" });
    await outcome.getByText("1 could not be read").waitFor();
    await outcome.getByText("permission denied").waitFor();
    await panel.getByText("Files", { exact: true }).and(panel.locator("summary")).click();
    const files = panel.getByRole("region", { name: "Files" });
    await files.getByText("link to /proc/mounts").waitFor();
    await files.getByRole("button", { name: "Show more files" }).click();
    await files.getByText("/etc/conf.d/part-199.conf").waitFor();
    await files.getByRole("textbox").fill("/etc/mtab");
    await files.getByRole("button", { name: "Search" }).click();
    await files.getByText("part-199").waitFor({ state: "detached" });
    await files.getByText("link to /proc/mounts").waitFor();
    await files.getByText("--path /etc/mtab").waitFor();

    await panel.getByRole("button", { name: "Verify" }).click();
    const dialog = page.getByRole("dialog", { name: "Verify nightly?" });
    await dialog.getByText("hostler node backup verify").waitFor();
    await dialog.getByRole("button", { name: "Verify backup" }).click();
    const standing = panel.getByRole("region", { name: "Operation" });
    await standing.getByText("everything is there and right").waitFor();
    await panel.getByText("Verified", { exact: true }).first().waitFor();
    await standing.getByRole("link", { name: /^operation / }).click();
    await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
    must(page.url().includes("object=operation"), "the link does not lead to its operation");
  },

  async "a backup of a node is put back, checked first where it came from"({ page, mock }) {
    await open(page, mock);
    await row(page, "3.1 GiB").getByRole("link", { name: "nightly" }).click();
    const panel = panelOf(page, "nightly");
    const dialog = page.getByRole("dialog", { name: "Restore nightly" });
    const standing = panel.getByRole("region", { name: "Operation" });
    await panel.getByRole("button", { name: "Restore" }).click();
    must((await dialog.getByRole("checkbox").count()) === 0, "a fresh directory is compared");
    await dialog.getByLabel("Where").selectOption("directory");
    await dialog.getByLabel("Directory").fill("tmp");
    await dialog.getByRole("button", { name: "Restore" }).click();
    await dialog.getByText("is not a path of a machine").waitFor();
    await dialog.getByLabel("Where").selectOption("in-place");
    await dialog.getByLabel("Only say what would be different").check();
    await dialog.getByText(/hostler node backup restore \S+ --in-place --check$/).waitFor();
    await dialog.getByRole("button", { name: "Check" }).click();
    await standing.getByText("What would be different").waitFor();
    await standing.getByText("/etc/hosts").waitFor();

    await panel.getByRole("button", { name: "Restore" }).click();
    await dialog.getByLabel("Where").selectOption("directory");
    await dialog.getByLabel("Directory").fill("/tmp/before");
    await dialog.getByLabel("On node").selectOption("stall-3");
    await dialog.getByLabel("Only these paths").fill("/etc/ssh");
    await dialog.getByLabel("Overwrite files that are there").check();
    await dialog.getByText("--node stall-3 --to /tmp/before --path /etc/ssh --overwrite").waitFor();
    await dialog.getByRole("button", { name: "Restore" }).click();
    await standing.getByText("are back below /tmp/before").waitFor();
  },

  async "a backup of a node is made and removed"({ page, mock }) {
    await open(page, mock);
    await page.getByRole("button", { name: "Make backup" }).click();
    const dialog = page.getByRole("dialog", { name: "Make a backup" });
    await dialog.getByRole("button", { name: "Make backup" }).click();
    await dialog.getByText("Say of which node.").waitFor();
    await dialog.getByText("Say which paths, one a line.").waitFor();
    await dialog.getByLabel("Node", { exact: true }).fill("stall-3");
    await dialog.getByLabel("Paths", { exact: true }).fill("/home\n/opt");
    await dialog.getByLabel("Without").fill("*.tmp");
    await dialog.getByLabel("Name", { exact: true }).fill("homes");
    await dialog.getByLabel("Keep", { exact: true }).fill("7");
    await dialog
      .getByText(
        "hostler node backup create stall-3 /home /opt --exclude '*.tmp' --label homes --keep 7",
      )
      .waitFor();
    await dialog.getByRole("button", { name: "Make backup" }).click();
    const panel = panelOf(page, "homes");
    await panel.getByRole("region", { name: "Operation" }).getByText("Making it").waitFor();
    await panel.getByRole("region", { name: "Outcome" }).getByText("1 GiB").waitFor();
    await row(page, "homes").getByText("Complete").waitFor();
    await panel.getByRole("button", { name: "Remove" }).click();
    const asked = page.getByRole("dialog", { name: "Remove homes?" });
    await asked.getByRole("button", { name: "Remove backup" }).click();
    await panel.waitFor({ state: "detached" });
    must((await row(page, "homes").count()) === 0, "it is listed though it was removed");
  },

  async "backups of nodes are for who may read their machines"({ page, mock }) {
    await login(page, mock.address, "vera");
    const link = page.getByRole("link", { name: "Backups of nodes", exact: true });
    must((await link.count()) === 0, "a viewer is offered the page");
    await page.goto(`${mock.address}/#/node-backups`);
    await page.getByRole("alert").getByText("this needs the role admin").waitFor();
    const make = page.getByRole("button", { name: "Make backup" });
    must((await make.count()) === 0, "a viewer may make one");
  },
};
