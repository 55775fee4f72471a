"""Two hundred sleeping processes under one supervisor after the other.

For each: how long until all run, what the supervisor's own processes weigh and burn, how soon a
child that was killed is replaced, and what becomes of the children when the supervisor itself is
killed and started again. Children are found by a marker in their environment, and told from earlier
ones by pid and start time; nothing is asked of the supervisors themselves.
"""

import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

CHILDREN = 200
KILLS = 20
IDLE_SECONDS = 20
SLEEP = "100000"
PEERS = pathlib.Path(os.environ["HOSTLER_BENCH_PEERS"])
HOSTLER = os.environ["HOSTLER_BENCH_BINARY"]
RESULTS = pathlib.Path("bench/results/supervise.md")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def is_child(pid, mark):
    words = read(f"/proc/{pid}/cmdline").split(b"\0")
    return (
        len(words) > 1
        and os.path.basename(words[0]) == b"sleep"
        and words[1] == SLEEP.encode()
        and f"BENCH_MARK={mark}".encode() in read(f"/proc/{pid}/environ").split(b"\0")
    )


def start_time(pid):
    stat = read(f"/proc/{pid}/stat").rsplit(b")", 1)[-1].split()
    return int(stat[19]) if len(stat) > 19 else None


def children(mark):
    """The children that live, with their start times, by pid."""
    return {pid: start_time(pid) for pid in pids() if is_child(pid, mark)}


def parent(pid):
    stat = read(f"/proc/{pid}/stat").rsplit(b")", 1)[-1].split()
    return int(stat[1]) if len(stat) > 1 and stat[0] != b"Z" else 0


def own_processes(mark):
    """The supervisor's processes: those with its marker, their children, and the children's parents;
    all but the children themselves."""
    wanted = f"BENCH_PEER={mark}".encode()
    held = set(children(mark))
    parents = {pid: parent(pid) for pid in pids()}
    own = {pid for pid in parents if wanted in read(f"/proc/{pid}/environ").split(b"\0")}
    own |= {pid for pid, above in parents.items() if above in own}
    own |= {parents.get(pid, 0) for pid in held}
    return [pid for pid in own - held if pid > 1 and pid != os.getpid() and parents.get(pid)]


def kilobytes(pid, file, key):
    for line in read(f"/proc/{pid}/{file}").decode(errors="replace").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def cpu_ticks(pid):
    stat = read(f"/proc/{pid}/stat").rsplit(b")", 1)[-1].split()
    return int(stat[11]) + int(stat[12]) if len(stat) > 12 else 0


def switches(pid):
    status = read(f"/proc/{pid}/status").decode(errors="replace").splitlines()
    return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)


def until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not come true within {seconds} s")
        time.sleep(0.002)


class Peer:
    """A supervisor: how it is configured, started and found."""

    name = ""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.mark = f"{self.name}-{os.getpid()}"
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("HOSTLER_")},
            "BENCH_PEER": self.mark,
            "HOME": str(self.folder),
        }
        self.log = open(self.folder / "log", "ab")
        self.process = None

    def spawn(self, *command, **more):
        return subprocess.Popen(
            command, env=self.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            cwd=self.folder, start_new_session=True, **more,
        )

    def configure(self):
        raise NotImplementedError

    def start(self):
        raise NotImplementedError

    def daemon(self):
        """Pid of the process that supervises."""
        return self.process.pid

    def version(self):
        return ""


class Hostler(Peer):
    name = "hostler"

    def configure(self):
        (self.folder / "workloads").mkdir()
        each = "".join(
            f"  - name: s{n}\n    command: [sleep, '{SLEEP}']\n    mode: forever\n"
            f"    restart: {{delay: 0s}}\n    env: {{BENCH_MARK: {self.mark}}}\n"
            for n in range(CHILDREN)
        )
        (self.folder / "workloads/all.yaml").write_text("workloads:\n" + each)

    def start(self):
        self.process = self.spawn(
            HOSTLER, "agent", "up", "--standalone", str(self.folder / "workloads"),
            "--data-dir", str(self.folder / "data"),
        )

    def version(self):
        return f"{os.environ['HOSTLER_BENCH_COMMIT']}, {os.environ['HOSTLER_BENCH_PROFILE']} build"


class Supervisord(Peer):
    name = "supervisord"

    def configure(self):
        each = "".join(
            f"[program:s{n}]\ncommand=sleep {SLEEP}\nautorestart=true\nstartsecs=0\n"
            f"environment=BENCH_MARK=\"{self.mark}\"\n"
            for n in range(CHILDREN)
        )
        (self.folder / "supervisord.conf").write_text(
            f"[supervisord]\nnodaemon=true\nminfds=4096\npidfile={self.folder}/pid\n"
            f"logfile={self.folder}/supervisord.log\nchildlogdir={self.folder}\n" + each
        )

    def start(self):
        self.process = self.spawn(
            str(PEERS / "python/bin/supervisord"), "-c", str(self.folder / "supervisord.conf")
        )

    def version(self):
        done = subprocess.run([PEERS / "python/bin/supervisord", "--version"], capture_output=True)
        return done.stdout.decode().strip()


class Circus(Peer):
    name = "circus"

    def configure(self):
        ports = [free_port() for _ in range(3)]
        each = "".join(
            f"[watcher:s{n}]\ncmd = sleep {SLEEP}\ncopy_env = True\n\n[env:s{n}]\nBENCH_MARK = {self.mark}\n\n"
            for n in range(CHILDREN)
        )
        (self.folder / "circus.ini").write_text(
            f"[circus]\nendpoint = tcp://127.0.0.1:{ports[0]}\npubsub_endpoint = tcp://127.0.0.1:{ports[1]}\n"
            f"stats_endpoint = tcp://127.0.0.1:{ports[2]}\nstatsd = False\n\n" + each
        )

    def start(self):
        self.process = self.spawn(
            str(PEERS / "python/bin/circusd"), str(self.folder / "circus.ini")
        )

    def version(self):
        return "0.19.0"


class Pm2(Peer):
    name = "pm2"

    def configure(self):
        self.env["PM2_HOME"] = str(self.folder / "pm2")
        apps = [
            {
                "name": f"s{n}", "script": "/bin/sleep", "args": [SLEEP], "interpreter": "none",
                "env": {"BENCH_MARK": self.mark}, "max_restarts": 100000,
            }
            for n in range(CHILDREN)
        ]
        (self.folder / "apps.config.json").write_text(json.dumps({"apps": apps}))

    def pm2(self, *words):
        return self.spawn(str(PEERS / "node_modules/.bin/pm2"), *words)

    def start(self):
        self.process = self.pm2("start", str(self.folder / "apps.config.json"))

    def daemon(self):
        return int(read(self.folder / "pm2/pm2.pid"))

    def version(self):
        package = json.loads(read(PEERS / "node_modules/pm2/package.json"))
        return package["version"]


class Runit(Peer):
    name = "runit"

    def configure(self):
        for n in range(CHILDREN):
            service = self.folder / f"services/s{n}"
            service.mkdir(parents=True)
            run = service / "run"
            run.write_text(f"#!/bin/sh\nexport BENCH_MARK={self.mark}\nexec sleep {SLEEP}\n")
            run.chmod(0o755)

    def start(self):
        self.process = self.spawn("runsvdir", str(self.folder / "services"))


def free_port():
    import socket

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def replacement(peer, victim):
    """Milliseconds from the death of a child to its successor."""
    known = set(children(peer.mark))
    begun = time.monotonic()
    os.kill(victim, signal.SIGKILL)
    newest = victim
    deadline = begun + 30
    seen = int(read("/proc/loadavg").split()[-1])
    while time.monotonic() < deadline:
        last = int(read("/proc/loadavg").split()[-1])
        if last < seen:
            seen = 0
        for pid in range(seen + 1, last + 1):
            if pid not in known and is_child(pid, peer.mark):
                return (time.monotonic() - begun) * 1000
        # A process that was seen before it became the child is looked at again.
        seen = max(seen, last - 16)
    raise RuntimeError(f"no successor of {newest}")


def is_replaced(mark, victim, count):
    now = children(mark)
    return victim not in now and len(now) >= count


def measure(peer):
    peer.configure()
    begun = time.monotonic()
    peer.start()
    until(lambda: len(children(peer.mark)) >= CHILDREN, 120, "two hundred children")
    result = {"start": time.monotonic() - begun}
    time.sleep(3)
    first = children(peer.mark)
    assert len(first) == CHILDREN, f"{len(first)} children"

    own = own_processes(peer.mark)
    result["rss"] = kilobytes(peer.daemon(), "status", "VmRSS") / 1024
    result["pss"] = sum(kilobytes(pid, "smaps_rollup", "Pss") for pid in own) / 1024
    result["processes"] = len(own)
    ticks, turns = sum(map(cpu_ticks, own)), sum(map(switches, own))
    time.sleep(IDLE_SECONDS)
    ticks, turns = sum(map(cpu_ticks, own)) - ticks, sum(map(switches, own)) - turns
    result["cpu"] = ticks / os.sysconf("SC_CLK_TCK") / IDLE_SECONDS * 100
    result["switches"] = turns / IDLE_SECONDS

    victims = sorted(first)[:: CHILDREN // KILLS][:KILLS]
    waits = []
    for victim in victims:
        waits.append(replacement(peer, victim))
        time.sleep(0.3)
    until(lambda: len(children(peer.mark)) >= CHILDREN, 60, "all children again")
    result["replaced"] = statistics.median(waits)
    result["replaced_range"] = (min(waits), max(waits))

    before = children(peer.mark)
    os.kill(peer.daemon(), signal.SIGKILL)
    if peer.process is not None:
        peer.process.wait()
    time.sleep(5)
    alive = children(peer.mark)
    result["survive"] = sum(alive.get(pid) == start for pid, start in before.items())
    peer.start()
    time.sleep(8)
    after = children(peer.mark)
    result["after"] = len(after)
    kept = {pid for pid, start in before.items() if after.get(pid) == start}
    result["kept"] = len(kept)
    supervised = 0
    for victim in sorted(kept)[:: max(1, len(kept) // 5)][:5]:
        count = len(children(peer.mark))
        os.kill(victim, signal.SIGKILL)
        try:
            until(lambda: is_replaced(peer.mark, victim, count), 4, "a successor")
            supervised += 1
        except RuntimeError:
            pass
    result["supervised"] = f"{supervised} of {min(5, len(kept))}"
    return result


def end(peer):
    """Nothing is left behind, whatever the supervisor does."""
    for _ in range(100):
        left = [pid for pid in own_processes(peer.mark)] + list(children(peer.mark))
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if peer.process is not None:
            peer.process.poll()
        time.sleep(0.05)


ROWS = [
    ("start until all 200 run, s", lambda r: f"{r['start']:.2f}"),
    ("child killed until replaced, median of 20, ms", lambda r: f"{r['replaced']:.1f}"),
    ("(least and most)", lambda r: "{:.1f} to {:.1f}".format(*r["replaced_range"])),
    ("daemon, RSS MB", lambda r: f"{r['rss']:.1f}"),
    ("all its processes, PSS MB", lambda r: f"{r['pss']:.1f}"),
    ("how many processes", lambda r: str(r["processes"])),
    ("idle, % of a core over 20 s", lambda r: f"{r['cpu']:.2f}"),
    ("idle, context switches a second", lambda r: f"{r['switches']:.1f}"),
    ("daemon killed: children alive 5 s later", lambda r: str(r["survive"])),
    ("daemon started again: children that run", lambda r: str(r["after"])),
    ("of them those from before", lambda r: str(r["kept"])),
    ("of five of those, killed: replaced", lambda r: r["supervised"]),
]


def table(results):
    lines = ["| 200 × `sleep` | " + " | ".join(results) + " |", "|---" * (len(results) + 1) + "|"]
    for title, show in ROWS:
        lines.append(f"| {title} | " + " | ".join(show(one) for one in results.values()) + " |")
    return "\n".join(lines)


def verdicts(results):
    ours = results["hostler"]
    others = {name: one for name, one in results.items() if name != "hostler"}
    slowest_peer = min((one["start"], name) for name, one in others.items())
    checks = [
        ("all 200 run within 0.5 s", ours["start"] <= 0.5, f"{ours['start']:.2f} s"),
        ("and before any of the others", ours["start"] < slowest_peer[0], f"{slowest_peer[1]}: {slowest_peer[0]:.2f} s"),
        ("a killed child is replaced within 5 ms at the median", ours["replaced"] <= 5, f"{ours['replaced']:.1f} ms"),
        ("200 of 200 old pids after kill -9 of the daemon, none new", ours["kept"] == 200 and ours["after"] == 200, f"{ours['kept']} kept, {ours['after']} run"),
        ("and they are supervised", ours["supervised"] == "5 of 5", ours["supervised"]),
        ("less memory than supervisord, all processes", ours["pss"] < others["supervisord"]["pss"], f"{ours['pss']:.1f} against {others['supervisord']['pss']:.1f} MB"),
        ("idle processor time about zero", ours["cpu"] <= 0.1, f"{ours['cpu']:.2f} %"),
    ]
    return [f"- {'met' if ok else '**missed**'}: {what} ({seen})" for what, ok, seen in checks]


def main():
    every = {peer.name: peer for peer in (Hostler, Supervisord, Pm2, Circus, Runit)}
    names = sys.argv[1:] or list(every)
    unknown = [name for name in names if name not in every]
    if unknown:
        sys.exit(f"error: there is no peer {unknown[0]}; there are {', '.join(every)}")
    results, versions = {}, {}
    for name in names:
        print(f"==> {name}", file=sys.stderr)
        folder = tempfile.mkdtemp(prefix=f"hostler-bench-{name}-")
        peer = every[name](folder)
        try:
            results[name] = measure(peer)
            versions[name] = peer.version()
        except Exception:
            sys.stderr.write((peer.folder / "log").read_text(errors="replace")[-3000:])
            raise
        finally:
            end(peer)
            shutil.rmtree(folder, ignore_errors=True)
        print(json.dumps(results[name]), file=sys.stderr)
    print(table(results))
    if sys.argv[1:]:
        return
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    load = read("/proc/loadavg").split()[0].decode()
    text = (
        "# Supervision, side by side\n\n"
        "Written by `bench/supervise`: every supervisor in turn, in one run, on one machine.\n\n"
        f"- machine: {os.cpu_count()} cores, {model}, Linux {os.uname().release}; load at the end {load}\n"
        + "".join(f"- {name}: {version}\n" for name, version in versions.items() if version)
        + "\n" + table(results) + "\n\n## Targets\n\n" + "\n".join(verdicts(results)) + "\n"
    )
    RESULTS.write_text(text)
    print(f"written to {RESULTS}", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
