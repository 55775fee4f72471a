"""Ten thousand short tasks: through Hostler, through HyperQueue and through Slurm, and through nothing.

Each in turn, in one run, on one machine, as processes of their own that end with their measurement. A
miss is written as a miss; the exit code is 0 all the same, because the file of results is what a
person reviews. Tasks that did not all end well are an error and not a number.

Nothing is judged when the machine was busy with other things, before or after any of the measurements,
or when the floor at the end is not that of the beginning: what is measured divides the processors with
the rest by how many sessions and processes it has, so on a busy machine even ratios are wrong.
"""

import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys

import tasks_hostler
import tasks_hyperqueue
import tasks_slurm
from processes import describe_machine, say, wait_until_quiet

TASKS = 10_000
ROUNDS = 2
SINGLES = 50
FLOOR_ROUNDS = 3
QUIET_SECONDS = 60
BUSY_MAX = 0.10
FLOOR_DRIFT_MAX = 0.15
RESULTS = pathlib.Path("bench/results/tasks.md")


def measure_floor():
    """Programs a second when nobody records anything, by `bench/src/floor.rs`."""
    rates = []
    for _ in range(FLOOR_ROUNDS):
        done = subprocess.run(
            [os.environ["HOSTLER_BENCH_TOOL"], "floor"], capture_output=True, text=True, check=True
        )
        rates.append(float(re.search(r"fork and exec of `true`\s+(\d+) /s", done.stderr)[1]))
    return {"rates": rates}


MEASUREMENTS = {
    "floor": measure_floor,
    "hyperqueue": lambda: tasks_hyperqueue.measure(TASKS, ROUNDS, SINGLES),
    "slurm": lambda: tasks_slurm.measure(SINGLES),
    "hostler": lambda: tasks_hostler.measure(TASKS, ROUNDS, SINGLES),
}


def rates(some):
    return ", ".join(f"{rate:.0f}" for rate in some)


def latency(result, key):
    least, most = result[key + "_range"]
    return f"{result[key]:.1f} ms", f"{least:.1f} to {most:.1f}"


def floor_rows(result):
    every = result["rates"] + result.get("again", [])
    median = statistics.median(every)
    return [("fork, exec and wait of `true`, two threads, nothing kept: median", f"{median:.0f} /s", rates(every))]


def hyperqueue_rows(result):
    rows = [
        ("HyperQueue, no output kept: best", f"{max(result['bare']):.0f} /s", rates(result["bare"])),
        ("HyperQueue, output files: best", f"{max(result['kept']):.0f} /s", rates(result["kept"])),
        ("HyperQueue, processor time per task, with the task's own", f"{result['cpu']:.2f} ms", ""),
        ("HyperQueue, one task, no output kept: median", *latency(result, "bare_latency")),
        ("HyperQueue, one task, output files: median", *latency(result, "kept_latency")),
    ]
    return rows


def slurm_rows(result):
    count = result["array_count"]
    return [
        (f"Slurm, an array of batch jobs ({count} done)", f"{result['array']:.1f} /s", ""),
        (f"Slurm, {tasks_slurm.STEPS} steps in one allocation", f"{result['steps']:.1f} /s", ""),
        ("Slurm, one task, `srun`: median", *latency(result, "srun_latency")),
        (f"Slurm, one task, `sbatch` to COMPLETED: median of {tasks_slurm.SUBMISSIONS}", *latency(result, "sbatch_latency")),
    ]


def hostler_rows(result):
    rows = []
    for way, words in (("batches", f"batches of {tasks_hostler.BATCH}"), ("array", "one array")):
        if way in result:
            median = statistics.median(result[way])
            rows.append((f"Hostler, {words}: median", f"{median:.0f} /s", rates(result[way])))
    for part, each in result["cpu"].items():
        rows.append((f"Hostler, processor time per task: {part}", f"{each:.2f} ms", ""))
    rows.append(("Hostler, one task: median", *latency(result, "latency")))
    rows.append(("Hostler, tasks and runs checked; audit chain intact", str(result["checked"]), ""))
    return rows


ROWS = {
    "floor": floor_rows,
    "hyperqueue": hyperqueue_rows,
    "slurm": slurm_rows,
    "hostler": hostler_rows,
}


def table(results):
    lines = ["| what | measured | each, or least and most |", "|---|---:|---|"]
    for name, result in results.items():
        lines += [f"| {' | '.join(row)} |" for row in ROWS[name](result)]
    return "\n".join(lines)


def memory_table(results):
    lines = ["| process | RSS | PSS | the most RSS |", "|---|---:|---:|---:|"]
    for name, result in results.items():
        for part, weight in result.get("memory", {}).items():
            figures = " | ".join(f"{weight[key]:.1f} MB" for key in ("rss", "pss", "peak"))
            lines.append(f"| {name}: {part} | {figures} |")
    return "\n".join(lines)


def disturbances(results, busy):
    """Why the figures of this run cannot be compared with each other; empty when they can."""
    when, share = max(busy.items(), key=lambda one: one[1])
    found = []
    if share > BUSY_MAX:
        found.append(f"the machine was up to {share * 100:.0f} % busy with other things ({when})")
    first, last = (statistics.median(results["floor"][key]) for key in ("rates", "again"))
    if abs(last / first - 1) > FLOOR_DRIFT_MAX:
        found.append(f"the floor was {first:.0f} /s at the beginning and {last:.0f} /s at the end")
    return found


def verdicts(results, busy):
    ours = results["hostler"]
    rate = max(statistics.median(ours[way]) for way in ("batches", "array") if way in ours)
    theirs, slurm = results["hyperqueue"], results["slurm"]
    best = max(theirs["bare"] + theirs["kept"])
    floor = statistics.median(results["floor"]["rates"] + results["floor"]["again"])
    wait = min(theirs["bare_latency"], theirs["kept_latency"])
    slow = max(slurm["array"], slurm["steps"])
    checks = [
        ("at least 1.3 times HyperQueue's best figure", rate / best, rate / best >= 1.3, f"{rate:.0f} against {best:.0f} /s"),
        ("at least half of the floor", rate / floor, rate / floor >= 0.5, f"{rate:.0f} against {floor:.0f} /s"),
        ("one task: at most a quarter of HyperQueue's latency", ours["latency"] / wait, ours["latency"] / wait <= 0.25, f"{ours['latency']:.1f} against {wait:.1f} ms"),
        ("at least 20 times Slurm's throughput, the faster way", rate / slow, rate / slow >= 20, f"{rate:.0f} against {slow:.1f} /s"),
    ]
    disturbed = disturbances(results, busy)

    def verdict(ok):
        return "not judged" if disturbed else "met" if ok else "**missed**"

    lines = [
        f"| {what} | {ratio:.2f} | {seen} | {verdict(ok)} |" for what, ratio, ok, seen in checks
    ]
    missed = sum(not ok for _, _, ok, _ in checks)
    head = "Every target was met." if not missed else f"**{missed} of {len(checks)} targets were missed.**"
    if disturbed:
        head = f"**Nothing is judged, and no ratio here means anything: {'; '.join(disturbed)}.**"
    return head, "\n".join(["| target | ratio | figures | |", "|---|---:|---|---|", *lines])


def document(results, busy):
    head, judged = verdicts(results, busy)
    versions = [f"{name} {results[name]['version']}" for name in ("hyperqueue", "slurm")]
    return f"""\
# Tasks: measured beside HyperQueue and Slurm

Written by `bench/tasks`: each in turn, in one run, on one machine. {head} Where the time goes: [tasks-profile.md](tasks-profile.md).

{describe_machine(max(busy.values()))}
Others: {", ".join(versions)}.

## Targets

{judged}

## Figures

{TASKS} tasks `true`, {ROUNDS} rounds each on one installation, from the first request until the last task is known to have ended; one task at a time {SINGLES} times. Clients are programs of their own in Python.

- Hostler captures output, and every submission and every result is durable (SQLite, and the agent's ledger). Of its ways to submit, the better median counts.
- HyperQueue is the server and the worker of its Python package, which write nothing down. Of its figures the best counts, and the client looks every few milliseconds where the package's own looks once a second.
- Slurm has a node and a controller on this machine, without cgroups, accounting and delays in its scheduler. It is given {tasks_slurm.ARRAY_SECONDS} s for an array of {tasks_slurm.ARRAY}; what it finished counts.

{table(results)}

## Memory

After those tasks; for what there is one of per running task, while tasks sleep. RSS counts shared pages in full, PSS divides them among their users. HyperQueue has no process per task but the task, and its process has the Python interpreter in it: {results["hyperqueue"]["idle"]["rss"]:.1f} MB RSS before the first task.

{memory_table(results)}
"""


def main():
    names = sys.argv[1:] or list(MEASUREMENTS)
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        sys.exit(f"error: there is no measurement {unknown[0]}; there are {', '.join(MEASUREMENTS)}")
    patience = 0 if sys.argv[1:] else QUIET_SECONDS
    results, busy = {}, {}
    for name in names:
        busy[f"before {name}"] = wait_until_quiet(patience)
        say(f"==> {name}")
        results[name] = MEASUREMENTS[name]()
        say(json.dumps(results[name]))
        busy[f"after {name}"] = wait_until_quiet(0)
    print(table(results), memory_table(results), sep="\n\n")
    if sys.argv[1:]:
        return
    results["floor"]["again"] = measure_floor()["rates"]
    RESULTS.write_text(document(results, busy))
    print(*verdicts(results, busy), sep="\n\n")
    say(f"written to {RESULTS}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
