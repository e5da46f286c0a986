# make test is all a stranger needs; make help lists the rest.

GO      ?= go
GOLANGCI ?= $(GO) tool -modfile=.golangci.mod golangci-lint
FUZZTIME ?= 20s
TIMEOUT ?= 25m

# The race detector needs cgo and a C compiler; without them tests run without it.
HAS_RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null && echo yes)
RACE     := $(if $(HAS_RACE),-race)

# The search engines run a suite of thousands of queries in several ways. All of
# it under the race detector takes ten minutes and more, so it runs whole without,
# and in short with it.
SUITES_LIST = github.com/quoin-cms/quoin/core/search/embedded github.com/quoin-cms/quoin/core/search/typesense
SUITES      = $(subst $() $(),|,$(SUITES_LIST))

# Packages whose tests compare with golden files.
GOLDEN = $(shell grep -rl --include='*_test.go' --exclude-dir=testkit 'testkit\.Golden\b' . | xargs -r -n1 dirname | sort -u)

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

.PHONY: test
test: services format-check vet lint go-test generated-check ## everything: services, format, vet, lint, tests with the race detector, generated files

.PHONY: go-test
go-test: ## the Go tests only
	@[ -n "$(RACE)" ] || echo "NOTE: no C compiler, so the tests run WITHOUT the race detector"
	$(GO) test $(RACE) -timeout $(TIMEOUT) $$($(GO) list ./... | grep -vxE '$(SUITES)')
	$(GO) test $(RACE) -short -timeout $(TIMEOUT) $(SUITES_LIST)
	$(GO) test -timeout $(TIMEOUT) $(SUITES_LIST)

.PHONY: services
services: ## install PostgreSQL and MinIO for the tests when they are missing and that is possible
	@.ci/services

.PHONY: format-check
format-check:
	@files="$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' 2>/dev/null || find . -name '*.go'))"; \
	if [ -n "$$files" ]; then echo "not formatted, run make format:"; echo "$$files"; exit 1; fi

.PHONY: format
format: ## format every Go file
	gofmt -w $$(git ls-files -co --exclude-standard '*.go' 2>/dev/null || find . -name '*.go')

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: lint
lint: ## golangci-lint at the version pinned in .golangci.mod
	$(GOLANGCI) run ./...

.PHONY: generate
generate: ## make generated files and golden files anew
	$(GO) generate ./...
	@[ -z "$(GOLDEN)" ] || $(GO) test $(GOLDEN) -count=1 -update

# Golden files are compared by the tests; here what go generate makes.
.PHONY: generated-check
generated-check:
	@if ! git rev-parse --git-dir >/dev/null 2>&1; then echo "NOTE: no git, so generated files are not checked"; exit 0; fi; \
	before="$$(git status --porcelain; git diff | cksum)"; \
	$(GO) generate ./...; \
	after="$$(git status --porcelain; git diff | cksum)"; \
	if [ "$$before" != "$$after" ]; then echo "generated files are out of date, run make generate:"; git status --short; exit 1; fi

.PHONY: chart
chart: ## render and check the Helm chart; a module of its own, whose dependencies are large
	cd deployments/helm/test && $(GO) test ./...

.PHONY: build
build: ## one static binary, bin/quoin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/quoin .

.PHONY: reproducible
reproducible: ## build the commit twice in different folders and compare the sums
	@.ci/reproducible

.PHONY: vulnerabilities
vulnerabilities: ## known vulnerabilities in what the server calls; needs the network
	@.ci/vulnerabilities

.PHONY: bench
bench: ## every Go benchmark, with allocations
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	@set -e; grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' . | sed 's#/[^/]*:[0-9]*:func # #' | while read -r package target; do \
		echo "$$package $$target"; $(GO) test "$$package" -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME); \
	done

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist
