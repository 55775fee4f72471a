import { afterEach, expect, test, vi } from "vitest";

import { call } from "./http";

afterEach(() => {
  vi.unstubAllGlobals();
});

function answering(body: unknown) {
  const asked = vi.fn<typeof fetch>(
    async () =>
      new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } }),
  );
  vi.stubGlobal("fetch", asked);
  return asked;
}

test("a change names the generation that it knows, in quotes", async () => {
  const asked = answering({ name: "ada" });
  const view = await call("patch", "/api/v1/users/{user}", {
    path: { user: "a b" },
    body: { isDisabled: true },
    ifMatch: 7,
  });
  expect(view).toEqual({ name: "ada" });
  const [address, init] = asked.mock.calls[0] ?? [];
  expect(address).toBe("/api/v1/users/a%20b");
  expect(init?.headers).toEqual({ "if-match": '"7"', "content-type": "application/json" });
  expect(init?.body).toBe('{"isDisabled":true}');
});

test("bytes are sent as they are, and not called JSON", async () => {
  const asked = answering({});
  const bytes = new Blob(["oats"]);
  await call("put", "/api/v1/projects/{project}/secrets/{secret}", {
    path: { project: "lab", secret: "db" },
    query: { environment: "prod", mustExist: true },
    bytes,
  });
  const [address, init] = asked.mock.calls[0] ?? [];
  expect(address).toBe("/api/v1/projects/lab/secrets/db?environment=prod&mustExist=true");
  expect(init?.headers).toEqual({ "content-type": "application/octet-stream" });
  expect(init?.body).toBe(bytes);
});
