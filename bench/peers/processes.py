"""What the kernel says of processes and of the machine, and how to leave nothing behind.

Nothing is asked of the supervisors themselves. Children are found by their command line and a mark in
their environment, and told from earlier ones by pid and start time.
"""

import datetime
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SLEEP = "100000"


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def say(text):
    print(text, file=sys.stderr, flush=True)


def until(condition, seconds, what, pace=0.01):
    """Asks until the answer is yes; gives the answer."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {seconds} s in vain until {what}")
        time.sleep(pace)
    return answer


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environment(pid):
    return read(f"/proc/{pid}/environ").split(b"\0")


def stat(pid):
    """The fields of `stat` after the name; none of a process that has ended."""
    fields = read(f"/proc/{pid}/stat").rsplit(b")", 1)[-1].split()
    return fields if len(fields) > 14 and fields[0] not in (b"Z", b"X") else []


def start_time(pid):
    fields = stat(pid)
    return int(fields[19]) if len(fields) > 19 else None


def parent(pid):
    fields = stat(pid)
    return int(fields[1]) if fields else 0


def name(pid):
    return read(f"/proc/{pid}/comm").decode(errors="replace").strip()


def children_named(above, wanted):
    return [pid for pid in pids() if parent(pid) == above and name(pid) == wanted]


def cpu_seconds(pid):
    """Of the process, and of those of its children that it has waited for."""
    return sum(int(field) for field in stat(pid)[11:15]) / os.sysconf("SC_CLK_TCK")


def memory(*some):
    """Resident memory of processes, the mean of them, in MB of a million bytes: with shared pages in
    full, with shared pages divided among their users, and the most it ever was."""

    def field(pid, file, key):
        for line in read(f"/proc/{pid}/{file}").decode(errors="replace").splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024 / 1e6
        raise RuntimeError(f"process {pid} has gone")

    return {
        "count": len(some),
        "rss": statistics.mean(field(pid, "status", "VmRSS") for pid in some),
        "pss": statistics.mean(field(pid, "smaps_rollup", "Pss") for pid in some),
        "peak": statistics.mean(field(pid, "status", "VmHWM") for pid in some),
    }


def processes_of(folder):
    """Processes that were started in or for a folder."""
    needle = str(folder).encode()

    def belongs(pid):
        if any(needle in read(f"/proc/{pid}/{file}") for file in ("cmdline", "environ")):
            return True
        try:
            return os.readlink(f"/proc/{pid}/cwd").startswith(str(folder))
        except OSError:
            return False

    return [pid for pid in pids() if pid != os.getpid() and stat(pid) and belongs(pid)]


# Temporary folders are removed when everything is measured: a file system that searches past inodes
# that were freed a moment ago, as ext4 does for minutes, would make the next pay for the last.
LEFT = []


class Place:
    """A temporary folder, and the processes that were started in it. Leaving it ends them all."""

    def __init__(self, what):
        self.what = what
        self.started = []

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(
            prefix=f"hostler-bench-{self.what}-", ignore_cleanup_errors=True
        )
        self.folder = pathlib.Path(self.temporary.name).resolve()
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "USER")}
        self.env = {**kept, "HOME": str(self.folder), "TMPDIR": str(self.folder)}
        return self

    def __exit__(self, kind, *_):
        if kind is not None and issubclass(kind, Exception):
            for log in sorted(self.folder.glob("*.log")):
                say(f"--- {log.name}\n" + log.read_text(errors="replace")[-1500:])
        self.sweep()
        LEFT.append(self.temporary)

    def sweep(self):
        for _ in range(100):
            left = processes_of(self.folder)
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for process in self.started:
                process.poll()
            if not left:
                return
            time.sleep(0.05)

    def spawn(self, log, *command, **more):
        file = open(self.folder / f"{log}.log", "ab")
        process = subprocess.Popen(
            command, env=self.env, cwd=self.folder, stdout=more.pop("stdout", file), stderr=file,
            stdin=more.pop("stdin", subprocess.DEVNULL), start_new_session=True, **more,
        )
        self.started.append(process)
        return process

    def ask(self, *command, **more):
        """Runs a command to its end; gives what it printed."""
        done = subprocess.run(
            command, env=self.env, cwd=self.folder, capture_output=True, text=True, **more
        )
        if done.returncode != 0:
            words = " ".join(map(str, command[:4]))
            raise RuntimeError(f"`{words} ..` failed ({done.returncode}): {done.stderr.strip()}")
        return done.stdout


def ticks():
    """Ticks of all processors: in all, and idle."""
    numbers = [int(word) for word in read("/proc/stat").split(b"\n", 1)[0].split()[1:]]
    return sum(numbers[:8]), sum(numbers[3:5])


def wait_until_quiet(patience):
    """Waits until nothing else uses the processors, or for so many seconds; says how busy it was."""
    deadline = time.monotonic() + patience
    quiet = 0
    while True:
        before = ticks()
        time.sleep(2)
        after = ticks()
        busy = 1 - (after[1] - before[1]) / max(after[0] - before[0], 1)
        quiet = quiet + 1 if busy <= 0.10 else 0
        if quiet == 2 or time.monotonic() > deadline:
            return busy
        if quiet == 0:
            say(f"the machine is {busy * 100:.0f} % busy; waiting")


def find(path, key):
    for line in read(path).decode(errors="replace").splitlines():
        if line.startswith(key):
            return line[len(key):].lstrip(" \t:").strip()
    return "unknown"


def file_system():
    """Of the temporary directory, where databases and ledgers are written."""
    place = pathlib.Path(tempfile.gettempdir()).resolve()
    mounts = [line.split()[1:3] for line in read("/proc/mounts").decode().splitlines()]
    holding = [(len(point), kind) for point, kind in mounts if place.is_relative_to(point)]
    return max(holding)[1] if holding else "unknown"


def describe_machine(busy):
    gigabytes = int(find("/proc/meminfo", "MemTotal").split()[0]) / 1024 / 1024
    lines = [
        ("date", datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")),
        ("commit", f"`{os.environ.get('HOSTLER_BENCH_COMMIT', 'unknown')}`"),
        ("profile", os.environ.get("HOSTLER_BENCH_PROFILE", "unknown")),
        ("processor", find("/proc/cpuinfo", "model name")),
        ("cores", str(len(os.sched_getaffinity(0)))),
        ("memory", f"{gigabytes:.1f} GiB"),
        ("kernel", os.uname().release),
        ("file system", file_system()),
        ("busy with other things, at most", f"{busy * 100:.0f} %"),
    ]
    return "| | |\n|---|---|\n" + "".join(f"| {what} | {value} |\n" for what, value in lines)


def is_sleeping_child(pid, mark, seconds=SLEEP):
    words = read(f"/proc/{pid}/cmdline").split(b"\0")
    return (
        len(words) > 1
        and os.path.basename(words[0]) == b"sleep"
        and words[1] == seconds.encode()
        and f"BENCH_MARK={mark}".encode() in environment(pid)
    )


def sleeping_children(mark, seconds=SLEEP):
    """The children that live, with their start times, by pid."""
    return {pid: start_time(pid) for pid in pids() if is_sleeping_child(pid, mark, seconds)}


class Census:
    """Counts the children that have come since it began, without taking much of the machine for it."""

    def __init__(self, mark):
        self.mark = mark
        self.others = set(pids())
        self.children = set()

    def count(self):
        for pid in pids():
            if pid not in self.others and pid not in self.children and is_sleeping_child(pid, self.mark):
                self.children.add(pid)
        return len(self.children)


def marked(mark):
    """Everything that was started by the supervisor and carries the mark of its services."""
    wanted = f"BENCH_MARK={mark}".encode()
    return [pid for pid in pids() if wanted in environment(pid) and parent(pid)]


def own_processes(mark):
    """The supervisor's processes: those with its own mark, their children, and the parents of what it
    supervises; all but the supervised themselves."""
    wanted = f"BENCH_PEER={mark}".encode()
    supervised = set(marked(mark))
    parents = {pid: parent(pid) for pid in pids()}
    own = {pid for pid in parents if wanted in environment(pid)}
    own |= {pid for pid, above in parents.items() if above in own}
    own |= {parents.get(pid, 0) for pid in supervised}
    return [pid for pid in own - supervised if pid > 1 and pid != os.getpid() and parents.get(pid)]


def kilobytes(pid, file, key):
    for line in read(f"/proc/{pid}/{file}").decode(errors="replace").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def cpu_ticks(pid):
    fields = stat(pid)
    return int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0


def switches(pid):
    """Of all its threads."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0
    files = [read(f"/proc/{pid}/task/{thread}/status") for thread in threads]
    lines = b"".join(files).decode(errors="replace").splitlines()
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)


def newest_pid():
    return int(read("/proc/loadavg").split()[-1])
