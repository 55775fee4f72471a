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

# need_python_tools: prints a folder whose `bin` has the tools of scripts/requirements.txt.
need_python_tools() {
  local venv=${CARGO_TARGET_DIR:-target}/python
  if ! cmp -s scripts/requirements.txt "$venv/requirements.txt"; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3 python3-venv
    say "installing the tools of scripts/requirements.txt"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet -r scripts/requirements.txt >&2
    cp scripts/requirements.txt "$venv/requirements.txt"
  fi
  printf '%s\n' "$venv"
}
