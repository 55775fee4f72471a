// What `npm run e2e` looks at where events are shown.

import { login, must } from "./browser.mjs";
import { beatEvents } from "./mock-events.mjs";

async function open(page, mock, rest = "") {
  await login(page, mock.address, "admin");
  await page.goto(`${mock.address}/#/projects/default/events${rest}`);
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
}

export const EVENT_CASES = {
  async "events come as they happen, and are held still where that is asked for"({ page, mock }) {
    await open(page, mock);
    await page.getByText("Live", { exact: true }).waitFor();
    const newest = () => mock.world.events.at(-1).sequence;
    const cell = (sequence) => page.getByRole("cell", { name: String(sequence), exact: true });
    beatEvents(mock.world);
    await cell(newest()).waitFor();
    await page.getByRole("button", { name: "Hold still" }).click();
    beatEvents(mock.world);
    const held = newest();
    await page.getByRole("button", { name: /Go on \(\d+ new\)/ }).waitFor();
    must((await cell(held).count()) === 0, "it is shown though the list is held still");
    await page.getByRole("button", { name: "Go on" }).click();
    await cell(held).waitFor();
    await page.getByRole("button", { name: "Show older events" }).click();
    await cell(1003).waitFor();
  },

  async "events are narrowed by an expression, and a mistake in it is shown at its place"({
    page,
    mock,
  }) {
    await open(page, mock);
    const field = page.getByLabel("Only those of which this holds");
    await field.fill("kind is wrong");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("The filter cannot be read").or(alert.getByText("the filter")).waitFor();
    const marked = await alert.locator("pre").innerText();
    must(/\n +\^\n/.test(marked), `no caret: ${marked}`);
    must((await field.getAttribute("aria-invalid")) === "true", "the field is not marked");
    await field.fill('kind == "task.failed"');
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await alert.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "task.failed" }).first().waitFor();
    must((await page.getByRole("link", { name: "node.stale" }).count()) === 0, "others are listed");
    await page
      .getByText(`hostler event watch --filter 'kind == "task.failed"' -p default`)
      .waitFor();
    await page.reload();
    must((await field.inputValue()) === 'kind == "task.failed"', "the filter is forgotten");
  },

  async "an event says what it holds, what caused it, and what else came of that"({ page, mock }) {
    await open(page, mock, "/1003");
    const panel = page.getByRole("complementary", { name: "Event 1003" });
    await panel.getByRole("region", { name: "Payload" }).getByText("exitCode: 3").waitFor();
    await panel.getByRole("link", { name: /^request / }).waitFor();
    const others = panel.getByRole("region", { name: "From the same cause" });
    await others.getByRole("link", { name: "task.created" }).first().click();
    await page.getByRole("complementary", { name: /^Event 1000/ }).waitFor();
    await page.goto(`${mock.address}/#/projects/default/events/1007`);
    const dead = page.getByRole("complementary", { name: "Event 1007" });
    await dead.getByRole("link", { name: "event 1003" }).click();
    await panel.waitFor();
    await page.goto(`${mock.address}/#/projects/default/events/7`);
    await page.getByRole("alert").getByText("There is no event 7").waitFor();
  },
};
