"""Two hundred sleeping processes under one supervisor after the other, then two that are not so easy.

For each supervisor: how long until all run, what its own processes weigh and burn, how soon a child
that was killed is replaced, and what becomes of the children when the supervisor itself is killed and
started again. Then, freshly started: whether anything of a service is left after it was stopped that
had a child of its own, and whether a program that writes to its output goes on when the supervisor is
killed.
"""

import json
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile
import time

from processes import (
    SLEEP, Census, cpu_ticks, is_sleeping_child, kilobytes, marked, newest_pid, own_processes, read,
    sleeping_children, switches, until,
)
from supervisors import EVERY

CHILDREN = 200
KILLS = 20
IDLE_SECONDS = 20
GRANDCHILD_SLEEP = "200000"
RESULTS = pathlib.Path("bench/results/supervise.md")
WRITER = str(pathlib.Path(__file__).with_name("writer.py"))


def replacement(peer, victim):
    """Milliseconds from the death of a child to its successor."""
    known = set(sleeping_children(peer.mark))
    seen = newest_pid()
    candidates = set()
    begun = time.monotonic()
    os.kill(victim, signal.SIGKILL)
    while time.monotonic() < begun + 30:
        last = newest_pid()
        candidates.update(range(seen + 1 if last >= seen else 2, last + 1))
        seen = last
        for pid in sorted(candidates - known, reverse=True):
            if is_sleeping_child(pid, peer.mark):
                return (time.monotonic() - begun) * 1000
    raise RuntimeError(f"no successor of {victim}")


def is_replaced(mark, victim, count):
    now = sleeping_children(mark)
    return victim not in now and len(now) >= count


def measure(peer):
    peer.configure({f"s{n}": [shutil.which("sleep"), SLEEP] for n in range(CHILDREN)})
    census = Census(peer.mark)
    begun = time.monotonic()
    peer.start()
    until(lambda: census.count() >= CHILDREN, 120, "two hundred children")
    result = {"start": time.monotonic() - begun}
    time.sleep(3)
    first = sleeping_children(peer.mark)
    assert len(first) == CHILDREN, f"{len(first)} children"
    result |= weigh(peer)
    result |= kill_children(peer, first)
    result |= kill_daemon(peer)
    return result


def weigh(peer):
    """What the supervisor's own processes take while nothing happens."""
    own = own_processes(peer.mark)
    result = {
        "rss": kilobytes(peer.daemon(), "status", "VmRSS") / 1024,
        "pss": sum(kilobytes(pid, "smaps_rollup", "Pss") for pid in own) / 1024,
        "processes": len(own),
    }
    ticks, turns = sum(map(cpu_ticks, own)), sum(map(switches, own))
    time.sleep(IDLE_SECONDS)
    ticks, turns = sum(map(cpu_ticks, own)) - ticks, sum(map(switches, own)) - turns
    result["cpu"] = ticks / os.sysconf("SC_CLK_TCK") / IDLE_SECONDS * 100
    result["switches"] = turns / IDLE_SECONDS
    return result


def kill_children(peer, first):
    waits = []
    for victim in sorted(first)[:: CHILDREN // KILLS][:KILLS]:
        waits.append(replacement(peer, victim))
        time.sleep(0.3)
    until(lambda: len(sleeping_children(peer.mark)) >= CHILDREN, 60, "all children again")
    return {"replaced": statistics.median(waits), "replaced_range": (min(waits), max(waits))}


def kill_daemon(peer):
    before = sleeping_children(peer.mark)
    os.kill(peer.daemon(), signal.SIGKILL)
    peer.process.wait()
    time.sleep(5)
    alive = sleeping_children(peer.mark)
    peer.start()
    time.sleep(8)
    after = sleeping_children(peer.mark)
    kept = {pid for pid, start in before.items() if after.get(pid) == start}
    supervised = 0
    for victim in sorted(kept)[:: max(1, len(kept) // 5)][:5]:
        count = len(sleeping_children(peer.mark))
        os.kill(victim, signal.SIGKILL)
        try:
            until(lambda: is_replaced(peer.mark, victim, count), 4, "a successor")
            supervised += 1
        except RuntimeError:
            pass
    return {
        "survive": sum(alive.get(pid) == start for pid, start in before.items()),
        "after": len(after),
        "kept": len(kept),
        "supervised": f"{supervised} of {min(5, len(kept))}",
    }


def probe(peer):
    """A service with a child of its own, and one that writes to its output without end."""
    counter = peer.folder / "counter"
    shell = f"{shutil.which('sleep')} {GRANDCHILD_SLEEP} & wait"
    peer.configure({
        "family": ["/bin/sh", "-c", shell],
        "writer": [sys.executable, WRITER, str(counter)],
    })
    peer.start()
    grandchildren = lambda: sleeping_children(peer.mark, GRANDCHILD_SLEEP)
    until(grandchildren, 60, "the grandchild")
    until(lambda: count(counter) > 20, 60, "the writer writing")
    time.sleep(2)
    peer.stop("family")
    time.sleep(3)
    result = {"orphans": len(grandchildren())}
    result["writer"] = how_it_writes(peer, counter)
    os.kill(peer.daemon(), signal.SIGKILL)
    peer.process.wait()
    time.sleep(3)
    result["writer_alone"] = how_it_writes(peer, counter)
    return result


def count(counter):
    return int(read(counter) or 0)


def how_it_writes(peer, counter):
    is_alive = any(WRITER.encode() in read(f"/proc/{pid}/cmdline") for pid in marked(peer.mark))
    before = count(counter)
    time.sleep(2)
    if count(counter) > before:
        return "goes on"
    return "blocked" if is_alive else "dead"


def end(peer):
    """Nothing is left behind, whatever the supervisor does."""
    for _ in range(100):
        left = own_processes(peer.mark) + marked(peer.mark)
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


def in_turn(name, step):
    """Runs one step with a supervisor that has the machine and a folder to itself."""
    folder = tempfile.mkdtemp(prefix=f"hostler-bench-{name}-")
    peer = EVERY[name](folder)
    try:
        return step(peer), peer.version()
    except Exception:
        sys.stderr.write((peer.folder / "log").read_text(errors="replace")[-3000:])
        raise
    finally:
        end(peer)
        shutil.rmtree(folder, ignore_errors=True)


def with_ratio(key, form):
    def show(one, ours):
        value = form.format(one[key])
        is_comparable = one is not ours and ours and ours[key] > 0
        return f"{value} ({one[key] / ours[key]:.1f} ×)" if is_comparable else value
    return show


def plain(key, form="{}"):
    return lambda one, _: form.format(one[key])


ROWS = [
    ("start until all 200 run, s", with_ratio("start", "{:.2f}")),
    ("child killed until replaced, median of 20, ms", with_ratio("replaced", "{:.1f}")),
    ("(least and most)", lambda one, _: "{:.1f} to {:.1f}".format(*one["replaced_range"])),
    ("daemon, RSS MB", with_ratio("rss", "{:.1f}")),
    ("all its processes, PSS MB", with_ratio("pss", "{:.1f}")),
    ("how many processes", plain("processes")),
    (f"idle, % of a core over {IDLE_SECONDS} s", plain("cpu", "{:.2f}")),
    ("idle, context switches a second", plain("switches", "{:.1f}")),
    ("daemon killed: children alive 5 s later", plain("survive")),
    ("daemon started again: children that run", plain("after")),
    ("of them those from before", plain("kept")),
    ("of five of those, killed: replaced", plain("supervised")),
    ("service stopped: grandchildren left", plain("orphans")),
    ("a writer to stdout, daemon alive", plain("writer")),
    ("a writer to stdout, daemon killed", plain("writer_alone")),
]


def table(results):
    ours = results.get("hostler")
    lines = ["| 200 × `sleep` | " + " | ".join(results) + " |", "|---" * (len(results) + 1) + "|"]
    for title, show in ROWS:
        cells = (show(one, ours) for one in results.values())
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdicts(results):
    ours = results["hostler"]
    others = {name: one for name, one in results.items() if name != "hostler"}
    soonest, soonest_name = min((one["start"], name) for name, one in others.items())
    pss = others["supervisord"]["pss"]
    writers = (ours["writer"], ours["writer_alone"])
    checks = [
        ("all 200 run within 0.5 s", ours["start"] <= 0.5, f"{ours['start']:.2f} s"),
        ("and before any of the others", ours["start"] < soonest, f"{soonest_name}: {soonest:.2f} s"),
        ("a killed child is replaced within 5 ms at the median", ours["replaced"] <= 5,
         f"{ours['replaced']:.1f} ms"),
        ("200 of 200 old pids after kill -9 of the daemon, none new",
         ours["kept"] == CHILDREN == ours["after"], f"{ours['kept']} kept, {ours['after']} run"),
        ("and they are supervised", ours["supervised"] == "5 of 5", ours["supervised"]),
        ("less memory than supervisord, all processes", ours["pss"] < pss,
         f"{ours['pss']:.1f} against {pss:.1f} MB"),
        ("idle processor time about zero", ours["cpu"] <= 0.1, f"{ours['cpu']:.2f} %"),
        ("no orphaned grandchild after a stop", ours["orphans"] == 0, f"{ours['orphans']}"),
        ("a writer to stdout never blocks or dies", writers == ("goes on", "goes on"),
         " and ".join(writers)),
    ]
    return [f"- {'met' if ok else '**missed**'}: {what} ({seen})" for what, ok, seen in checks]


def describe():
    cpu = read("/proc/cpuinfo").decode(errors="replace").splitlines()
    model = next((line.split(":")[1].strip() for line in cpu if line.startswith("model name")), "")
    is_first = os.sched_getscheduler(0) == os.SCHED_FIFO
    return (
        f"- machine: {os.cpu_count()} cores, {model}, Linux {os.uname().release}\n"
        f"- load before: {os.getloadavg()[0]:.1f}"
        + (", preempted by what is measured (`SCHED_FIFO`)\n" if is_first else "\n")
    )


def main():
    names = sys.argv[1:] or list(EVERY)
    unknown = [name for name in names if name not in EVERY]
    if unknown:
        sys.exit(f"error: there is no peer {unknown[0]}; there are {', '.join(EVERY)}")
    machine = describe()
    results, versions = {}, {}
    for name in names:
        print(f"==> {name}", file=sys.stderr)
        results[name], versions[name] = in_turn(name, measure)
        results[name] |= in_turn(name, probe)[0]
        print(json.dumps(results[name]), file=sys.stderr)
    print(table(results))
    if sys.argv[1:]:
        return
    text = (
        "# Supervision, side by side\n\n"
        "Written by `bench/supervise`: every supervisor in turn, in one run, on one machine. In brackets\n"
        "how many times ours a figure is. PSS divides shared pages by the number of their users.\n\n"
        + machine
        + "".join(f"- {name}: {version}\n" for name, version in versions.items() if version)
        + "\n" + table(results) + "\n\n## Targets\n\n" + "\n".join(verdicts(results)) + "\n"
    )
    RESULTS.write_text(text)
    print(f"written to {RESULTS}", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
