import { expect, test } from "vitest";

import type { OutputView, TaskStateKind, TaskView } from "./api/types";
import { blobName, contentAddress, fileName, noneKept, runCount, whenWords } from "./files";

const DIGEST = "6f0c".repeat(16);

test.each([
  ["model.bin", false, "model.bin"],
  ["logs/today/a.txt", false, "a.txt"],
  ["logs/", true, "logs.tar"],
  ["out/logs", true, "logs.tar"],
  ["/", false, "/"],
])("%s is written to a file, archive or not: %s", (name, isArchive, file) =>
  expect(fileName(name, isArchive)).toBe(file),
);

test("content is known by its label, or by its digest", () => {
  expect(blobName({ label: "train.csv", digest: DIGEST })).toBe("train.csv");
  expect(blobName({ label: "", digest: DIGEST })).toBe("6f0c6f0c6f0c");
  expect(contentAddress("a b", DIGEST)).toBe(`/api/v1/projects/a%20b/blobs/${DIGEST}/content`);
});

test.each<[TaskStateKind, "success" | "always", string]>([
  ["running", "success", "Nothing yet: files are kept when the task ends."],
  ["completed", "success", "Nothing was kept."],
  ["failed", "success", "Nothing was kept: the task did not succeed."],
  ["failed", "always", "Nothing was kept."],
  ["lost", "always", "Nothing was kept: it is not known how the task ended."],
])("a task that is %s and keeps on %s has nothing", (state, when, words) => {
  const task = { status: { state }, spec: { outputs: [{ path: "a", when }] } } as TaskView;
  expect(noneKept(task)).toBe(words);
});

test("when something is kept", () => {
  expect(whenWords({ path: "a", when: "success" })).toBe("when it succeeds");
  expect(whenWords({ path: "a", when: "always" })).toBe("however it ends");
});

test("runs are told apart", () => {
  const outputs = ["1", "1", "2"].map((run) => ({ run }) as OutputView);
  expect(runCount(outputs)).toBe(2);
  expect(runCount([])).toBe(0);
});
