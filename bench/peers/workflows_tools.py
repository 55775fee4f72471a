"""The same graph of tasks, as each tool wants it written, and how each is told to carry it out.

A graph is a list of tasks in an order that works; a task is its name, its command, and the names of
those that have to be done before it. Commands are paths of programs: shells and Task have a `true` in
themselves, and would start nothing.
"""

import json
import os
import pathlib
import subprocess

AT_ONCE = 4


class Tool:
    """How a tool is called; its files lie in the folder where it is."""

    def version(self, folder, env):
        done = subprocess.run(
            [self.words()[0], "--version"], cwd=folder, env=env, capture_output=True, text=True, check=True
        )
        numbers = [word.strip("v[]()") for word in done.stdout.split() if any(map(str.isdigit, word))]
        return numbers[0]


def peer(name):
    return str(pathlib.Path(os.environ["HOSTLER_BENCH_PEERS"]) / "bin" / name)


def last_of(graph):
    """Those that nobody waits for."""
    awaited = {before for _, _, needs in graph for before in needs}
    return [name for name, _, _ in graph if name not in awaited]


class Hostler(Tool):
    def write(self, folder, graph):
        lines = ["local tasks = {"]
        for name, command, needs in graph:
            after = f":depends_on({{ {', '.join(map(json.dumps, needs))} }})" if needs else ""
            lines.append(f"\ttask({json.dumps(name)}){after}:command({json.dumps(command)}):build(),")
        lines += ["}", 'workflow.define("bench"):tasks(tasks)', ""]
        (folder / "bench.sloth").write_text("\n".join(lines))

    def words(self):
        return [os.environ["HOSTLER_BENCH_BINARY"], "run", "--parallel", str(AT_ONCE), "bench.sloth"]


class Make(Tool):
    def write(self, folder, graph):
        lines = [".PHONY: all " + " ".join(name for name, _, _ in graph), "all: " + " ".join(last_of(graph))]
        for name, command, needs in graph:
            lines.append(f"{name}: {' '.join(needs)}\n\t{command}")
        (folder / "Makefile").write_text("\n".join(lines) + "\n")

    def words(self):
        return ["make", f"-j{AT_ONCE}"]


class Just(Tool):
    def write(self, folder, graph):
        lines = ["[parallel]\nall: " + " ".join(last_of(graph))]
        for name, command, needs in graph:
            lines.append(f"[parallel]\n{name}: {' '.join(needs)}\n  {command}")
        (folder / "justfile").write_text("\n".join(lines) + "\n")

    def words(self):
        return [peer("just"), "all"]


class Task(Tool):
    def write(self, folder, graph):
        lines = ["version: '3'", "run: once", "tasks:", f"  all: {{ deps: [{', '.join(last_of(graph))}] }}"]
        for name, command, needs in graph:
            after = f"deps: [{', '.join(needs)}], " if needs else ""
            lines.append(f"  {name}: {{ {after}cmds: [{json.dumps(command)}] }}")
        (folder / "Taskfile.yml").write_text("\n".join(lines) + "\n")

    def words(self):
        return [peer("task"), "--concurrency", str(AT_ONCE), "all"]


class Ansible(Tool):
    """It has no graph: tasks are done one after the other, in an order that works."""

    def write(self, folder, graph):
        tasks = [{"name": name, "ansible.builtin.command": command} for name, command, _ in graph]
        play = {
            "hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks,
            "vars": {"ansible_python_interpreter": peer("python3")},
        }
        (folder / "play.yml").write_text(json.dumps([play]))

    def words(self):
        return [peer("ansible-playbook"), "-i", "localhost,", "play.yml"]


EVERY = {"hostler": Hostler(), "make": Make(), "just": Just(), "task": Task(), "ansible": Ansible()}
