import { expect, test } from "vitest";

import { ApiError } from "./api/http";
import type { Problem } from "./api/types";
import { Loaded } from "./loaded.svelte";

const OFFLINE: Problem = {
  type: "about:blank",
  title: "Conflict",
  status: 409,
  detail: "web-1 is offline",
  code: "conflict",
  hint: "",
  requestId: "",
};
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("an answer stays while another is waited for, and after a refusal", async () => {
  const loaded = new Loaded<number>();
  loaded.ask(() => Promise.resolve(1));
  expect(loaded).toMatchObject({ value: undefined, isBusy: true });
  await settled();
  expect(loaded).toMatchObject({ value: 1, isBusy: false, problem: undefined });
  loaded.ask(() => Promise.reject(new ApiError(OFFLINE)));
  await settled();
  expect(loaded).toMatchObject({ value: 1, isBusy: false, problem: OFFLINE });
  loaded.ask(() => Promise.resolve(2));
  await settled();
  expect(loaded).toMatchObject({ value: 2, problem: undefined });
});

test("what nobody waits for any more changes nothing", async () => {
  const loaded = new Loaded<number>();
  const giveUp = loaded.ask(() => Promise.resolve(1));
  giveUp();
  expect(loaded.isBusy).toBe(false);
  loaded.ask(() => Promise.resolve(2));
  await settled();
  expect(loaded.value).toBe(2);
});
