"""Short tasks through Hostler: a server on SQLite, an agent, and a client over HTTPS.

Nothing is left out: every submission is in the database before it is answered, every result before
the agent forgets it, output is captured, events are numbered and the audit trail is chained. The
clock runs from the first request until the API knows of no task that has not ended; afterwards every
task is looked at, and the audit chain is verified.
"""

import http.client
import json
import os
import re
import ssl
import statistics
import time
import tomllib
import uuid

from processes import Place, children_named, cpu_seconds, memory, parent, until

BATCH = 1000
SLEEPERS = 50
PASSWORD = "a horse, a lantern, a gate"
PACE_MANY = 0.05
UNENDED = ("pending", "assigning", "running")


class Installation:
    """A server and an agent, each a process of its own, and a connection as the first admin."""

    def __init__(self, place):
        self.place, self.binary = place, os.environ["HOSTLER_BENCH_BINARY"]
        self.server = place.spawn(
            "server", self.binary, "server", "run", "--name", "bench", "--listen", "127.0.0.1:0",
            "--agent-listen", "127.0.0.1:0", "--data-dir", str(place.folder / "server"),
        )
        url, code = self.line(r"(https://\S+)/#setup=(\S+)\n")
        (fingerprint,) = self.line(r"fingerprint=(\S+)")
        self.hostler(
            "login", url, "--setup", code, "--fingerprint", fingerprint, "--name", "admin",
            "--password-stdin", said=PASSWORD,
        )
        self.connect(url)
        self.agent = self.join(url)
        (self.executor,) = until(
            lambda: children_named(self.agent.pid, "hostler-exec"), 30, "there is an executor"
        )

    def line(self, pattern):
        log = self.place.folder / "server.log"
        found = until(lambda: re.search(pattern, log.read_text()), 30, f"the server says {pattern}")
        return found.groups()

    def hostler(self, *words, said=None):
        return self.place.ask(self.binary, "--no-input", *words, input=said)

    def connect(self, url):
        kept = next(self.place.folder.rglob("credentials.toml")).read_text()
        (secrets,) = tomllib.loads(kept)["contexts"].values()
        trust = ssl.create_default_context(cadata=secrets["ca"])
        host, port = url.removeprefix("https://").rsplit(":", 1)
        self.connection = http.client.HTTPSConnection(host, int(port), context=trust, timeout=120)
        self.headers = {
            "Authorization": f"Bearer {secrets['token']}", "Content-Type": "application/json",
        }

    def join(self, url):
        data = str(self.place.folder / "agent")
        ticket = self.call("POST", "/api/v1/join-tokens", {})["ticket"]
        self.hostler(
            "agent", "join", "-", "--name", "bench", "--server", url, "--data-dir", data, said=ticket
        )
        agent = self.place.spawn("agent", self.binary, "agent", "run", "--data-dir", data)
        until(lambda: self.call("GET", "/api/v1/nodes?state=online")["items"], 30, "the node is online")
        return agent

    def call(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        headers = self.headers
        if method == "POST":
            headers = {**headers, "Idempotency-Key": str(uuid.uuid4())}
        self.connection.request(method, path, text, headers)
        reply = self.connection.getresponse()
        answer = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path}: {reply.status} {answer[:500]!r}")
        return json.loads(answer) if answer else None

    def tasks(self, words=""):
        return self.call("GET", "/api/v1/projects/default/tasks" + words)

    def every_task(self):
        cursor = ""
        while True:
            page = self.tasks(f"?limit=1000{cursor}")
            yield from page["items"]
            if not page.get("nextCursor"):
                return
            cursor = f"&cursor={page['nextCursor']}"

    def wait_all(self):
        for state in UNENDED:
            until(
                lambda: not self.tasks(f"?state={state}&limit=1")["items"], 300,
                f"no task is {state}", pace=PACE_MANY,
            )

    def batches(self, count):
        one = {"spec": {"command": ["true"]}}
        for begin in range(0, count, BATCH):
            some = {"tasks": [one] * min(BATCH, count - begin)}
            self.call("POST", "/api/v1/projects/default/task-batches", some)

    def has_arrays(self):
        return "--array" in self.hostler("task", "submit", "--help")

    def array(self, count):
        self.hostler("task", "submit", "--array", f"1-{count}", "--", "true")
        # Its tasks are made by and by; until then there may be none that has not ended.
        path = "/api/v1/projects/default/task-arrays?limit=100"
        until(
            lambda: not any(array["unsettled"] for array in self.call("GET", path)["items"]), 300,
            "every array has ended", pace=PACE_MANY,
        )

    def rate(self, submit, count):
        begun = time.monotonic()
        submit(count)
        self.wait_all()
        return count / (time.monotonic() - begun)

    def one(self):
        begun = time.monotonic()
        made = self.call("POST", "/api/v1/projects/default/tasks", {"spec": {"command": ["true"]}})
        ended = self.tasks(f"/{made['id']}?wait=30s")
        took = time.monotonic() - begun
        if ended["status"]["state"] != "completed":
            raise RuntimeError(f"a task is {ended['status']}")
        return took * 1000

    def verify(self, count):
        """Every task completed in a run of its own, and the audit chain is whole."""
        runs, seen = set(), 0
        for task in self.every_task():
            status = task["status"]
            seen += 1
            runs.add(status.get("run"))
            if status["state"] != "completed" or status["exit"].get("code") != 0:
                raise RuntimeError(f"task {task['name']} is {status}")
        if seen != count or len(runs) != count:
            raise RuntimeError(f"{seen} tasks in {len(runs)} runs were recorded, not {count}")
        verdict = self.call("GET", "/api/v1/audit/verify")
        if not verdict["isIntact"]:
            raise RuntimeError(f"the audit chain is broken: {verdict}")

    def verify_output(self):
        said = self.hostler("run", "--", "echo", "captured")
        if said.strip() != "captured":
            raise RuntimeError(f"the output of a task was {said!r}")

    def shims(self):
        """Of tasks that sleep; their own processes left out."""
        one = {"spec": {"command": ["sleep", "600"], "resources": {"cores": 0.001}}}
        self.call("POST", "/api/v1/projects/default/task-batches", {"tasks": [one] * SLEEPERS})

        def asleep():
            items = self.tasks("?state=running&limit=1000")["items"]
            found = [task["status"]["pid"] for task in items if task["status"].get("pid")]
            return found if len(found) == SLEEPERS else None

        return {parent(pid) for pid in until(asleep, 60, "tasks sleep", pace=PACE_MANY)}

    def remove_cgroups(self):
        for record in self.place.folder.glob("agent/runs/*/started.json"):
            try:
                os.rmdir(json.loads(record.read_text())["cgroup"])
            except (OSError, KeyError, TypeError, ValueError):
                pass


def measure(tasks, rounds, singles):
    with Place("hostler") as place:
        hostler = Installation(place)
        parts = {
            "server": hostler.server.pid, "agent": hostler.agent.pid, "executor": hostler.executor,
        }
        try:
            result = {"idle": {part: memory(pid) for part, pid in parts.items()}}
            waits = [hostler.one() for _ in range(singles + 5)][5:]
            result["latency"] = statistics.median(waits)
            result["latency_range"] = (min(waits), max(waits))
            ways = {"batches": hostler.batches}
            if hostler.has_arrays():
                ways["array"] = hostler.array
            before = {part: cpu_seconds(pid) for part, pid in parts.items()}
            for way, submit in ways.items():
                result[way] = [hostler.rate(submit, tasks) for _ in range(rounds)]
            count = tasks * rounds * len(ways)
            result["cpu"] = {
                part: (cpu_seconds(pid) - before[part]) * 1000 / count for part, pid in parts.items()
            }
            result["memory"] = {part: memory(pid) for part, pid in parts.items()}
            hostler.verify(count + singles + 5)
            result["checked"] = count + singles + 5
            hostler.verify_output()
            shims = hostler.shims()
            result["memory"]["shim, each"] = memory(*shims)
        finally:
            for process in (hostler.agent, hostler.server):
                process.kill()
            place.sweep()
            hostler.remove_cgroups()
    return result
