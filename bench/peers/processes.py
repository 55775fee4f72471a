"""What /proc says: the processes of a supervisor, and those it supervises.

Nothing is asked of the supervisors themselves. Children are found by their command line and a mark in
their environment, and told from earlier ones by pid and start time.
"""

import os
import time

SLEEP = "100000"


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environment(pid):
    return read(f"/proc/{pid}/environ").split(b"\0")


def is_sleeping_child(pid, mark, seconds=SLEEP):
    words = read(f"/proc/{pid}/cmdline").split(b"\0")
    return (
        len(words) > 1
        and os.path.basename(words[0]) == b"sleep"
        and words[1] == seconds.encode()
        and f"BENCH_MARK={mark}".encode() in environment(pid)
    )


def stat(pid):
    """The fields after the name: state, parent, and so on."""
    return read(f"/proc/{pid}/stat").rsplit(b")", 1)[-1].split()


def start_time(pid):
    fields = stat(pid)
    return int(fields[19]) if len(fields) > 19 else None


def parent(pid):
    fields = stat(pid)
    return int(fields[1]) if len(fields) > 1 and fields[0] != b"Z" else 0


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


def until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not come true within {seconds} s")
        time.sleep(0.01)
