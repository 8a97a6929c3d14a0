# The two commands a newcomer needs are `make demo` and `make test`; each does all its own set-up.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BUILD := build/release

.DEFAULT_GOAL := help
.PHONY: help deps build demo test soak bench check install asan tsan clang format clean

help: ## Show this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bench: build ## Measure: a table, and build/bench.json
	@cmake --build $(BUILD) -j $(JOBS) --target drover-bench
	@$(BUILD)/bin/drover-bench --programs build/bin --json build/bench.json

deps: ## Install what is missing from Debian's packages (says what; sudo when not root)
	@tools/install-deps

build: deps ## Build the release binaries into build/bin
	@cmake --preset release > build-cmake.log 2>&1 || { cat build-cmake.log; rm -f build-cmake.log; exit 1; }; rm -f build-cmake.log
	@cmake --build $(BUILD) -j $(JOBS) --target programs
	@mkdir -p build && ln -sfn release/bin build/bin

test: deps ## Build and run every test
	@cmake --preset dev > /dev/null
	@cmake --build build/dev -j $(JOBS)
	@ctest --test-dir build/dev --output-on-failure -j $(JOBS)

demo: build ## Start a small cluster of its own and show what drover does (about three minutes)
	@tools/demo

soak: deps ## The long form of the live tests: 200 kills of the controller under submits
	@cmake --preset dev > /dev/null
	@cmake --build build/dev -j $(JOBS)
	@DROVER_KILLS=200 ctest --test-dir build/dev --output-on-failure -L live --timeout 3600

format: ## Format the sources in place
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

check: test ## Test, then the header and clang-tidy checks on changed files
	@cmake --build build/dev -j $(JOBS) --target all_verify_interface_header_sets
	@tools/check

asan tsan clang: deps ## Build and test under a sanitizer, or with the second compiler
	@cmake --preset $@ > /dev/null && cmake --build build/$@ -j $(JOBS) && ctest --test-dir build/$@ --output-on-failure -j $(JOBS)

install: build ## Install to PREFIX
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## Remove what was built
	@rm -rf build
