"""Workflows without a server: through Hostler, make, just, Task and Ansible.

Five tasks and a thousand, each tool in turn, round after round, each time a process from its start to
its end; medians are compared. Before anything is measured each tool carries out the same graph with
commands that leave a file, so that no figure is of tasks that were not done. Then Hostler alone: how
many files it reads and checks a second.

A miss is written as a miss; the exit code is 0 all the same, unless `--judge` is said.
"""

import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

from processes import Place, describe_machine, say, wait_until_quiet
from workflows_tools import AT_ONCE, EVERY

FIVE_ROUNDS = 20
THOUSAND_ROUNDS = 7
FILES = 1_000
FILES_ROUNDS = 5
LAYERS, WIDE = 10, 100
QUIET_SECONDS = 60
BUSY_MAX = 0.10
RESULTS = pathlib.Path("bench/results/workflows.md")
DEADLINE = 300

REALISTIC = """\
local version = values.version or "1.0.0"

local checkout = task("checkout")
    :description("Gets the source")
    :command("git clone --depth 1 https://git.example/app.git src")
    :timeout("5m")
    :retries(3, "exponential")
    :build()

local build = task("build")
    :depends_on(checkout)
    :workdir("src")
    :env({ VERSION = version, CGO_ENABLED = "0" })
    :command("make -j2 app")
    :artifacts({ "app" })
    :timeout("20m")
    :build()

local test = task("test")
    :depends_on(build)
    :command(function(this, params, deps)
        local r = exec.run("./app --self-test")
        if not r.success then return false, r.stderr end
        local count = tonumber(strings.trim(r.stdout)) or 0
        return true, "all well", { tests = count }
    end)
    :on_failure(function(this, params, problem) log.error("tests failed: " .. tostring(problem.message)) end)
    :build()

local lint = task("lint"):depends_on(checkout):command("make lint"):continue_on_error(true):build()

local config = task("config")
    :command(function()
        local text = json.encode({ version = version, replicas = values.replicas or 2 })
        return fs.write("config.json", text), "written"
    end)
    :build()

local package = task("package")
    :depends_on({ build, config })
    :consumes({ "app" })
    :command("tar czf app-" .. version .. ".tar.gz app config.json")
    :artifacts({ "app-" .. version .. ".tar.gz" })
    :build()

local publish = task("publish")
    :depends_on({ package, test })
    :run_if("test -n \\"$RELEASE\\"")
    :command({ "curl", "-fsS", "-T", "app.tar.gz", "https://files.example/" })
    :retries(2, "fixed", "3s")
    :build()

local tell = task("tell")
    :depends_on(publish)
    :command(function(this, params, deps)
        log.info("published " .. version)
        return true
    end)
    :build()

workflow.define("release %d")
    :description("Builds, tests, packs and publishes")
    :version(version)
    :tasks({ checkout, build, test, lint, config, package, publish, tell })
    :config({ timeout = "1h", max_parallel_tasks = 4 })
    :on_complete(function(success, results) log.info(success and "done" or "not done") end)
"""


def five(command):
    return [
        (name, command(name), needs)
        for name, needs in (("a", []), ("b", ["a"]), ("c", ["a"]), ("d", ["b", "c"]), ("e", ["d"]))
    ]


def thousand(command):
    """Layers of tasks, each of which waits for the one with its number in the layer before."""
    return [
        (f"t{layer}_{i}", command(f"t{layer}_{i}"), [f"t{layer - 1}_{i}"] if layer else [])
        for layer in range(LAYERS)
        for i in range(WIDE)
    ]


def timed(words, **how):
    """Runs it once; gives seconds. Not `subprocess.run(timeout=...)`: that looks every now and then whether it is over."""
    begun = time.monotonic()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, **how)
    signal.alarm(DEADLINE)
    try:
        code = process.wait()
        taken = time.monotonic() - begun
    finally:
        process.kill()
        signal.alarm(0)
    if code != 0:
        raise RuntimeError(f"{words[0]} ended with {code}")
    return taken


def carry_out(tool, folder, env, output=subprocess.DEVNULL):
    return timed(tool.words(), cwd=folder, env=env, stdout=output, stderr=output)


def prove(place, name, graph):
    """Each task of the graph is done, and not before those it waits for."""
    tool = EVERY[name]
    folder = place.folder / "proof" / name
    folder.mkdir(parents=True)
    tool.write(folder, graph(lambda task: f"/usr/bin/touch {task}.done"))
    with open(place.folder / f"{name}.log", "wb") as log:
        carry_out(tool, folder, place.env, log)
    times = {path.stem: path.stat().st_mtime_ns for path in folder.glob("*.done")}
    for task, _, needs in graph(str):
        if task not in times:
            raise RuntimeError(f"{name} did not do {task}")
        if any(times[before] > times[task] for before in needs):
            raise RuntimeError(f"{name} did {task} too early")


def race(graph, names, rounds):
    """Seconds of each tool in each round; who begins changes."""
    times = {name: [] for name in names}
    with Place("workflows") as place:
        for name in names:
            prove(place, name, graph)
            folder = place.folder / name
            folder.mkdir()
            EVERY[name].write(folder, graph(lambda _: "/bin/true"))
            carry_out(EVERY[name], folder, place.env)
        for turn in range(rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                times[name].append(carry_out(EVERY[name], place.folder / name, place.env))
    return times


def measure_five():
    return race(five, list(EVERY), FIVE_ROUNDS)


def measure_thousand():
    return race(thousand, [name for name in EVERY if name != "ansible"], THOUSAND_ROUNDS)


def measure_files():
    """Files a second, with the start of the process."""
    binary = os.environ["HOSTLER_BENCH_BINARY"]
    with Place("workflows") as place:
        names = [f"release-{i}.sloth" for i in range(FILES)]
        for i, name in enumerate(names):
            (place.folder / name).write_text(REALISTIC % i)
        rates = []
        for _ in range(FILES_ROUNDS):
            begun = time.monotonic()
            told = place.ask(binary, "workflow", "validate", "--strict", "-o", "json", *names, timeout=DEADLINE)
            rates.append(FILES / (time.monotonic() - begun))
            if told.count('"isValid": true') + told.count('"isValid":true') != FILES:
                raise RuntimeError("not every file was found valid")
    return {"hostler": rates}


CASES = {"five": measure_five, "thousand": measure_thousand, "files": measure_files}


def versions():
    with Place("workflows") as place:
        return {name: tool.version(place.folder, place.env) for name, tool in EVERY.items()}


def rows(case, times):
    ours = statistics.median(times["hostler"])
    for name, some in times.items():
        if case == "files":
            yield f"| files of 8 tasks a second | {name} | {ours:.0f} /s | | {min(some):.0f} to {max(some):.0f} |"
            continue
        what = "5 tasks" if case == "five" else f"{LAYERS * WIDE} tasks"
        median = statistics.median(some)
        spread = f"{min(some) * 1000:.1f} to {max(some) * 1000:.1f}"
        yield f"| {what} | {name} | {median * 1000:.1f} ms | {median / ours:.2f} | {spread} |"


def table(results):
    lines = ["| what | who | median | of Hostler's | least and most |", "|---|---|---:|---:|---|"]
    for case, times in results.items():
        lines += rows(case, times)
    return "\n".join(lines)


def checks(results):
    """Targets: what, ratio, whether it is met, figures."""
    medians = {
        case: {name: statistics.median(some) for name, some in times.items()}
        for case, times in results.items()
    }

    def against(case, name, most, what):
        ours, theirs = medians[case]["hostler"], medians[case][name]
        return what, ours / theirs, ours / theirs <= most, f"{ours * 1000:.1f} against {theirs * 1000:.1f} ms"

    if "five" in medians:
        yield against("five", "make", 1.5, "5 tasks: at most 1.5 times make's time")
        for name in ("just", "task", "ansible"):
            yield against("five", name, 1, f"5 tasks: ahead of {name}")
    if "thousand" in medians:
        for name in ("make", "just", "task"):
            yield against("thousand", name, 1, f"1000 tasks: ahead of {name}")
    if "files" in medians:
        rate = medians["files"]["hostler"]
        yield "at least 500 files read and checked a second", rate / 500, rate >= 500, f"{rate:.0f} /s"


def document(results, known, busy):
    found = list(checks(results))
    missed = sum(not ok for _, _, ok, _ in found)
    head = "Every target was met." if not missed else f"**{missed} of {len(found)} targets were missed.**"
    if busy > BUSY_MAX:
        head += (
            f" **The machine was up to {busy * 100:.0f} % busy with other things: medians of runs in turns"
            " bear some of that, but measure again before believing a ratio near its target.**"
        )
    judged = "\n".join(
        f"| {what} | {ratio:.2f} | {seen} | {'met' if ok else '**missed**'} |" for what, ratio, ok, seen in found
    )
    others = ", ".join(f"{name} {version}" for name, version in known.items() if name != "hostler")
    ansible = statistics.median(results["five"]["ansible"]) / 5
    return f"""\
# Workflows: measured beside make, just, Task and Ansible

Written by `bench/workflows`: each in turn, in one run, on one machine. {head} Where the time goes: [workflows-profile.md](workflows-profile.md).

{describe_machine(busy)}
Others: {others}.

## Targets

| target | ratio | figures | |
|---|---:|---|---|
{judged}

## Figures

Whole processes, from their start to their end, with their output thrown away. Five tasks are a diamond and one after it, {FIVE_ROUNDS} rounds; a thousand are {LAYERS} layers of {WIDE}, each waiting for the one with its number in the layer before, {THOUSAND_ROUNDS} rounds. Every task is the program `/bin/true`, {AT_ONCE} at once.

- Hostler keeps what every task prints, and writes a journal of what began and what ended, from which an execution goes on when its process dies. None of the others does.
- make starts simple commands without a shell, as Hostler does; just starts a shell for each. Task has a shell in itself.
- just has no bound on how many run at once (`[parallel]`), so that up to {WIDE} do.
- Ansible has no graph and does one task after another, {ansible:.1f} s each: a thousand are left out.
- Files are read and checked by one process (`hostler workflow validate`), {FILES} at once, {FILES_ROUNDS} times; each has 8 tasks, half of them with functions.

{table(results)}
"""


def main():
    words = [word for word in sys.argv[1:] if word != "--judge"]
    names = words or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"error: there is no measurement {unknown[0]}; there are {', '.join(CASES)}")
    results, busy = {}, []
    for name in names:
        busy.append(wait_until_quiet(0 if words else QUIET_SECONDS))
        say(f"==> {name}")
        results[name] = CASES[name]()
    print(table(results), end="\n\n")
    found = list(checks(results))
    for what, ratio, ok, seen in found:
        print(f"{'PASS' if ok else 'MISSED'}  {what}: {ratio:.2f} ({seen})")
    if not words:
        RESULTS.write_text(document(results, versions(), max(busy)))
        say(f"written to {RESULTS}")
    if "--judge" in sys.argv and not all(ok for _, _, ok, _ in found):
        sys.exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"something took longer than {DEADLINE} s"))
    main()
