// What `npm run e2e` looks at where the installation is seen whole, where it is backed up, and where
// the machine of a node is looked at and told something.

import { login, must } from "./browser.mjs";

const row = (page, ...texts) =>
  texts.reduce((rows, hasText) => rows.filter({ hasText }), page.getByRole("row"));

async function machine(page, mock, tab) {
  await page.goto(`${mock.address}/#/nodes/stall-1?tab=${tab}`);
  return page.getByRole("complementary", { name: "Node stall-1" });
}

export const MACHINE_CASES = {
  async "the overview shows figures and what the doctor finds"({ page, mock }) {
    await login(page, mock.address);
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await page.getByRole("img", { name: /^Memory: .* of 320 GiB$/ }).waitFor();
    await page.getByRole("img", { name: /^Time to answer: .* ms last/ }).waitFor();
    await page.getByRole("link", { name: "Week" }).click();
    await page.getByText("hostler metrics --since 7d").waitFor();
    must(page.url().endsWith("#/overview?range=7d"), "the time is not in the address");

    const doctor = page.getByRole("region", { name: "Doctor" });
    const findings = doctor.getByRole("list", { name: "Findings" }).locator("> li");
    await findings.first().getByText("the last good backup is 2 days old").waitFor();
    await findings.first().getByText("How it was seen").click();
    await findings.first().getByText("the directory has 11GiB available").waitFor();
    await doctor.getByRole("button", { name: "Make a backup now" }).click();
    const dialog = page.getByRole("dialog", { name: "Make a backup now?" });
    await dialog.getByText("hostler backup schedule --now").waitFor();
    await dialog.getByRole("button", { name: "Make backup" }).click();
    await doctor.getByText("A backup is made now.").waitFor();
    await page.waitForTimeout(2000);
    await doctor.getByRole("button", { name: "Examine again" }).click();
    await doctor.getByText("the last good backup").waitFor({ state: "detached" });
  },

  async "what a viewer may see of the installation"({ page, mock }) {
    await login(page, mock.address, "vera");
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("img", { name: /^Online/ }).waitFor();
    const none = async (role, name) =>
      must((await page.getByRole(role, { name }).count()) === 0, `a viewer is offered ${name}`);
    await none("region", "Doctor");
    await none("link", "Backups");
    const panel = await machine(page, mock, "services");
    await panel.getByRole("heading", { name: "Usage" }).waitFor();
    await none("navigation", "What is shown of stall-1");
  },

  async "backups of the control plane are listed and made"({ page, mock }) {
    await login(page, mock.address);
    await page.getByRole("link", { name: "Backups", exact: true }).click();
    await row(page, "Failed", "no space left on device").waitFor();
    await row(page, "Elsewhere", "hostler-2").waitFor();
    const clock = page.getByRole("region", { name: "By the clock" });
    await clock.getByText("the newest 14 are kept").waitFor();
    await page.getByRole("button", { name: "Make backup" }).click();
    const dialog = page.getByRole("dialog", { name: "Make a backup now?" });
    await dialog.getByRole("button", { name: "Make backup" }).click();
    await row(page, "Under way").waitFor();
    await row(page, "Verified", "215")
      .or(row(page, "Verified", "205"))
      .first()
      .waitFor();
    await clock.getByText("On time").waitFor();
  },

  async "a machine is asked only for what is opened"({ page, mock }) {
    const asked = [];
    page.on("request", (request) => {
      const what = /nodes\/stall-1\/(health|services|processes|packages|disks|users|logs)/;
      const found = what.exec(request.url());
      if (found) asked.push(found[1]);
    });
    await login(page, mock.address);
    await page.goto(`${mock.address}/#/nodes/stall-1`);
    const panel = page.getByRole("complementary", { name: "Node stall-1" });
    await panel.getByRole("heading", { name: "Usage" }).waitFor();
    must(asked.length === 0, `the machine was asked for ${asked.join(", ")}`);
    const tabs = panel.getByRole("navigation", { name: "What is shown of stall-1" });
    await tabs.getByRole("link", { name: "Health" }).click();
    await panel.getByText("/var is 93 % full").waitFor();
    must(asked.join() === "health", `the machine was asked for ${asked.join(", ")}`);
    await tabs.getByRole("link", { name: "Disk" }).click();
    await panel.getByRole("button", { name: "/var", exact: true }).click();
    await panel.getByText("/var/core.4711").waitFor();
    await panel.getByText("hostler node disk stall-1 --largest /var").waitFor();
    await tabs.getByRole("link", { name: "Packages" }).click();
    await panel.getByLabel("Which packages").selectOption("upgradable");
    await row(panel, "libssl3t64").waitFor();
    await row(panel, "nginx").waitFor({ state: "detached" });
    await tabs.getByRole("link", { name: "Users" }).click();
    await row(panel, "ada", "docker").waitFor();
    must((await row(panel, "www-data").count()) === 0, "users of the machine itself are listed");
    await panel.getByLabel("The machine's own too").check();
    await row(panel, "www-data", "locked").waitFor();
    await tabs.getByRole("link", { name: "Logs" }).click();
    await panel.getByText("could not write lock file").first().waitFor();
    await panel.getByLabel("Where from").selectOption("service");
    await panel.getByText("Say which service.").waitFor();
    await panel.getByLabel("Service", { exact: true }).fill("sshd");
    await panel.getByText("could not write lock file").first().waitFor({ state: "detached" });
    await panel.getByText("Accepted publickey").first().waitFor();
    await panel.getByText("hostler node logs stall-1 --service sshd").waitFor();
  },

  async "a service is started and a process is signalled, asked first"({ page, mock }) {
    await login(page, mock.address);
    const panel = await machine(page, mock, "services");
    await row(panel, "postgresql.service", "Failed").waitFor();
    await panel.getByRole("button", { name: "nginx.service", exact: true }).click();
    await panel.getByText("Main PID: 702").waitFor();
    await panel.getByRole("button", { name: "Start postgresql.service" }).click();
    const dialog = page.getByRole("dialog", { name: "Start postgresql.service on stall-1?" });
    await dialog.getByText("hostler node services start postgresql.service --on stall-1").waitFor();
    await dialog.getByRole("button", { name: "Start service" }).click();
    const standing = panel.getByRole("region", { name: "Operation" });
    await standing.getByText("postgresql.service runs").waitFor();
    await row(panel, "postgresql.service", "Running").waitFor();

    await panel.getByRole("link", { name: "Processes" }).click();
    await panel.getByRole("button", { name: "Send a signal to ffmpeg (4711)" }).click();
    const asked = page.getByRole("dialog", { name: /^Send term to ffmpeg \(4711\)/ });
    await asked.getByLabel("Signal").selectOption("kill");
    await page.getByText("hostler node processes kill stall-1 4711 --signal kill").waitFor();
    await page.getByRole("button", { name: "Send kill" }).click();
    await standing.getByText("kill reached ffmpeg (4711)").waitFor();
    await row(panel, "ffmpeg").waitFor({ state: "detached" });
  },

  async "who may look at machines and not change them is offered nothing"({ page, mock }) {
    await login(page, mock.address);
    for (const session of mock.world.sessions.values()) session.role = "operator";
    await page.reload();
    const panel = await machine(page, mock, "services");
    await row(panel, "nginx.service").waitFor();
    must(
      (await panel.getByRole("button", { name: /^(Start|Stop|Restart) / }).count()) === 0,
      "verbs",
    );
    await page.goto(`${mock.address}/#/nodes/far-field?tab=health`);
    await page.getByText("Its machine cannot be asked: it is offline").waitFor();
  },
};
