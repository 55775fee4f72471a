import { expect, test } from "vitest";

import type { ScheduleFireView, ScheduleView } from "./api/types";
import {
  buildSchedule,
  fireLook,
  fireRemarks,
  scheduleAdd,
  scheduleCommand,
  scheduleDraft,
  scheduleLook,
} from "./schedule";

const FIRE: ScheduleFireView = {
  time: "2026-03-29T01:00:00Z",
  state: "done",
  cause: "planned",
  timePlanned: "2026-03-29T01:00:00Z",
  timeBegun: "2026-03-29T01:00:01Z",
  lateness: "1s",
  count: 1,
  timeLast: "2026-03-29T01:00:00Z",
  tries: 1,
};
const SCHEDULE: ScheduleView = {
  id: "s",
  name: "nightly",
  spec: { cron: "0 3 * * *", timezone: "Europe/Berlin", target: { workflow: { name: "w" } } },
  timing: "0 3 * * * Europe/Berlin",
  kind: "workflow",
  summary: "workflow w",
  owner: "ada",
  generation: 3,
  timeNext: "2026-03-30T01:00:00Z",
  timeCreated: "2026-03-01T00:00:00Z",
  timeModified: "2026-03-01T00:00:00Z",
};

function typed(more: Partial<ReturnType<typeof scheduleDraft>>) {
  return { ...scheduleDraft(undefined, "Europe/Berlin"), name: "nightly", ...more };
}

test("a fire that was begun well may have ended badly", () => {
  expect(fireLook(FIRE).word).toBe("Done");
  expect(fireLook({ ...FIRE, standing: "running" }).word).toBe("Under way");
  expect(fireLook({ ...FIRE, standing: "failed", isGood: false }).word).toBe("Ended badly");
  expect(fireLook({ ...FIRE, standing: "completed", isGood: true }).word).toBe("Done");
  expect(fireLook({ ...FIRE, state: "missed", isGood: false }).word).toBe("Missed");
});

test("what was late, missed, asked for and repeated is said", () => {
  expect(fireRemarks(FIRE)).toEqual([]);
  expect(fireRemarks({ ...FIRE, cause: "caught-up", timeBegun: "2026-03-29T02:00:00Z" })).toEqual([
    "made up for",
    "1 h 00 m late",
  ]);
  expect(fireRemarks({ ...FIRE, state: "missed", cause: "outage", count: 12 })).toEqual([
    "no server was there",
    "12 times",
  ]);
  const asked = { ...FIRE, cause: "manual", askedBy: "ada", tries: 3, status: 503 } as const;
  expect(fireRemarks(asked)).toEqual(["asked for by ada", "3 tries", "answered 503"]);
});

test("a schedule is active, paused or over", () => {
  expect(scheduleLook(SCHEDULE).word).toBe("Active");
  expect(scheduleLook({ ...SCHEDULE, timeNext: null }).word).toBe("Over");
  const pause = { by: "ada", reason: "disk", time: "2026-03-01T00:00:00Z" };
  expect(scheduleLook({ ...SCHEDULE, timeNext: null, pause }).word).toBe("Paused");
});

test("an empty form says what is missing, all at once", () => {
  const { spec, mistakes } = buildSchedule({ ...typed({ name: "" }), jitter: "soon" });
  expect(spec).toBeUndefined();
  expect(Object.keys(mistakes).sort()).toEqual(["cron", "jitter", "name", "task"]);
  expect(Object.keys(buildSchedule(typed({ timing: "at", kind: "http" })).mistakes)).toEqual([
    "at",
    "url",
  ]);
});

test("a form means a schedule, and the command that makes the same", () => {
  const draft = typed({ cron: " 0 3 * * * " });
  draft.work.task.command = "pg_dump -Fc 'my shop'";
  draft.work.task.cores = "2";
  const { spec } = buildSchedule(draft);
  expect(spec).toEqual({
    cron: "0 3 * * *",
    timezone: "Europe/Berlin",
    overlap: "forbid",
    catchUp: "one",
    target: { task: { spec: { command: ["pg_dump", "-Fc", "my shop"], resources: { cores: 2 } } } },
  });
  expect(spec && scheduleAdd("nightly", spec, "lab")).toBe(
    "hostler schedule add nightly -p lab --cron '0 3 * * *' --zone Europe/Berlin task --cores 2 -- pg_dump -Fc 'my shop'",
  );
});

test("calls and workloads; what flags do not say is in a file", () => {
  const http = buildSchedule(
    typed({
      timing: "every",
      every: "5m",
      zone: "UTC",
      kind: "http",
      url: "https://ci.example/",
      sign: "k",
    }),
  ).spec;
  expect(http?.target).toEqual({ http: { url: "https://ci.example/", sign: "k" } });
  expect(http && scheduleAdd("ping", http, "default")).toBe(
    "hostler schedule add ping --every 5m http https://ci.example/ --sign k",
  );
  const restart = typed({ cron: "@daily", zone: "", kind: "workload", overlap: "queue" });
  restart.work.workload = "web";
  const built = buildSchedule(restart).spec;
  expect(built && scheduleAdd("refresh", built, "default")).toBe(
    "hostler schedule add refresh --cron @daily --overlap queue restart web",
  );
  const flow = typed({ cron: "@daily", kind: "workflow" });
  flow.work = { ...flow.work, workflow: "release", values: '{"env": "prod"}' };
  const filed = buildSchedule(flow).spec;
  expect(filed && scheduleAdd("r", filed, "default")).toBe("hostler schedule add r -f r.yaml");
});

test("other times leave what is done alone", () => {
  const draft = scheduleDraft(
    { ...SCHEDULE, spec: { ...SCHEDULE.spec, ends: "2027-01-01T00:00:00Z" } },
    "UTC",
  );
  expect(draft).toMatchObject({ timing: "cron", cron: "0 3 * * *", zone: "Europe/Berlin" });
  const from = { ...SCHEDULE.spec, ends: "2027-01-01T00:00:00Z", catchUpLimit: 5 };
  expect(buildSchedule({ ...draft, timing: "every", every: "1h" }, from).spec).toEqual({
    every: "1h",
    timezone: "Europe/Berlin",
    overlap: "forbid",
    catchUp: "one",
    catchUpLimit: 5,
    ends: "2027-01-01T00:00:00Z",
    target: SCHEDULE.spec.target,
  });
  expect(
    buildSchedule({ ...draft, timing: "at", at: "2026-12-01T03:00" }, from).spec?.ends,
  ).toBeUndefined();
  expect(scheduleAdd("nightly", from, "default", true)).toBe(
    "hostler schedule add nightly -f nightly.yaml --replace",
  );
});

test("commands name the project where it is not the one that is meant", () => {
  expect(scheduleCommand("ls", undefined, "default")).toBe("hostler schedule ls");
  expect(scheduleCommand("pause", "nightly", "lab", ["--reason", "disk full"])).toBe(
    "hostler schedule pause nightly -p lab --reason 'disk full'",
  );
});
