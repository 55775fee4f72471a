// What `npm run e2e` looks at where files are shown: inputs, kept files, content.

import { login, must, textOf } from "./browser.mjs";

export const FILE_CASES = {
  async "a task shows what it was given and what it left, and why something is missing"({
    page,
    mock,
  }) {
    await login(page, mock.address, "vera");
    await page.goto(`${mock.address}/#/projects/default/tasks/render-042`);
    const panel = page.getByRole("complementary", { name: "Task render-042" });
    const inputs = panel.getByRole("region", { name: "Inputs" });
    await inputs.getByRole("row").filter({ hasText: "042.scene" }).getByText("48 MiB").waitFor();
    await inputs.getByText("unpacked there").waitFor();
    const kept = panel.getByRole("region", { name: "Kept files" });
    const missing = kept.getByRole("row").filter({ hasText: "preview.mp4" });
    await missing.getByText("Not kept").waitFor();
    await missing.getByText("there is no such file").waitFor();
    must((await missing.getByRole("link").count()) === 0, "what is not there can be downloaded");
    const coming = page.waitForEvent("download");
    await kept.getByRole("link", { name: "Download logs.tar" }).click();
    must((await textOf(await coming)) === "not really an archive\n", "another file came");

    mock.world.blobs.clear();
    await kept.getByRole("link", { name: "Download 0001.png" }).click();
    await kept.getByRole("alert").getByText("there is no blob").waitFor();
    await page.reload();
    await inputs.getByText("no longer there").first().waitFor();

    await page.goto(`${mock.address}/#/projects/default/tasks/thumbs-2419`);
    await page.getByRole("complementary", { name: "Task thumbs-2419" }).waitFor();
    must((await kept.count()) === 0, "a task that keeps nothing shows kept files");
  },

  async "files are listed by pages and kinds, shown, and removed when nothing needs them"({
    page,
    mock,
  }) {
    await login(page, mock.address, "admin");
    await page.getByRole("link", { name: "Files", exact: true }).click();
    const row = (name) => page.getByRole("row").filter({ hasText: name });
    await row("042.scene").getByText("mira").waitFor();
    await page.getByText("hostler blob ls", { exact: true }).waitFor();
    must((await row("frame-130.txt").count()) === 0, "everything is on the first page");
    await page.getByRole("button", { name: "Show older files" }).click();
    await row("frame-130.txt").waitFor();
    await page.getByRole("link", { name: "Left by a task" }).click();
    await row("042.scene").waitFor({ state: "detached" });
    await row("0001.png").waitFor();
    await page.getByText("hostler blob ls --kind output").waitFor();

    await page.getByRole("link", { name: "Sent", exact: true }).click();
    await page.getByRole("link", { name: "frame-1.txt", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "File frame-1.txt" });
    const address = page.url();
    await panel.getByRole("button", { name: "Remove" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove frame-1.txt?" });
    await dialog.getByRole("button", { name: "Remove file" }).click();
    await panel.waitFor({ state: "detached" });
    await row("frame-2.txt").waitFor();
    must((await row("frame-1.txt").count()) === 0, "it is still listed");
    await page.goto(address);
    await page.getByRole("alert").getByText("there is no blob").waitFor();

    await page.goto(`${mock.address}/#/projects/render-farm/files`);
    await page.getByText("No files yet").waitFor();
    await page.getByText("hostler task submit -p render-farm --input train.csv").waitFor();
    await page.getByLabel("Project").selectOption("default");
    await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();
    await row("042.scene").waitFor();

    await page.getByRole("button", { name: "Log out" }).click();
    await login(page, mock.address, "vera");
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("link", { name: "042.scene", exact: true }).click();
    const scene = page.getByRole("complementary", { name: "File 042.scene" });
    await scene.getByRole("link", { name: "Download" }).waitFor();
    must(
      (await scene.getByRole("button", { name: "Remove" }).count()) === 0,
      "a viewer may remove",
    );
  },
};
