"""The supervisors that are measured: how each is configured, started, found and told to stop one of
its services."""

import json
import os
import pathlib
import shlex
import socket
import subprocess

from processes import read

PEERS = pathlib.Path(os.environ["HOSTLER_BENCH_PEERS"])
HOSTLER = os.environ["HOSTLER_BENCH_BINARY"]


class Peer:
    """A supervisor. Services are commands by name; whatever ends is to be started again at once."""

    name = ""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.mark = f"{self.name}-{os.getpid()}-{self.folder.name[-8:]}"
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("HOSTLER_")},
            "BENCH_PEER": self.mark,
            "HOME": str(self.folder),
        }
        self.log = open(self.folder / "log", "ab")
        self.process = None

    def spawn(self, *command):
        return subprocess.Popen(
            command, env=self.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            cwd=self.folder, start_new_session=True,
        )

    def tell(self, *command):
        """Runs a command of the supervisor's own, and waits for it."""
        self.spawn(*command).wait(timeout=60)

    def configure(self, services):
        raise NotImplementedError

    def start(self):
        raise NotImplementedError

    def stop(self, service):
        """Stops one service the usual way."""
        raise NotImplementedError

    def daemon(self):
        """Pid of the process that supervises."""
        return self.process.pid

    def version(self):
        return ""


class Hostler(Peer):
    name = "hostler"

    def configure(self, services):
        (self.folder / "workloads").mkdir()
        each = "".join(
            f"  - name: {name}\n    command: {json.dumps(command)}\n    mode: forever\n"
            f"    restart: {{delay: 0s}}\n    env: {{BENCH_MARK: {self.mark}}}\n"
            for name, command in services.items()
        )
        (self.folder / "workloads/all.yaml").write_text("workloads:\n" + each)

    def start(self):
        self.process = self.spawn(
            HOSTLER, "agent", "up", "--standalone", str(self.folder / "workloads"),
            "--data-dir", str(self.folder / "data"),
        )

    def stop(self, service):
        self.tell(HOSTLER, "agent", "stop", service, "--data-dir", str(self.folder / "data"))

    def version(self):
        return f"{os.environ['HOSTLER_BENCH_COMMIT']}, {os.environ['HOSTLER_BENCH_PROFILE']} build"


class Supervisord(Peer):
    name = "supervisord"
    folder_of_programs = PEERS / "python/bin"

    def configure(self, services):
        each = "".join(
            f"[program:{name}]\ncommand={shlex.join(command).replace('%', '%%')}\nautorestart=true\n"
            f"startsecs=0\nenvironment=BENCH_MARK=\"{self.mark}\"\n"
            for name, command in services.items()
        )
        self.file = self.folder / "supervisord.conf"
        self.file.write_text(
            f"[unix_http_server]\nfile={self.folder}/socket\n"
            "[rpcinterface:supervisor]\n"
            "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
            f"[supervisorctl]\nserverurl=unix://{self.folder}/socket\n"
            f"[supervisord]\nnodaemon=true\nminfds=4096\npidfile={self.folder}/pid\n"
            f"logfile={self.folder}/supervisord.log\nchildlogdir={self.folder}\n" + each
        )

    def start(self):
        self.process = self.spawn(str(self.folder_of_programs / "supervisord"), "-c", str(self.file))

    def stop(self, service):
        self.tell(str(self.folder_of_programs / "supervisorctl"), "-c", str(self.file), "stop", service)

    def version(self):
        command = [self.folder_of_programs / "supervisord", "--version"]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode().strip()


class Circus(Peer):
    name = "circus"

    def configure(self, services):
        ports = [free_port() for _ in range(2)]
        self.endpoint = f"tcp://127.0.0.1:{ports[0]}"
        # Unlike the others it keeps no output unless it is told to.
        stream = lambda name: (
            f"stdout_stream.class = FileStream\nstdout_stream.filename = {self.folder}/{name}.out\n"
            if name == "writer" else ""
        )
        each = "".join(
            f"[watcher:{name}]\ncmd = {shlex.join(command)}\ncopy_env = True\n{stream(name)}\n"
            f"[env:{name}]\nBENCH_MARK = {self.mark}\n\n"
            for name, command in services.items()
        )
        (self.folder / "circus.ini").write_text(
            f"[circus]\nendpoint = {self.endpoint}\npubsub_endpoint = tcp://127.0.0.1:{ports[1]}\n\n"
            + each
        )

    def start(self):
        self.process = self.spawn(
            str(PEERS / "python/bin/circusd"), str(self.folder / "circus.ini")
        )

    def stop(self, service):
        circusctl = str(PEERS / "python/bin/circusctl")
        self.tell(circusctl, "--endpoint", self.endpoint, "stop", service)

    def version(self):
        return "0.19.0"


class Pm2(Peer):
    name = "pm2"

    def configure(self, services):
        self.env["PM2_HOME"] = str(self.folder / "pm2")
        apps = [
            {
                "name": name, "script": command[0], "args": command[1:], "interpreter": "none",
                "env": {"BENCH_MARK": self.mark}, "max_restarts": 100000,
            }
            for name, command in services.items()
        ]
        (self.folder / "apps.config.json").write_text(json.dumps({"apps": apps}))

    def pm2(self, *words):
        return self.spawn(str(PEERS / "node_modules/.bin/pm2"), *words)

    def start(self):
        self.process = self.pm2("start", str(self.folder / "apps.config.json"))

    def stop(self, service):
        self.pm2("stop", service).wait(timeout=60)

    def daemon(self):
        return int(read(self.folder / "pm2/pm2.pid"))

    def version(self):
        return json.loads(read(PEERS / "node_modules/pm2/package.json"))["version"]


class Runit(Peer):
    name = "runit"

    def configure(self, services):
        for name, command in services.items():
            service = self.folder / "services" / name
            service.mkdir(parents=True)
            run = service / "run"
            run.write_text(
                f"#!/bin/sh\nexport BENCH_MARK={self.mark}\nexec {shlex.join(command)}\n"
            )
            run.chmod(0o755)

    def start(self):
        self.process = self.spawn("runsvdir", str(self.folder / "services"))

    def stop(self, service):
        self.tell("sv", "-w", "20", "stop", str(self.folder / "services" / service))

    def version(self):
        command = ["dpkg-query", "-W", "-f", "${Version}", "runit"]
        return subprocess.run(command, capture_output=True).stdout.decode().strip()


EVERY = {peer.name: peer for peer in (Hostler, Supervisord, Pm2, Circus, Runit)}


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
