"""Short tasks through Slurm.

Controller, node daemon and munge run from a folder of their own on loopback, as root, without cgroups
and without accounting, with a scheduler that is told to wait for nothing. Two ways are measured: an
array of batch jobs, which is what Slurm keeps through a crash as Hostler keeps every task, and steps
inside one allocation, which cost Slurm the least. Slurm is given so many seconds for each, and what
it finished in that time counts.
"""

import os
import re
import socket
import statistics
import time

from processes import Place, memory, name, parent, pids, until

ARRAY = 500
ARRAY_SECONDS = 40
STEPS = 400
SUBMISSIONS = 20
LIVES = ("PENDING", "RUNNING")


def free_ports(count):
    bound = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in bound]
    for one in bound:
        one.close()
    return ports


def configuration(folder):
    controller, node = free_ports(2)
    host = socket.gethostname().split(".")[0]
    return f"""\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
MaxJobCount=20000
MaxArraySize=10001
MinJobAge=300
ReturnToService=2
NodeName=bench NodeHostname={host} NodeAddr=127.0.0.1 CPUs={len(os.sched_getaffinity(0))} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """The three daemons."""

    def __init__(self, place):
        self.place, folder = place, place.folder
        folder.chmod(0o755)
        for kept in ("state", "spool"):
            (folder / kept).mkdir()
        (folder / "plugstack.conf").touch()
        (folder / "cgroup.conf").touch()
        (folder / "slurm.conf").write_text(configuration(folder))
        place.env["SLURM_CONF"] = str(folder / "slurm.conf")
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        self.munged = place.spawn(
            "munged", "munged", "--foreground", f"--key-file={key}",
            f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
            f"--log-file={folder}/munged-own.log", f"--seed-file={folder}/munged.seed",
        )
        until((folder / "munge.socket").exists, 10, "munge answers")
        self.controller = place.spawn("slurmctld", "slurmctld", "-D", "-i")
        self.node = place.spawn("slurmd", "slurmd", "-D", "-N", "bench")
        until(self.is_idle, 30, "Slurm's node is idle", pace=0.1)

    def is_idle(self):
        try:
            return "idle" in self.place.ask("sinfo", "--noheader", "--format=%T")
        except RuntimeError:
            return False

    def end(self):
        for process in (self.node, self.controller, self.munged):
            process.terminate()
            process.wait(20)

    def submit(self, *words):
        return self.place.ask(
            "sbatch", "--parsable", "--output=/dev/null", *words, "--wrap", "true"
        ).strip()

    def left(self, job):
        lines = self.place.ask(
            "squeue", "--noheader", "--array", f"--jobs={job}", "--format=%T",
            f"--states={','.join(LIVES)}",
        )
        return len(lines.split())

    def array(self):
        """Batch jobs a second, and of how many."""
        begun = time.monotonic()
        job = self.submit(f"--array=1-{ARRAY}")
        left = ARRAY
        while left and time.monotonic() - begun < ARRAY_SECONDS:
            time.sleep(0.2)
            left = self.left(job)
        took = time.monotonic() - begun
        if left:
            self.place.ask("scancel", job)
        else:
            ends = re.findall(r"JobState=(\S+).*?ExitCode=(\S+)", self.show(job))
            good = sum(end in (("COMPLETED", "0:0"), ("COMPLETING", "0:0")) for end in ends)
            if good != ARRAY:
                raise RuntimeError(f"{good} of {ARRAY} jobs completed")
        until(self.is_idle, 60, "the node is idle again", pace=0.1)
        return (ARRAY - left) / took, ARRAY - left

    def show(self, job):
        return self.place.ask("scontrol", "show", "job", "--oneliner", job)

    def steps(self):
        """Steps a second inside one allocation, as many at a time as there are processors."""
        cores = len(os.sched_getaffinity(0))
        loop = f"seq {STEPS} | xargs -P {cores} -I % srun --ntasks=1 --exact true"
        begun = time.monotonic()
        self.place.ask("salloc", "--quiet", f"--ntasks={cores}", "sh", "-c", loop, timeout=120)
        took = time.monotonic() - begun
        until(self.is_idle, 60, "the node is idle again", pace=0.1)
        return STEPS / took

    def interactive(self):
        begun = time.monotonic()
        self.place.ask("srun", "--ntasks=1", "true")
        return (time.monotonic() - begun) * 1000

    def batch(self):
        begun = time.monotonic()
        job = self.submit()
        until(lambda: "JobState=COMPLETED" in self.show(job), 60, "a job completed", pace=0.002)
        return (time.monotonic() - begun) * 1000

    def step_daemons(self):
        """Weighed while as many jobs sleep as there are processors."""
        cores = len(os.sched_getaffinity(0))
        for _ in range(cores):
            self.place.ask("sbatch", "--output=/dev/null", "--wrap", "exec sleep 600")

        def daemons():
            above = {parent(pid) for pid in pids() if name(pid) == "sleep"}
            found = [pid for pid in above if name(pid).startswith("slurmstepd")]
            return found if len(found) >= cores else None

        weight = memory(*until(daemons, 60, "jobs sleep", pace=0.1))
        self.place.ask("scancel", "--signal=KILL", "--full", "--state=RUNNING")
        return weight


def measure(singles):
    with Place("slurm") as place:
        slurm = Slurm(place)
        result = {"version": place.ask("slurmctld", "-V").split()[-1]}
        for _ in range(3):
            slurm.interactive()
        waits = [slurm.interactive() for _ in range(singles)]
        result["srun_latency"] = statistics.median(waits)
        result["srun_latency_range"] = (min(waits), max(waits))
        result["steps"] = slurm.steps()
        result["array"], result["array_count"] = slurm.array()
        waits = [slurm.batch() for _ in range(SUBMISSIONS)]
        result["sbatch_latency"] = statistics.median(waits)
        result["sbatch_latency_range"] = (min(waits), max(waits))
        result["memory"] = {
            "slurmctld": memory(slurm.controller.pid),
            "slurmd": memory(slurm.node.pid),
            "munged": memory(slurm.munged.pid),
            "slurmstepd, each": slurm.step_daemons(),
        }
        slurm.end()
    return result
