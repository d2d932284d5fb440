# Every target may be run again; what is up to date costs nothing.
CARGO  ?= cargo
BINARY := $(or $(CARGO_TARGET_DIR),target)/release/deogen
# What `make run` shows once the entries are built.
SHOW   := show --sample

# A Z3 of the system is not the version that .cargo/config.toml states.
ifeq ($(DEOGEN_Z3),system)
WITH_Z3 = Z3_SYS_Z3_VERSION=$$(cut -d' ' -f1 .z3/VERSION)
endif

.PHONY: all run test bench test-system test-ecosystem z3 cvc5 clean help

all: z3 ## build target/release/deogen (the default)
	$(WITH_Z3) $(CARGO) build --release

run: all ## build it, then the entries of every determination in deogen.toml into dist/
	$(BINARY) build
	$(BINARY) $(SHOW)

test: z3 ## format, lints, tests
	$(CARGO) fmt --check
	$(WITH_Z3) $(CARGO) clippy --release --all-targets -- -D warnings
	$(WITH_Z3) $(CARGO) test --release

bench: z3 ## measure: an author's waits, growing trees
	$(WITH_Z3) $(CARGO) bench

test-system: all ## what takes long or needs a machine: kills, full disks, terminals (Linux, as root)
	@WITH_Z3="$(WITH_Z3)" CARGO="$(CARGO)" BINARY="$(abspath $(BINARY))" sh scripts/test-system.sh

test-ecosystem: all ## load, validate and run a release with the Python tools it is made for
	sh scripts/test-ecosystem.sh

z3: ## fetch the pinned Z3 into .z3/ (DEOGEN_Z3=system: use this machine's)
	@sh scripts/fetch-z3.sh

cvc5: ## fetch the pinned cvc5 into .cvc5/, for `deogen verify --solver cvc5`
	@sh scripts/fetch-cvc5.sh

clean: ## remove what was built and fetched; entries in dist/ and results in cache/ stay
	rm -rf .z3 .cvc5
	$(CARGO) clean

help: ## list the targets
	@awk -F ':[^#]*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
