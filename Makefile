# The front door. `make help` lists what there is; the work is done by scripts/.

.DEFAULT_GOAL := help
.PHONY: help run test check fmt types samples screenshots pictures bench-queue bench-intake bench-drain bench-window corpus fuzz clean

ENGINE_TYPES := ui/src/backend/types

help: ## List these
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build the app and open its window (without a display: summarize samples/ on the command line)
	@scripts/run

test: ## Install what is missing and run every check and every test
	@scripts/prerequisites test
	@scripts/test

check: ## Format, lints and types of Rust and of the interface, without tests
	@scripts/prerequisites app
	@scripts/test check

fmt: ## Format Rust and the interface
	@scripts/interface install
	cargo fmt --all
	cd ui && npm run format

types: ## Write the engine's types anew for the interface
	rm -f $(ENGINE_TYPES)/*.ts
	cargo test --package gistmill-engine --lib --features ts export_bindings

samples: ## Make the PDFs of samples/ anew from their sources
	python3 -m venv .cache/samples
	.cache/samples/bin/python -m pip install --quiet $$(sed -n 's/.*pip install //p' samples/generate.py)
	.cache/samples/bin/python samples/generate.py

screenshots: ## Take pictures of every screen, in both themes and languages and three sizes, with a page to browse them
	@scripts/interface install
	cd ui && npm run screenshots

pictures: ## Make the pictures of docs/pictures anew
	@scripts/pictures

bench-queue: ## Compare the queue with four others and write docs/benchmarks.md (BENCH=quick: a minute, printed only)
	@benches/run

bench-intake: ## Time a drop of 1,000 PDFs against sha256sum, and the memory of sending large ones (BENCH=quick: 100)
	@benches/intake/run

bench-drain: ## Time working 500 PDFs against what limits and answers allow at least (BENCH=quick: 100)
	@benches/drain/run

bench-window: ## Measure the real window over 100,000 jobs: first rows, scrolling, typing, filters, memory (JOBS=…)
	@scripts/prerequisites test
	@benches/window/run

corpus: ## Read the PDFs in DIR=… and say where other readers see something else (DEEP=1: copy pages too)
	@benches/documents/run

fuzz: ## Throw broken PDFs at the children that read them (MINUTES=30, SEED=1, MODE=children, coverage or both)
	@fuzz/run

clean: ## Remove everything that was built or installed
	cargo clean
	rm -rf ui/dist ui/dist-demo ui/node_modules ui/test-results .venv .cache gen
	rm -rf benches/peers/effectum/durable benches/peers/plainjob/node_modules tests/doubles/node_modules
