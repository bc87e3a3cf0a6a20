# The loyalty platform. `make help` lists what there is.
SHELL := /bin/bash
GO ?= go
BIN := $(CURDIR)/.bin
APIS := administration automation-campaigns coupon customers display entities events leaderboard levels loyalty-read offers rewards
OAPI := $(GO) run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
GOLANGCI_VERSION := v2.15.0
REDOCLY_VERSION := 2.77.0
NEWMAN_VERSION := 6.2.2
OASDIFF_VERSION := v1.29.1
OPENAPI_TYPESCRIPT_VERSION := 7.13.0
TYPESCRIPT_VERSION := 5.9.3

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## build the program as ./loyalty
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o loyalty ./server/cmd/loyalty

.PHONY: run
run: build ## build, start on the embedded database, print a ready key and a signed request
	./loyalty serve

.PHONY: test
test: ## everything that needs nothing else, on both databases
	$(GO) test ./... -timeout 15m

.PHONY: generate
generate: ## regenerate gen/ from the documents
	$(OAPI) -config openapi/codegen/common.yaml openapi/common.yaml
	@for api in $(APIS); do \
	  pkg=$${api//-/}; echo "$(OAPI) $$api"; mkdir -p gen/$$pkg; \
	  $(OAPI) -config oapi-codegen.yaml -package $$pkg -o gen/$$pkg/$$pkg.gen.go openapi/$$api.yaml || exit 1; \
	done

.PHONY: collections
collections: ## write the request collections anew from the documents
	$(GO) run ./server/cmd/collections openapi/collections

.PHONY: verify
verify: ## prove that generated code, modules and formatting are fresh
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && cp -r gen "$$tmp/before" && $(MAKE) --no-print-directory generate >/dev/null \
	  && { diff -r "$$tmp/before" gen || { echo "gen/ was stale: it is regenerated now, commit it"; exit 1; }; }
	@$(GO) run ./server/cmd/collections --check openapi/collections
	$(GO) mod tidy -diff
	$(GO) mod verify
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "not formatted: $$unformatted"; exit 1; }
	$(GO) vet ./...

.PHONY: tools
tools: $(BIN)/golangci-lint $(BIN)/redocly $(BIN)/newman $(BIN)/openapi-typescript ## install the heavy tools into .bin

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

.PHONY: lint
lint: tools ## lint the code and the documents
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
	$(GO) run ./server/cmd/bench -binary ./loyalty $(ARGS)

.PHONY: bench-go
bench-go: ## the Go benchmarks: signing against its hashing floor, the HTTP layer, the rules, the store
	$(GO) test -run xxx -bench . -benchmem ./signing ./server ./server/limit ./server/loyalty ./store/...

# `make torture` at full length (TORTURE=500, about an hour on two cores that do nothing else); any other number is that
# part of it. RUN picks tests by name. No test asserts a time. In full, by the row of the plan that asked for it:
#   R1   TestFaultKill               250 kills of the program under load, on each database; more than 100,000 acknowledgements
#   R2   TestFaultPostgresKilled     50 kills of the postmaster
#   R5   TestFaultDoubleSpend        50 times 64 clients with 3,200 attempts to spend 500 points, on each database
#   R6   TestFaultSameTransaction    200 purchases, each on 16 connections at once, on each database
#   R7   TestFaultSameKey            200 requests, each on 16 connections at once, on each database
#        TestFaultImpatientClients   20,000 requests on each database, each sent one to six times
#   R8   TestHistories               200,000 histories of all actions against the plain model, 2,000 of them on PostgreSQL
#        TestCouponHistories         500 histories of coupons on each database
#        TestTierFiguresOfHistories  500 histories of tiers on each database
#        TestMischief                500 histories of customers who undo each other's doings
#   R9   TestFaultJobs               100,000 members for whom something is due, four workers killed at work, on each database
#        TestFaultBulk               a reward claimed for 100,000 customers, the program killed about 45 times at it, on each database
#   R10  TestRace...                 10,000 customers each, on each database: acceptance, refund, burning against the jobs
#   R16  TestFaultStop               50 stops in good order under load, on each database
#   -    TestRebuildOfEverything     100,000 events of all kinds, folded anew, on each database
#   -    TestWalkWhileWriting        100,000 events walked by next and back while others are written, on each database
#   -    TestLeaderboard...          1,000,000 ranked customers on PostgreSQL; 100,000 counted from nothing
#   F2   TestContractHonesty         500 drawn requests for every operation of the documents, on each database
TORTURE ?= 500
RUN ?= .
.PHONY: torture
torture: ## long property tests and fault tests (about an hour), with their figures
	@log=$$(mktemp -t torture.XXXXXX) && echo "what is under way: tail -f $$log"; \
	LOYALTY_TORTURE=$(TORTURE) $(GO) test ./server ./server/loyalty ./server/cmd/loyalty ./store -run '$(RUN)' -v -timeout 3h -count 1 >$$log 2>&1; status=$$?; \
	sed -nE 's/^ *[a-z_]+_test\.go:[0-9]+: (figures: .*)/\1/p; /^ *--- FAIL|^(ok|FAIL|panic:|WARNING: DATA RACE)/p' $$log; \
	[ $$status -ne 0 ] || rm $$log; exit $$status

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
