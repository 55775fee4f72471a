"""Every command of the real OpenStack client for stacks, against a server whose address is in HEAT.

Commands run in this process, through the client's own entry point, so that its modules are loaded once. The ways to log in
run as processes of their own. At the end no command may have been left out.
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request
from importlib.metadata import entry_points

HEAT = os.environ["HEAT"]
TOKEN = os.environ["TOKEN"]
FOLDER = pathlib.Path(os.environ["FOLDER"])
OPENSTACK = pathlib.Path(sys.executable).parent / "openstack"


AUTH = {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": f"{HEAT}/v1/lab", "OS_TOKEN": TOKEN}
os.environ.update(AUTH)

from openstackclient import shell  # noqa: E402

used = set()
COMMANDS = {
    entry.name.replace("_", " ")
    for entry in entry_points(group="openstack.orchestration.v1")
}


def command_of(words):
    """The longest command that the words begin with."""
    text = " ".join(words) + " "
    return max((name for name in COMMANDS if text.startswith(name + " ")), key=len, default=None)


def run(*words, fails=False):
    words = [str(word) for word in words]
    used.add(command_of(words))
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = shell.main(words)
        except SystemExit as end:
            code = end.code
    text = out.getvalue() + err.getvalue()
    if bool(code) != fails:
        sys.exit(f"`openstack {' '.join(words)}` ended with {code}:\n{text}")
    return text if fails else out.getvalue()


def value(*words):
    return run(*words, "-f", "value").strip()


def read(*words):
    return json.loads(run(*words, "-f", "json"))


def same(what, is_, should):
    if is_ != should:
        sys.exit(f"{what}: {is_!r} instead of {should!r}")


def has(what, text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"{what}: {part!r} is not in\n{text}")


def until(what, test):
    for _ in range(150):
        if test():
            return
        time.sleep(0.2)
    sys.exit(f"{what} does not come to pass")


def write(name, text):
    path = FOLDER / name
    path.write_text(text)
    return str(path)


FOLDER.mkdir(parents=True)
DEMO = write("t.yaml", """
heat_template_version: 2021-04-16
description: demo stack
parameters:
  p: { type: string, default: x, description: a param, constraints: [{ length: { min: 1, max: 5 } }] }
  secret: { type: string, hidden: true, default: s3 }
resources:
  r1:
    type: OS::Heat::TestResource
    properties: { value: { get_param: p } }
    metadata: { k: v }
  r2:
    type: OS::Heat::RandomString
    depends_on: r1
    properties: { length: 6 }
  n1:
    type: nested.yaml
    properties: { np: { get_attr: [r1, output] } }
outputs:
  o1: { description: first, value: { get_attr: [r1, output] } }
  o2: { value: { get_attr: [n1, nout] } }
""")
write("nested.yaml", """
heat_template_version: 2018-08-31
parameters:
  np: { type: string }
resources:
  v:
    type: OS::Heat::Value
    properties: { value: { get_param: np } }
outputs:
  nout: { value: { get_attr: [v, value] } }
""")
ENVIRONMENT = write("env.yaml", "parameters: { p: yy }\nparameter_defaults: { q: 1 }\n")
HOOKED = write("h.yaml", """
heat_template_version: 2021-04-16
resources:
  h1: { type: OS::Heat::TestResource, properties: { value: a } }
""")
BROKEN = write("bad.yaml", """
heat_template_version: 2021-04-16
resources:
  a: { type: OS::Heat::Nope }
""")
FAILING = write("fail.yaml", """
heat_template_version: 2021-04-16
resources:
  f1: { type: OS::Heat::TestResource, properties: { value: a, fail: true } }
""")
SLOW = write("slow.yaml", """
heat_template_version: 2021-04-16
parameters:
  v: { type: string, default: a }
resources:
  s1:
    type: OS::Heat::TestResource
    properties: { value: { get_param: v }, action_wait_secs: { update: 3 } }
""")
WAITING = write("wait.yaml", """
heat_template_version: 2021-04-16
resources:
  handle: { type: OS::Heat::WaitConditionHandle }
  wait:
    type: OS::Heat::WaitCondition
    properties: { handle: { get_resource: handle }, timeout: 300, count: 1 }
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      cooldown: 0
      resource: { type: OS::Heat::None }
  up:
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: { get_resource: group }
      adjustment_type: change_in_capacity
      scaling_adjustment: 1
      cooldown: 0
outputs:
  endpoint: { value: { get_attr: [handle, endpoint] } }
  alarm: { value: { get_attr: [up, alarm_url] } }
  size: { value: { get_attr: [group, current_size] } }
""")


def status(name):
    return value("stack", "show", name, "-c", "stack_status")


def stacks():
    # What can be known without a stack.
    told = read("orchestration", "template", "validate", "-t", DEMO, "-e", ENVIRONMENT, "--show-nested")
    same("description", told["Description"], "demo stack")
    same("value of a parameter", told["Parameters"]["p"]["Value"], "yy")
    same("hidden parameter", told["Parameters"]["secret"]["NoEcho"], "true")
    told = read("stack", "create", "-t", DEMO, "--dry-run", "pv")
    same("name of a preview", told["stack_name"], "pv")
    has("refusal", run("stack", "show", "pv", fails=True), "Stack not found: pv")

    # Made, shown, listed.
    told = run("stack", "create", "-t", DEMO, "-e", ENVIRONMENT, "--parameter", "p=zz", "--tags", "a,b",
               "--timeout", "10", "--enable-rollback", "--wait", "--poll", "1", "d1")
    has("create --wait", told, "CREATE_COMPLETE", "Stack CREATE completed successfully")
    shown = read("stack", "show", "d1")
    same("parameter", shown["parameters"]["p"], "yy")
    same("hidden parameter", shown["parameters"]["secret"], "******")
    same("time", shown["timeout_mins"], 10)
    same("rollback", shown["disable_rollback"], False)
    same("tags", shown["tags"], ["a", "b"])
    listed = read("stack", "list")
    same("list", [(one["Stack Name"], one["Stack Status"]) for one in listed], [("d1", "CREATE_COMPLETE")])
    listed = read("stack", "list", "--long", "--tags", "a", "--limit", "1")
    same("long list", listed[0]["Stack Name"], "d1")
    nested = read("stack", "list", "--nested", "--deleted", "--property", "status=COMPLETE")
    same("stacks below", len(nested), 2)
    same("outputs", sorted(one["output_key"] for one in read("stack", "output", "list", "d1")), ["o1", "o2"])
    same("output", read("stack", "output", "show", "d1", "o1")["output_value"], "yy")
    has("all outputs", run("stack", "output", "show", "d1", "--all"), "yy")

    # Resources and events.
    names = sorted(one["resource_name"] for one in read("stack", "resource", "list", "d1"))
    same("resources", names, ["n1", "r1", "r2"])
    found = read("stack", "resource", "list", "d1", "-n", "2", "--long", "--filter", "type=OS::Heat::Value")
    same("resources below", [one["resource_name"] for one in found], ["v"])
    shown = read("stack", "resource", "show", "d1", "r1")
    same("attributes", shown["attributes"], {"output": "yy"})
    same("what needs it", sorted(shown["required_by"]), ["n1", "r2"])
    same("metadata", json.loads(run("stack", "resource", "metadata", "d1", "r1")), {"k": "v"})
    events = read("stack", "event", "list", "d1")
    same("first event", events[0]["resource_status_reason"], "Stack CREATE started")
    same("last event", events[-1]["resource_status"], "CREATE_COMPLETE")
    newest = read("stack", "event", "list", "d1", "--nested-depth", "1", "--limit", "3", "--sort", ":desc")
    same("newest event", newest[0]["resource_status_reason"], "Stack CREATE completed successfully")
    event = next(one for one in events if one["resource_name"] == "r1")
    shown = read("stack", "event", "show", "d1", "r1", event["id"])
    same("event", shown["resource_type"], "OS::Heat::TestResource")
    of_r1 = read("stack", "event", "list", "d1", "--resource", "r1")
    same("events of a resource", {one["resource_name"] for one in of_r1}, {"r1"})
    has("log of events", run("stack", "event", "list", "d1", "-f", "log"), "CREATE_COMPLETE")

    # What it is made of.
    has("template", run("stack", "template", "show", "d1"), "demo stack", "OS::Heat::RandomString")
    has("environment", run("stack", "environment", "show", "d1"), "nested.yaml", "p: yy")
    has("files", run("stack", "file", "list", "d1"), "nested.yaml", "env.yaml")

    # Changed.
    told = read("stack", "update", "d1", "-t", DEMO, "--parameter", "p=ab", "--dry-run")
    changes = {name: sorted(one["resource_name"] for one in told[name]) for name in told}
    same("what would change", changes,
         {"unchanged": ["r2"], "updated": ["n1", "r1"], "replaced": [], "added": [], "deleted": []})
    read("stack", "update", "d1", "-t", DEMO, "--parameter", "p=ab", "--dry-run", "--show-nested")
    run("stack", "update", "d1", "-t", DEMO, "--parameter", "p=ab", "--wait")
    same("update", status("d1"), "UPDATE_COMPLETE")
    run("stack", "update", "d1", "--existing", "--parameter", "p=cd", "--clear-parameter", "secret", "--tags", "c",
        "--rollback", "enabled", "--converge", "--wait")
    same("patch", read("stack", "show", "d1")["parameters"]["p"], "cd")
    for action, ends in [("check", "CHECK_COMPLETE"), ("suspend", "SUSPEND_COMPLETE"), ("resume", "RESUME_COMPLETE")]:
        run("stack", action, "d1", "--wait")
        same(action, status("d1"), ends)

    # Kept and restored.
    made = read("stack", "snapshot", "create", "d1", "--name", "snap1")
    until("snapshot", lambda: read("stack", "snapshot", "show", "d1", made["ID"])["snapshot"]["status"] == "COMPLETE")
    same("snapshots", [one["name"] for one in read("stack", "snapshot", "list", "d1")], ["snap1"])
    until("rest", lambda: status("d1").endswith("_COMPLETE"))
    run("stack", "update", "d1", "--existing", "--parameter", "p=ef", "--wait")
    run("stack", "snapshot", "restore", "d1", made["ID"])
    until("restore", lambda: status("d1") == "RESTORE_COMPLETE")
    same("restored", read("stack", "output", "show", "d1", "o1")["output_value"], "cd")
    run("stack", "snapshot", "delete", "-y", "d1", made["ID"])
    same("snapshots", read("stack", "snapshot", "list", "d1"), [])

    # Broken, and signalled where nothing takes it.
    run("stack", "resource", "mark", "unhealthy", "d1", "r1", "because")
    same("mark", read("stack", "resource", "show", "d1", "r1")["resource_status_reason"], "because")
    run("stack", "resource", "mark", "unhealthy", "--reset", "d1", "r1")
    told = run("stack", "resource", "signal", "d1", "r1", "--data", '{"a": 1}', fails=True)
    has("signal", told, "signal is not supported for resource.")

    # Left and taken over.
    run("stack", "export", "d1", "--output-file", FOLDER / "e.json")
    same("export", json.loads((FOLDER / "e.json").read_text())["name"], "d1")
    run("stack", "abandon", "d1", "--output-file", FOLDER / "d1.json")
    has("refusal", run("stack", "show", "d1", fails=True), "Stack not found: d1")
    run("stack", "adopt", "--adopt-file", FOLDER / "d1.json", "--wait", "d2")
    same("adopt", status("d2"), "ADOPT_COMPLETE")
    run("stack", "delete", "-y", "--wait", "d2")
    has("refusal", run("stack", "show", "d2", fails=True), "Stack not found: d2")

    # Hooks.
    run("stack", "create", "-t", HOOKED, "--pre-create", "h1", "hk")
    until("hook", lambda: "h1" in run("stack", "hook", "poll", "hk"))
    run("stack", "hook", "clear", "hk", "h1")
    until("hooked stack", lambda: status("hk") == "CREATE_COMPLETE")
    told = run("stack", "create", "-t", HOOKED, "hk", fails=True)
    has("refusal", told, "The Stack (hk) already exists.")
    told = run("stack", "create", "-t", BROKEN, "bad1", fails=True)
    has("refusal", told, "The Resource Type (OS::Heat::Nope) could not be found.")

    # What fails, and what is cancelled.
    told = run("stack", "create", "-t", FAILING, "--wait", "fr", fails=True)
    has("failure", told, "Stack fr CREATE_FAILED")
    has("failures", run("stack", "failures", "list", "fr"), "f1", "CREATE_FAILED")
    run("stack", "create", "-t", SLOW, "--wait", "sl")
    run("stack", "update", "sl", "-t", SLOW, "--parameter", "v=b")
    run("stack", "cancel", "sl", "--wait")
    same("cancel", status("sl"), "ROLLBACK_COMPLETE")
    same("rolled back", read("stack", "resource", "show", "sl", "s1")["attributes"]["output"], "a")


def call(method, url, body):
    request = urllib.request.Request(url, data=body.encode(), method=method)
    with urllib.request.urlopen(request) as answer:
        return answer.status


def signals():
    run("stack", "create", "-t", WAITING, "w")
    def output(name):
        return read("stack", "output", "show", "w", name)["output_value"]
    until("address", lambda: output("endpoint"))
    same("signal", call("POST", output("endpoint"), '{"status": "SUCCESS", "data": "d"}'), 200)
    until("wait condition", lambda: status("w") == "CREATE_COMPLETE")
    same("alarm", call("POST", output("alarm"), '{"status": "firing", "alerts": []}'), 200)
    until("scaling", lambda: output("size") == 2)
    run("stack", "resource", "signal", "w", "up")
    until("scaling", lambda: output("size") == 3)


def around():
    types = run("orchestration", "resource", "type", "list", "-f", "value")
    has("types", types, "OS::Heat::RandomString", "Xloud::Heat::Value")
    same("types by a word in the middle", run("orchestration", "resource", "type", "list", "--filter", "name=Random",
                                             "--long", "-f", "value"), "")
    told = json.loads(run("orchestration", "resource", "type", "show", "OS::Heat::Value", "-f", "json"))
    same("type", told["resource_type"], "OS::Heat::Value")
    told = run("orchestration", "resource", "type", "show", "OS::Heat::Value", "--template-type", "hot")
    has("template of a type", told, "heat_template_version")
    same("engines", read("orchestration", "service", "list")[0]["Status"], "up")
    has("build", run("orchestration", "build", "info"), "revision")
    versions = read("orchestration", "template", "version", "list")
    same("versions", len(versions), 13)
    functions = run("orchestration", "template", "function", "list", "heat_template_version.2021-04-16",
                    "--with_conditions", "-f", "value")
    has("functions", functions, "get_attr", "yaql", "equals")


def software():
    script = write("script.sh", "echo hello\n")
    definition = write("definition.yaml", "inputs: [{ name: word }]\noutputs: [{ name: result }]\n")
    made = read("software", "config", "create", "c1", "--config-file", script, "--definition-file", definition,
                "--group", "script")
    listed = read("software", "config", "list")
    same("configs", [(one["name"], one["group"]) for one in listed], [("c1", "script")])
    same("config", run("software", "config", "show", made["id"], "--config-only"), "echo hello\n\n")
    deployment = read("software", "deployment", "create", "d", "--server", "srv", "--config", made["id"],
                      "--input-value", "word=x", "--action", "CREATE", "--signal-transport", "NO_SIGNAL")
    same("deployment", (deployment["status"], deployment["action"]), ("IN_PROGRESS", "CREATE"))
    listed = read("software", "deployment", "list", "--server", "srv", "--long")
    same("deployments", [one["id"] for one in listed], [deployment["id"]])
    shown = read("software", "deployment", "show", deployment["id"], "--long")
    same("server", shown["server_id"], "srv")
    told = json.loads(run("software", "deployment", "metadata", "show", "srv"))
    word = next(one for one in told[0]["inputs"] if one["name"] == "word")
    same("what the machine is told", (told[0]["config"], word["value"]), ("echo hello\n", "x"))
    from heatclient import client
    heat = client.Client("1", endpoint=f"{HEAT}/v1/lab", token=TOKEN, ca_file=os.environ["OS_CACERT"])
    heat.software_deployments.update(deployment["id"], status="COMPLETE", output_values={"result": "done"})
    for which in ["result", "--all"]:
        # The client keeps the stdout that there was when it was loaded.
        words = ["software", "deployment", "output", "show", deployment["id"], which]
        used.add(command_of(words))
        has("output", process(AUTH, *words)[1], "result: done")
    run("software", "deployment", "delete", deployment["id"])
    run("software", "config", "delete", made["id"])
    same("configs", read("software", "config", "list"), [])


def process(environment, *words):
    kept = {"OS_CACERT"}
    clean = {name: text for name, text in os.environ.items() if name in kept or not name.startswith("OS_")}
    done = subprocess.run([OPENSTACK, *words], env={**clean, **environment}, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def logins():
    """Each way to say who one is, with a process of its own."""
    clouds = write("clouds.yaml", f"""
clouds:
  mine: {{ auth_type: admin_token, auth: {{ endpoint: "{HEAT}/v1/lab", token: "{TOKEN}" }} }}
""")
    identity = {"OS_AUTH_URL": f"{HEAT}/identity/v3"}
    ada = {**identity, "OS_USERNAME": "ada", "OS_PASSWORD": os.environ["PASSWORD"], "OS_PROJECT_NAME": "lab",
           "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default", "OS_IDENTITY_API_VERSION": "3"}
    application = {**identity, "OS_AUTH_TYPE": "v3applicationcredential", "OS_IDENTITY_API_VERSION": "3",
                   "OS_APPLICATION_CREDENTIAL_ID": os.environ["TOKEN_ID"], "OS_APPLICATION_CREDENTIAL_SECRET": TOKEN}
    ways = {
        "static token": AUTH,
        "basic": {"OS_AUTH_TYPE": "http_basic", "OS_ENDPOINT": f"{HEAT}/v1/lab", "OS_USERNAME": "x", "OS_PASSWORD": TOKEN},
        "clouds.yaml": {"OS_CLOUD": "mine", "OS_CLIENT_CONFIG_FILE": clouds},
        "password": ada,
        "application credential": application,
        "token": {**identity, "OS_AUTH_TYPE": "v3token", "OS_TOKEN": TOKEN, "OS_PROJECT_NAME": "lab",
                  "OS_PROJECT_DOMAIN_NAME": "Default", "OS_IDENTITY_API_VERSION": "3"},
    }
    for way, environment in ways.items():
        code, text = process(environment, "stack", "list", "-f", "value", "-c", "Stack Name")
        if code or (way != "application credential" and "hk" not in text):
            sys.exit(f"{way}: ended with {code}\n{text}")
    code, text = process({**ada, "OS_PASSWORD": "wrong"}, "stack", "list")
    has("wrong password", text, "name or password is wrong", "401")
    code, text = process(ada, "token", "issue", "-f", "json")
    issued = json.loads(text)
    code, text = process(ada, "project", "list", "-f", "value", "-c", "Name")
    same("projects", (code, text.split()), (0, ["lab"]))
    code, text = process(ada, "catalog", "list", "-f", "json")
    same("catalogue", {one["Type"] for one in json.loads(text)}, {"identity", "orchestration", "cloudformation"})
    of_issued = {**AUTH, "OS_TOKEN": issued["id"]}
    same("issued token", process(of_issued, "stack", "show", "hk")[0], 0)
    same("revoking", process(ada, "token", "revoke", issued["id"])[0], 0)
    has("revoked token", process(of_issued, "stack", "list")[1], "the session has ended")
    nobody = {"OS_AUTH_TYPE": "none", "OS_ENDPOINT": f"{HEAT}/v1/lab"}
    has("nobody", process(nobody, "stack", "list")[1], "the token is not valid")


stacks()
signals()
around()
software()
logins()
missing = COMMANDS - used
if missing:
    sys.exit(f"these commands were never run: {', '.join(sorted(missing))}")
print(f"{len(used)} commands, as a person would look at them")
