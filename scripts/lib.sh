# Shared by the scripts here: say what happens, and install what is missing. Sourced, never run.
# shellcheck shell=bash

say() { printf '==> %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# as_root COMMAND...: as root, through sudo where needed.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif has sudo; then
    sudo "$@"
  else
    die "this needs root: $*"
  fi
}

# install_packages PACKAGE...: from Debian (or a relative of it).
install_packages() {
  has apt-get || die "please install, in your system's way: $*"
  say "installing $*"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# need_command COMMAND PACKAGE...: installs the packages if there is no such command.
need_command() {
  local command=$1
  shift
  has "$command" || install_packages "$@"
}

# need_cargo_tool NAME: `cargo NAME`, built from source if it is not installed.
need_cargo_tool() {
  cargo "$1" --version >/dev/null 2>&1 && return
  say "building cargo-$1 (once; a few minutes)"
  # Unoptimised: it builds in half the time, and runs for seconds.
  cargo install --quiet --locked --debug "cargo-$1"
}

# What a build needs besides Rust: a C compiler, for the bundled SQLite and the TLS library, and one for C++, for the
# interpreter of workflows.
need_build() {
  has cargo || die "Rust is missing; install it with rustup (rust-toolchain.toml says which version)"
  need_command cc gcc libc6-dev
  need_command c++ g++
}

# commit_of_tree: what is being built, with a mark when it was changed; "unknown" without git.
commit_of_tree() {
  git -c safe.directory='*' describe --always --dirty --abbrev=12 2>/dev/null || printf unknown
}

# need_python_tools [LIST FOLDER]: prints a folder whose `bin` has the tools of scripts/requirements.txt, or of
# another list in a folder of its own.
need_python_tools() {
  local list=${1:-scripts/requirements.txt} venv=${CARGO_TARGET_DIR:-target}/${2:-python}
  if ! cmp -s "$list" "$venv/requirements.txt"; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3 python3-venv
    say "installing the tools of $list"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet -r "$list" >&2
    cp "$list" "$venv/requirements.txt"
  fi
  printf '%s\n' "$venv"
}

# begin_trial NAME: a temporary folder, in $folder, for a server whose process is $server. Both are gone at the end; when that
# is a failure, the last lines of the log are shown. Nothing of the caller's own Hostler is read or written.
begin_trial() {
  local name
  folder=$(mktemp -d "${TMPDIR:-/tmp}/hostler-$1.XXXXXX")
  server=
  trap end_trial EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  for name in $(compgen -e HOSTLER_); do unset "$name"; done
  export XDG_CONFIG_HOME="$folder/config" XDG_DATA_HOME="$folder/data"
}

end_trial() {
  local status=$?
  trap - EXIT
  if [ -n "$server" ]; then
    kill -INT "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  if [ "$status" != 0 ] && [ -f "$folder/log" ]; then
    say "the last lines of the server's log:"
    tail -n 40 "$folder/log" >&2
  fi
  rm -rf "$folder"
  exit "$status"
}

# Waits until the node of `hostler up` is there.
await_trial() {
  for _ in $(seq 300); do
    ! grep -q 'session opened' "$folder/log" || break
    kill -0 "$server" 2>/dev/null || die "hostler up did not start"
    sleep 0.2
  done
}
