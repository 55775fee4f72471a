#!/usr/bin/env bash
# Drives the real command line of OpenStack (python-openstackclient with python-heatclient) against a running server:
# every command for stacks that there is, and every way to log in, with what a person would look at in the answers
# compared (scripts/openstack_clients.py). In a temporary folder, on free ports; nothing is left behind.
#
#   scripts/openstack.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

hostler=$(realpath -m "${CARGO_TARGET_DIR:-target}/debug/hostler")
[ -x "$hostler" ] || cargo build --locked --package hostler
tools=$(realpath "$(need_python_tools scripts/openstack-requirements.txt peers/openstack)")

begin_trial openstack
# Nor is anything of their OpenStack.
for name in $(compgen -e OS_); do unset "$name"; done
export HOME="$folder"

cat >"$folder/server.toml" <<'TOML'
[limits]
logins_per_minute = 100000

[stacks.heat]
enabled = true
listen = "127.0.0.1:0"

[stacks.signal]
enabled = true
listen = "127.0.0.1:0"
plain = true
TOML

: >"$folder/log"
"$hostler" up --config "$folder/server.toml" --data-dir "$folder/up" --name local --listen 127.0.0.1:0 \
  --agent-listen 127.0.0.1:0 >"$folder/log" 2>&1 &
server=$!
await_trial
address=$(sed -n 's/.* the API of Heat is served .*address=\([^ ]*\).*/\1/p' "$folder/log" | head -n 1)
[ -n "$address" ] || die "hostler up did not say where the API of Heat is"

"$hostler" project create lab >/dev/null
printf '%s\n' 'correct horse battery' | "$hostler" user create ada --password-stdin >/dev/null
"$hostler" project grant lab ada user >/dev/null
token=$("$hostler" token create clients --role admin 2>/dev/null)
id=$("$hostler" token ls -o json | "$tools/bin/python" -c \
  'import json, sys; print(next(one["id"] for one in json.load(sys.stdin)["items"] if one["name"] == "clients"))')

"$hostler" ca show -o jsonpath='{.present.certificate}' >"$folder/ca.pem"
export OS_CACERT="$folder/ca.pem" REQUESTS_CA_BUNDLE="$folder/ca.pem"

say "asking https://$address as clients of OpenStack do"
HEAT="https://$address" TOKEN=$token TOKEN_ID=$id FOLDER="$folder/work" PASSWORD='correct horse battery' \
  "$tools/bin/python" scripts/openstack_clients.py

"$hostler" audit verify >/dev/null
! grep -E ' (ERROR|panicked) ' "$folder/log" || die "the server logged errors"
