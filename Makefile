# Two doors for a newcomer: `make up` and `make test`. The rest is for people who work on the house.

SHELL := bash
.DEFAULT_GOAL := help

# Where `make up` keeps its data, and what else to tell `hostler up`.
DATA ?= .hostler
ARGS ?=

TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help up test build web lint fmt gen docs bench deb sbom fuzz soak test-vm check-arm64

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: build ## Build and start Hostler here: server, agent, dashboard (Ctrl-C stops it)
	@export HOSTLER_SERVER__STACKS__HEAT__ENABLED=true HOSTLER_SERVER__STACKS__HEAT__LISTEN=127.0.0.1:8004 \
	  HOSTLER_SERVER__STACKS__SIGNAL__ENABLED=true HOSTLER_SERVER__STACKS__SIGNAL__LISTEN=127.0.0.1:8000; \
	exec $(TARGET)/debug/hostler up --data-dir $(DATA) $(ARGS)

test: ## Run everything that must hold, installing and starting what it needs
	@scripts/test-services scripts/test

build: web ## Build the binary
	@source scripts/lib.sh && need_build
	cargo build --locked --package hostler

web: ## Build the dashboard, if its sources have changed
	@scripts/build-web

lint: ## Check format, lints and the rules of the house
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo xtask tidy
	npm --prefix web run lint

fmt: ## Format everything
	cargo fmt --all
	npm --prefix web run --if-present format

gen: ## Write the generated files again
	cargo xtask gen
	npm --prefix web run --if-present gen

docs: ## Build the guide with mdBook into docs/book
	@cargo xtask gen
	@source scripts/lib.sh && has mdbook || die 'mdBook is missing: cargo install --locked mdbook'
	mdbook build docs

bench: build ## Measure, and compare with what is recorded in bench/
	@source scripts/lib.sh && [ -x bench/run ] || die 'there is no bench/run'
	@exec bench/run $(ARGS)

deb: ## Build the Debian package into target/deb (PROFILE=dev: quickly)
	@scripts/deb

sbom: ## Write what the product is made of, as CycloneDX, into target/sbom
	@scripts/sbom

fuzz: ## Look for bytes that break a parser, ten minutes each (LENGTH=60: for less)
	@scripts/fuzz $(or $(LENGTH),600)

soak: ## Let everything happen to 300 workloads for four minutes (LENGTH=900: for longer)
	HOSTLER_SOAK_SECONDS=$(or $(LENGTH),240) \
	  cargo test --locked --package hostler-agent --test it soak -- --nocapture

test-vm: ## Test the package on a Debian machine with systemd, in QEMU (some minutes)
	@scripts/test-vm

check-arm64: ## Check that the whole binary compiles for 64-bit ARM, where that target is installed
	@scripts/check-arm64
