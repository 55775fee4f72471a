"""Short tasks through HyperQueue.

`LocalCluster` of its Python package runs the real server and a real worker as threads of one process,
on loopback, with nothing written down (it has no way to ask for a journal). Here that process is one
of its own, and the client another, so that what is weighed is server and worker.

The client's own wait looks once a second. This one looks every few milliseconds, through the same
call: the progress callback leaves it by an exception while the job is unfinished.
"""

import json
import os
import pathlib
import signal
import statistics
import sys
import time

PACE_MANY = 0.01
PACE_ONE = 0.001


def run_cluster(folder):
    """The process with server and worker; lives until it is told to end."""
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    cores = len(os.sched_getaffinity(0))
    cluster = LocalCluster(server_dir=str(folder / "hq"), worker_config=WorkerConfig(cores=cores))
    (folder / "ready").write_text(cluster.cluster.server_dir)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    cluster.stop()


class Unfinished(Exception):
    pass


def run_client(folder, tasks, rounds, singles):
    from hyperqueue import Client, Job

    client = Client((folder / "ready").read_text())

    def look(status):
        (only,) = status.values()
        if not only["completed"]:
            raise Unfinished
        if only["failed"] or only["finished"] != only["total"]:
            raise RuntimeError(f"not every task finished: {only}")

    def is_finished(job):
        try:
            client.connection.wait_for_jobs((job.id,), look)
            return True
        except Unfinished:
            return False

    def seconds(count, keeps_output, pace):
        place = folder / f"work-{time.monotonic_ns()}"
        place.mkdir()
        job = Job(default_workdir=place)
        for _ in range(count):
            job.program(["true"], **({} if keeps_output else {"stdout": None, "stderr": None}))
        begun = time.monotonic()
        submitted = client.submit(job)
        while not is_finished(submitted):
            time.sleep(pace)
        took = time.monotonic() - begun
        if keeps_output:
            files = sum(1 for path in place.rglob("*") if path.is_file())
            if files != 2 * count:
                raise RuntimeError(f"{files} files of output for {count} tasks")
        return took

    for keeps_output in (False, True):
        seconds(100, keeps_output, PACE_MANY)
    result = {}
    for key, keeps_output in (("bare", False), ("kept", True)):
        result[key] = [tasks / seconds(tasks, keeps_output, PACE_MANY) for _ in range(rounds)]
        waits = [seconds(1, keeps_output, PACE_ONE) * 1000 for _ in range(singles + 5)][5:]
        result[f"{key}_latency"] = statistics.median(waits)
        result[f"{key}_latency_range"] = (min(waits), max(waits))
    print(json.dumps(result))


def measure(tasks, rounds, singles):
    from processes import Place, cpu_seconds, memory, until

    python = str(pathlib.Path(os.environ["HOSTLER_BENCH_PEERS"]) / "python/bin/python")
    with Place("hyperqueue") as place:
        cluster = place.spawn("cluster", python, __file__, "cluster", str(place.folder))
        until(lambda: (place.folder / "ready").exists(), 30, "HyperQueue runs")
        idle = memory(cluster.pid)
        before = cpu_seconds(cluster.pid)
        numbers = [str(number) for number in (tasks, rounds, singles)]
        answer = place.ask(python, __file__, "client", str(place.folder), *numbers, timeout=600)
        result = json.loads(answer)
        result["idle"] = idle
        result["memory"] = {"server and worker, one process": memory(cluster.pid)}
        result["cpu"] = (cpu_seconds(cluster.pid) - before) * 1000 / (2 * tasks * rounds)
        version = place.ask(python, "-c", "import importlib.metadata as m; print(m.version('hyperqueue'))")
        result["version"] = version.strip()
        cluster.send_signal(signal.SIGTERM)
        cluster.wait(20)
    return result


if __name__ == "__main__":
    role, folder, *numbers = sys.argv[1:]
    if role == "cluster":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        run_cluster(pathlib.Path(folder))
    else:
        run_client(pathlib.Path(folder), *map(int, numbers))
