// How people come in: invitations, new passwords, second factors.

import { login, must } from "./browser.mjs";
import { INVITATION, RESET } from "./mock-people.mjs";

const PRINT = "ab".repeat(32);

async function fillPassword(page, text, again = text) {
  await page.getByLabel("Password", { exact: true }).fill(text);
  await page.getByLabel("Password again").fill(again);
}

export const PEOPLE_CASES = {
  async "somebody who was invited makes an account, once"({ page, mock }) {
    const link = `${mock.address}/#invitation=${INVITATION}.${PRINT}`;
    await page.goto(link);
    await page.getByText("admin invites you to be user in project default").waitFor();
    must(!page.url().includes(INVITATION), "the secret stays in the address");
    await page.getByText(`hostler login --invitation '${link}'`).waitFor();
    await page.getByLabel("Name").fill("Grace H");
    await fillPassword(page, "one", "two");
    const button = page.getByRole("button", { name: "Create account" });
    await button.click();
    await page.getByText("Use lowercase letters").waitFor();
    await page.getByText("The two passwords differ.").waitFor();
    await page.getByLabel("Name").fill("vera");
    await fillPassword(page, "a horse, a gate");
    await button.click();
    await page.getByRole("alert").getByText("exists already").waitFor();
    await page.getByLabel("Name").fill("grace");
    await button.click();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("grace", { exact: true }).waitFor();

    await page.goto(link);
    await page.getByRole("alert").getByText("each works once").waitFor();
    await page.getByRole("button", { name: "Log in instead" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
  },

  async "a link sets a new password, and the login page comes next"({ page, mock }) {
    await page.goto(mock.address);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await page.evaluate((hash) => (location.hash = hash), `#reset=${RESET}.${PRINT}`);
    await page.getByRole("heading", { name: "Set a new password" }).waitFor();
    must(!page.url().includes(RESET), "the secret stays in the address");
    await fillPassword(page, "a horse, a gate");
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByText("The new password of vera is set.").waitFor();
    await page.getByLabel("Name").fill("vera");
    await page.getByLabel("Password").fill("a horse, a gate");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
  },

  async "a login asks for the code where there is a second factor"({ page, mock }) {
    mock.world.users.get("admin").secondFactor = "on";
    await page.goto(mock.address);
    await page.getByLabel("Name").fill("admin");
    await page.getByLabel("Password").fill("hostler");
    const button = page.getByRole("button", { name: "Log in" });
    await button.click();
    const code = page.getByLabel("Code of your authenticator");
    await code.fill("000000");
    await button.click();
    await page.getByRole("alert").getByText("the code is wrong").waitFor();
    must((await page.getByLabel("Password").inputValue()) === "hostler", "the password is gone");
    await code.fill("123456");
    await button.click();
    await page.getByText("Live", { exact: true }).waitFor();
  },

  async "whose role needs a second factor enrols before anything else"({ page, mock }) {
    mock.world.users.get("admin").secondFactor = "required";
    await page.goto(mock.address);
    await page.getByLabel("Name").fill("admin");
    await page.getByLabel("Password").fill("hostler");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "A second factor is needed" }).waitFor();
    await page.getByLabel("Your password").fill("wrong");
    await page.getByRole("button", { name: "Begin" }).click();
    await page.getByRole("alert").getByText("this is not the password").first().waitFor();
    await page.getByLabel("Your password").fill("hostler");
    await page.getByRole("button", { name: "Begin" }).click();
    await page.getByText("GEZDGNBVGY3TQOJQ").waitFor();
    await page.getByLabel("Code of your authenticator").fill("123456");
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("EEEE-FFFF-GGGG-HHHH").waitFor();
    await page.getByRole("button", { name: "I have kept them" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    mock.world.users.get("admin").secondFactor = "off";
    await login(page, mock.address);
  },
};
