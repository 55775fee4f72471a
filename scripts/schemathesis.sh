#!/usr/bin/env bash
# Holds the running API against its own description: schemathesis makes requests from /openapi.json,
# valid ones and broken ones, and no answer may be a server error, have an undocumented status or
# content type, or differ from its schema. Bounded in time, in a temporary folder, on free ports;
# nothing is left behind. Left out is what would end the test: logging out, and dropping the authority
# that the node is of; what is done to this machine, as root; and streams of lines in both directions,
# which it cannot write.
#
#   scripts/schemathesis.sh [OPTION OF `schemathesis run`...]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

hostler=$(realpath -m "${CARGO_TARGET_DIR:-target}/debug/hostler")
[ -x "$hostler" ] || cargo build --locked --package hostler
tools=$(realpath "$(need_python_tools)")

begin_trial schemathesis

HOSTLER_SERVER__LIMITS__LOGINS_PER_MINUTE=100000 "$hostler" up --data-dir "$folder/up" --name local \
  --listen 127.0.0.1:0 --agent-listen 127.0.0.1:0 >"$folder/log" 2>&1 &
server=$!
await_trial
address=$(sed -n 's/.* server started .* api=\([^ ]*\).*/\1/p' "$folder/log")
[ -n "$address" ] || die "hostler up did not say where it listens"

# Something of everything, to ask for by name.
"$hostler" run --name example -- echo example >/dev/null
"$hostler" workload apply -f - --wait >/dev/null 2>&1 <<'YAML'
workloads:
  - { name: web, mode: forever, command: [sleep, "100000"] }
  - { name: nightly, mode: { schedule: { cron: "0 3 * * *" } }, command: ["true"] }
YAML
"$hostler" project create lab >/dev/null 2>&1
"$hostler" user create robot --service >/dev/null 2>&1
"$hostler" project grant lab robot user >/dev/null 2>&1
spare=$("$hostler" token create spare --user robot --role user -o jsonpath='{.token.id}')
ticket=$("$hostler" node token create -o jsonpath='{.token.id}')
operation=$("$hostler" node drain local --no-wait -o jsonpath='{.id}')
"$hostler" operation wait "$operation" >/dev/null 2>&1
"$hostler" node uncordon local >/dev/null 2>&1
token=$("$hostler" token create schemathesis --role admin 2>/dev/null)
own=$("$hostler" token ls -o jsonpath='{.items[*].id}')
own+=" $("$hostler" whoami -o jsonpath='{.id}') $("$hostler" whoami -o jsonpath='{.name}')"

cat >"$folder/schemathesis.toml" <<TOML
# Which generation it is about is looked at before what is to change.
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 428]

[dictionaries]
projects = { values = ["default", "lab"] }
tasks = { values = ["example"] }
workloads = { values = ["web", "nightly"] }
nodes = { values = ["local"] }
users = { values = ["robot"] }
tokens = { values = ["$spare", "$ticket"] }
operations = { values = ["$operation"] }
etags = { values = ['"1"', '"2"', '"3"', '"4"', '"5"', '"6"'] }

[parameters]
"path.project" = { dictionary = "projects", probability = 0.8 }
"path.task" = { dictionary = "tasks", probability = 0.7 }
"path.workload" = { dictionary = "workloads", probability = 0.7 }
"path.node" = { dictionary = "nodes", probability = 0.7 }
"path.user" = { dictionary = "users", probability = 0.7 }
"path.token" = { dictionary = "tokens", probability = 0.7 }
"path.operation" = { dictionary = "operations", probability = 0.7 }
"header.If-Match" = { dictionary = "etags", probability = 0.6 }
TOML

cat >"$folder/hooks.py" <<'PYTHON'
import os

import schemathesis

OWN = os.environ["OWN"].split()
SPARE = os.environ["SPARE"]


def harmless(value):
    """Whatever task or workload is made up, only `true` is ever run."""
    if isinstance(value, list):
        return [harmless(item) for item in value]
    if isinstance(value, dict):
        value = {key: harmless(item) for key, item in value.items()}
        for key in ("command", "exec", "hook"):
            command = value.get(key)
            if isinstance(command, list) and command and all(isinstance(w, str) for w in command):
                value[key] = ["true"]
        if isinstance(value.get("interpreter"), str):
            value["interpreter"] = "true"
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, (dict, list)):
        case.body = harmless(case.body)
    # Who asks does not lose the right to ask.
    parameters = case.path_parameters or {}
    for name in ("token", "user"):
        if parameters.get(name) in OWN:
            parameters[name] = SPARE
    # Streams that go on until something happens have tests of their own.
    for name in ("watch", "follow", "wait"):
        if str((case.query or {}).get(name)).lower() not in ("none", "false"):
            case.query.pop(name)
PYTHON

# Not among the checks: that whatever fits the schema is accepted (generations, cursors and names
# that exist say otherwise), and that a missing If-Match is a 400 (it is a 428).
checks=not_a_server_error,status_code_conformance,content_type_conformance
checks+=,response_headers_conformance,response_schema_conformance,negative_data_rejection
checks+=,unsupported_method,allow_header_conformance,ignored_auth
checks+=,use_after_free

say "asking https://$address at random"
(
  cd "$folder"
  OWN=$own SPARE=$spare SCHEMATHESIS_HOOKS=hooks PYTHONPATH="$folder" "$tools/bin/schemathesis" run \
    "https://$address/openapi.json" \
    --tls-verify false \
    --header "Authorization: Bearer $token" \
    --generation-with-security-parameters false \
    --exclude-operation-id logout --exclude-operation-id authority_finish \
    --exclude-operation-id node_deed --exclude-operation-id node_backup_restore \
    --exclude-operation-id state_stream --exclude-operation-id stack_plugin_push \
    --phases examples,coverage,fuzzing,stateful \
    --checks "$checks" \
    --max-examples 20 --request-timeout 20 --workers 1 --continue-on-failure \
    --generation-database none --seed 1 --warnings off --no-color "$@"
)

# A server that was asked a lot is still well, and its credential was not lost on the way.
HOSTLER_TOKEN=$token "$hostler" whoami >/dev/null || die "the token no longer works: the run saw only refusals"
"$hostler" audit verify >/dev/null
! grep -E ' (ERROR|panicked) ' "$folder/log" || die "the server logged errors"
