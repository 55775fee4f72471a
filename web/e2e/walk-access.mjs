// The part of the walk that is about people and what they may do: secrets, people, roles, the audit trail
// and one's own account, each along its main path, and what somebody sees who may only look.

import { must, openPage, textOf } from "./browser.mjs";
import { totp } from "./totp.mjs";

const VALUE = "hay-and-oats-7731";
const PASSWORD = "a saddle, a bridle, a gate";
const GUEST = "wanda";

export async function seeAccess(page, { base, browser, password, shot }) {
  await keepSecret(page, shot);
  const link = await invite(page, shot);
  await lookAsGuest(browser, base, link);
  await manageGuest(page, shot);
  await makeRole(page, shot);
  await makeGroup(page, shot);
  await readAudit(page, shot);
  await seeMyself(page, password, shot);
}

async function open(page, word) {
  await page.getByRole("link", { name: word, exact: true }).click();
  await page.getByRole("heading", { name: word, level: 1 }).waitFor();
}

async function confirm(page, title, verb) {
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

async function keepSecret(page, shot) {
  await open(page, "Secrets");
  await page.getByRole("button", { name: "Set secret" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a secret" });
  await dialog.getByLabel("Name", { exact: true }).fill("db");
  const value = dialog.getByLabel("Value", { exact: true });
  must((await value.getAttribute("type")) === "password", "a value is shown while it is typed");
  await value.fill(VALUE);
  await dialog.getByText("hostler secret set db -").waitFor();
  await shot("secret-set");
  await dialog.getByRole("button", { name: "Set secret" }).click();
  const panel = page.getByRole("complementary", { name: "Secret db" });
  await panel.getByRole("button", { name: "Reveal version 1" }).waitFor();
  must(!(await page.content()).includes(VALUE), "a value is in the page that nobody asked for");
  await panel.getByRole("button", { name: "Reveal version 1" }).click();
  await panel.getByText(VALUE, { exact: true }).waitFor();
  await shot("secret");
  await panel.getByRole("button", { name: "Hide it" }).click();
  await panel.getByText(VALUE, { exact: true }).waitFor({ state: "detached" });
  must(!(await page.content()).includes(VALUE), "a value stays in the page when it is hidden");
  must(!page.url().includes(VALUE), "a value is in the address");

  await panel.getByRole("button", { name: "Rotate" }).click();
  const rotate = page.getByRole("dialog", { name: "A new value for db" });
  await rotate.getByLabel("made by the server").check();
  await rotate.getByText("hostler secret rotate db --generate 32").waitFor();
  await rotate.getByRole("button", { name: "Rotate" }).click();
  const versions = panel.getByRole("region", { name: "Versions" });
  await versions.getByRole("row").nth(2).waitFor();
  await versions.getByRole("row").nth(1).getByText("current", { exact: true }).waitFor();
  await panel.getByRole("button", { name: "Reveal version 2" }).waitFor();
}

async function invite(page, shot) {
  await open(page, "People");
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Invite somebody" });
  await dialog.getByLabel("Where").selectOption("");
  await dialog.getByLabel("Role").selectOption("viewer");
  await dialog.getByLabel("Name", { exact: true }).fill(GUEST);
  await dialog.getByText(`hostler user invite --role viewer --name ${GUEST} --ttl 3d`).waitFor();
  await shot("invite");
  await dialog.getByRole("button", { name: "Make the link" }).click();
  const once = page.getByRole("dialog", { name: "The invitation" });
  const link = (await once.getByRole("group", { name: "Link" }).textContent()) ?? "";
  must(new URL(link).hash.startsWith("#invitation="), "this is not a link to an invitation");
  await once.getByRole("button", { name: "I have kept it" }).click();
  await once.waitFor({ state: "detached" });
  must(!(await page.content()).includes(new URL(link).hash), "the link stays in the page");
  await page.getByRole("link", { name: "Invitations", exact: true }).click();
  await page.getByRole("row").filter({ hasText: GUEST }).getByText("Open").waitFor();
  await shot("invitations");
  return link;
}

/** Makes the account in a browser of its own, and holds what it sees to what a viewer may do. */
async function lookAsGuest(browser, base, link) {
  const { context, page, complaints } = await openPage(browser);
  const none = async (role, name) =>
    must((await page.getByRole(role, { name }).count()) === 0, `a viewer is offered ${name}`);
  try {
    await page.goto(`${base}/${new URL(link).hash}`);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("Password again").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
    await none("button", "Submit task");
    await none("link", "Audit");
    await open(page, "Nodes");
    await page.getByRole("row").filter({ hasText: "Online" }).first().waitFor();
    await none("button", "Add a node");
    await open(page, "Secrets");
    await page.getByRole("link", { name: "db", exact: true }).click();
    await page.getByRole("region", { name: "Versions" }).getByRole("row").nth(2).waitFor();
    for (const name of ["Set secret", "Rotate", "Remove", /^Reveal/, /^Destroy/])
      await none("button", name);
    await open(page, "People");
    await page.getByRole("link", { name: "Members of default" }).waitFor();
    for (const name of ["Invite", "Service account", "Give a role"]) await none("button", name);
    await none("link", "Invitations");
    await open(page, "Roles and groups");
    await page.getByRole("link", { name: "operator", exact: true }).click();
    const role = page.getByRole("complementary", { name: "Role operator" });
    await role.getByText("What it allows").waitFor();
    for (const name of ["Create role", "Change", /^Remove$/]) await none("button", name);
    await none("link", /^Groups$/);
    await open(page, "My account");
    await page.getByRole("button", { name: "Create token" }).waitFor();
    must(complaints.length === 0, `the browser complained: ${complaints.join("; ")}`);
  } finally {
    await context.close();
  }
}

async function manageGuest(page, shot) {
  await page.getByRole("navigation", { name: "What is shown" }).getByText("Accounts").click();
  await page.getByRole("link", { name: GUEST, exact: true }).click();
  const panel = page.getByRole("complementary", { name: `Account ${GUEST}` });
  const sessions = panel.getByRole("region", { name: "Sessions" });
  await sessions.getByRole("row").filter({ hasText: "Chrome on Linux" }).first().waitFor();
  await shot("account");
  await sessions.getByRole("button", { name: "End all" }).click();
  await confirm(page, `End all sessions of ${GUEST}?`, "End them");
  await sessions.getByText("No browser is logged in.").waitFor();
  await panel.getByRole("button", { name: "Reset password" }).click();
  const dialog = page.getByRole("dialog", { name: `new password of ${GUEST}?` });
  await dialog.getByText(`hostler user reset ${GUEST}`).waitFor();
  await dialog.getByRole("button", { name: "Make the link" }).click();
  const once = page.getByRole("dialog", { name: `A new password for ${GUEST}` });
  const link = (await once.getByRole("group", { name: "Link" }).textContent()) ?? "";
  must(new URL(link).hash.startsWith("#reset="), "this is not a link for a new password");
  await once.getByRole("button", { name: "I have kept it" }).click();
  await panel.getByRole("button", { name: "Disable", exact: true }).click();
  await confirm(page, `Disable ${GUEST}?`, "Disable account");
  await panel.getByText("Disabled", { exact: true }).waitFor();
  await panel.getByRole("button", { name: "Enable", exact: true }).waitFor();
}

async function makeRole(page, shot) {
  await open(page, "Roles and groups");
  await page.getByLabel("Compare permissions").check();
  const table = page.getByRole("table", { name: "What each role allows" });
  await table.getByRole("columnheader", { name: "operator" }).waitFor();
  await shot("permissions");
  await page.getByLabel("Compare permissions").uncheck();
  await page.getByRole("button", { name: "Create role" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a role" });
  await dialog.getByLabel("Name", { exact: true }).fill("watcher");
  await dialog.getByLabel("task.read", { exact: true }).check();
  await dialog.getByText("hostler role create watcher --can task.read").waitFor();
  await shot("role-create");
  await dialog.getByRole("button", { name: "Create role" }).click();
  const panel = page.getByRole("complementary", { name: "Role watcher" });
  await panel.getByText("Nobody.").waitFor();
  await panel.getByRole("button", { name: "Change" }).click();
  const change = page.getByRole("dialog", { name: "Change watcher" });
  await change.getByLabel("task.output", { exact: true }).check();
  await change.getByText("hostler role edit watcher --add task.output").waitFor();
  await change.getByRole("button", { name: "Save role" }).click();
  await panel.getByText("read, output").waitFor();
  await shot("role");
  await panel.getByRole("button", { name: "Remove", exact: true }).click();
  await confirm(page, "Remove watcher?", "Remove role");
  await panel.waitFor({ state: "detached" });
}

async function makeGroup(page, shot) {
  await page.getByRole("link", { name: "Groups", exact: true }).click();
  await page.getByText("No groups yet").waitFor();
  await page.getByText("hostler group create ops ada grace").waitFor();
  await page.getByRole("button", { name: "Create group" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a group" });
  await dialog.getByLabel("Name", { exact: true }).fill("watch");
  await dialog.getByLabel("Members").fill(GUEST);
  await dialog.getByRole("button", { name: "Create group" }).click();
  const panel = page.getByRole("complementary", { name: "Group watch" });
  await panel.getByRole("listitem").filter({ hasText: GUEST }).waitFor();
  await panel.getByRole("button", { name: "Set role" }).click();
  const role = page.getByRole("dialog", { name: "Role on the whole installation of watch?" });
  await role.getByLabel("Role", { exact: true }).selectOption("viewer");
  await role.getByText("hostler user role group:watch viewer").waitFor();
  await role.getByRole("button", { name: "Set role" }).click();
  const bound = panel.getByRole("region", { name: "Roles bound to it" });
  await bound.getByText("everywhere").waitFor();
  await shot("group");
  await panel.getByRole("button", { name: `Take ${GUEST} out` }).click();
  await confirm(page, "Take out of watch?", "Take out");
  await panel.getByText("Nobody yet.").waitFor();
  await panel.getByRole("button", { name: "Remove", exact: true }).click();
  await confirm(page, "Remove watch?", "Remove group");
  await page.getByText("No groups yet").waitFor();
}

async function readAudit(page, shot) {
  await open(page, "Audit");
  await page.getByLabel("Action", { exact: true }).fill("secret.read");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByText("hostler audit search --action secret.read").waitFor();
  const row = page.getByRole("row").filter({ hasText: "secret db" }).first();
  await row.getByRole("button", { name: "secret.read" }).click();
  const panel = page.getByRole("complementary", { name: /^Entry \d+$/ });
  await panel
    .getByRole("region", { name: "Hashes" })
    .getByText(/^[0-9a-f]{64}$/)
    .first()
    .waitFor();
  must(!(await panel.textContent()).includes(VALUE), "a value is in the audit trail");
  await shot("audit");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  const chain = page.getByRole("region", { name: "The chain" });
  await chain.getByRole("button", { name: "Sign it now" }).click();
  await chain.getByText(/Last signed/).waitFor();
  await chain.getByRole("button", { name: "Verify" }).click();
  await chain.getByText("Intact", { exact: true }).waitFor();
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save all" }).click();
  const lines = (await textOf(await coming)).trimEnd().split("\n");
  const entries = lines.map((line) => JSON.parse(line));
  must(
    entries.every(({ sequence }, at) => sequence === entries[0].sequence + at),
    "the file has a gap",
  );
  must(
    entries.some(({ action }) => action === "secret.read"),
    "the file does not say that a secret was read",
  );
  await shot("audit-chain");
}

async function seeMyself(page, password, shot) {
  await open(page, "My account");
  const sessions = page.getByRole("region", { name: "Sessions" });
  await sessions.getByRole("row").filter({ hasText: "this one" }).waitFor();

  const tokens = page.getByRole("region", { name: "Tokens" });
  await tokens.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name", { exact: true }).fill("laptop");
  await dialog.getByLabel("default", { exact: true }).check();
  await dialog
    .getByText("hostler token create laptop --role user --only-project default --ttl 90d")
    .waitFor();
  await dialog.getByRole("button", { name: "Create token" }).click();
  const once = page.getByRole("dialog", { name: "Token laptop" });
  const secret = await once.getByRole("group", { name: "Secret of the token" }).textContent();
  must((secret ?? "").length > 20, "the secret of the token is not shown");
  await once.getByRole("button", { name: "I have kept it" }).click();
  await once.waitFor({ state: "detached" });
  must(!(await page.content()).includes(secret), "the secret of the token stays in the page");
  const row = tokens.getByRole("row").filter({ hasText: "laptop" });
  await row.getByText("user, in default").waitFor();
  await row.getByRole("button", { name: "Revoke token laptop" }).click();
  await confirm(page, "Revoke laptop?", "Revoke token");
  await row.waitFor({ state: "detached" });

  const factor = page.getByRole("region", { name: "Second factor" });
  await factor.getByText("Off", { exact: true }).waitFor();
  await factor.getByRole("button", { name: "Set it up" }).click();
  await factor.getByLabel("Your password").fill(password);
  await factor.getByRole("button", { name: "Begin" }).click();
  await factor.getByRole("img", { name: "QR code of the secret" }).waitFor();
  const seed = (await factor.getByLabel("Secret", { exact: true }).textContent()) ?? "";
  await shot("second-factor");
  await factor.getByLabel("Code of your authenticator").fill(totp(seed));
  await factor.getByRole("button", { name: "Confirm" }).click();
  const codes = (await factor.getByLabel("Recovery codes").textContent()) ?? "";
  await factor.getByRole("button", { name: "I have kept them" }).click();
  await factor.getByText("On", { exact: true }).waitFor();
  await shot("me");
  await factor.getByRole("button", { name: "Switch it off" }).click();
  const off = page.getByRole("dialog", { name: "Switch the second factor off?" });
  await off.getByLabel("Your password").fill(password);
  await off.getByLabel("Code of your authenticator").fill(codes.split("\n")[0]);
  await off.getByRole("button", { name: "Switch it off" }).click();
  await off.waitFor({ state: "detached" });
  await factor.getByText("Off", { exact: true }).waitFor();
}
