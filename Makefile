# What a newcomer and a continuous integration run both use. `make` alone lists it.
SWIFT ?= swift
# More flags for every Swift build, such as -Xswiftc -warnings-as-errors.
SWIFT_FLAGS ?=
# What `make bench` passes on, such as --sizes 10000,1000000.
BENCH_FLAGS ?=
# What `make growth` passes on, such as --only relationships: --sizes 2000,64000.
GROWTH_FLAGS ?=
# What it passes on to the matrix of shapes, such as --only "fetch, Wide" --rounds 9.
MATRIX_FLAGS ?=
# A checkout of GRDB that `make bench` measures, too, on the same stores.
GRDB ?=
# Where `make install` puts things.
PREFIX ?= /usr/local
# Where `make test-browser` keeps screenshots; nowhere without it.
PICTURES ?=
# How long `make fuzz` runs each fuzzer.
FUZZ_SECONDS ?= 30
# How many shapes of structs `make fuzz` makes up, and the first one's number.
FUZZ_SHAPES ?= 10000
FUZZ_SHAPES_FROM ?= 1
# How many sequences of steps `make fuzz` runs against the contract of store engines, and the first one's number.
FUZZ_SEQUENCES ?= 10000
FUZZ_SEQUENCES_FROM ?= 1
# How many series of saves `make fuzz` makes up, each done as rows and as objects.
FUZZ_SAVES ?= 1000
# How many times `make fuzz` lets three contexts change and save the same objects at random, and the first one's number.
FUZZ_RIVALS ?= 2000
FUZZ_RIVALS_FROM ?= 1

SOURCES = Package.swift Sources Tests Plugins Benchmarks/Package.swift Benchmarks/Sources \
	Examples/Bookstore/Package.swift Examples/Bookstore/Sources Fuzzing/Sources

# The seed of `make test-cluster`, which prints the one that it makes up; how many faults there are at most, and for how many seconds they come.
CLUSTER_SEED ?=
CLUSTER_FAULTS ?= 18
CLUSTER_SECONDS ?= 180

# How many seeds `make test-sync` runs and the first one, with how many devices, and how many steps each.
SEEDS ?= 1000
SEEDS_FROM ?= 1
DEVICES ?= 3
SYNC_STEPS ?= 600

# How many faults and saves `make test-sync-http` has.
HTTP_FAULTS ?= 1000
HTTP_SAVES ?= 10000

.PHONY: help demo test test-browser test-debian13 test-cluster test-sync test-sync-http install deb test-postgres test-faults test-tsan fuzz bench growth bench-postgres docs format lint clean \
	dependencies

help:
	@echo "make demo     the book store in a file and on a PostgreSQL server, a look into them, and a web page"
	@echo "make test     all tests"
	@echo "make test-browser  stores shown in Chromium, and attacks on the pages; PICTURES=FOLDER keeps screenshots"
	@echo "make install  pippin and the programs beside it, the manual page and completions, below PREFIX=/usr/local"
	@echo "make deb      a Debian package of them, into .build"
	@echo "make test-postgres  the tests of CoreData on PostgreSQL, with a list of those that do not apply there"
	@echo "make test-debian13  tries a build with the Swift of Debian 13, in a folder that debootstrap fills (needs root)"
	@echo "make test-cluster  three PostgreSQL servers under Patroni, which are killed, stopped, cut off and filled while clients save;"
	@echo "              CLUSTER_FAULTS=18 CLUSTER_SECONDS=180 CLUSTER_SEED=…"
	@echo "make test-sync  devices and a server that sync in memory, with kills, a bad network and wrong clocks; SEEDS=1000 DEVICES=3"
	@echo "make test-sync-http  devices and a server over HTTP: a thousand faults of the network, ten thousand saves of users with rights of their own;"
	@echo "              HTTP_FAULTS=1000 HTTP_SAVES=10000"
	@echo "make test-faults  migrations that are killed, or fail, at every operation on files"
	@echo "make test-tsan  the tests of CoreData and SwiftData under ThreadSanitizer"
	@echo "make fuzz     damaged format strings, archives, models and stores, for FUZZ_SECONDS=30 each; FUZZ_SHAPES=10000 made-up structs;"
	@echo "              FUZZ_SAVES=1000 series of saves, as rows and as objects;"
	@echo "              FUZZ_RIVALS=2000 times three contexts that change the same objects;"
	@echo "              FUZZ_SEQUENCES=10000 sequences of saves, fetches and batches, on SQLite and in dictionaries"
	@echo "make bench    our time against the SQLite C API's, work by work; GRDB=/path/to/GRDB.swift measures GRDB, too"
	@echo "make growth   whether an item takes longer among many than among few, for each kind of work; GROWTH_FLAGS=--list names them"
	@echo "make bench-postgres  our time against libpq by hand, on a server of its own"
	@echo "make docs     the documentation as a site of files with a search, into .build/documentation"
	@echo "make format   formats the sources;   make lint   checks them"
	@echo "make clean    removes what was built"

dependencies:
	@Scripts/install-dependencies

demo:
	@Scripts/install-dependencies --demo
	@Scripts/demo

test: dependencies
	@echo "Building the tests, which takes about twenty minutes from scratch on two cores; [9/300] says how far it is."
	$(SWIFT) build --build-tests $(SWIFT_FLAGS)
	@echo "Running the tests, which takes about fifteen minutes on two cores; each has a line when it begins and when it ends."
	$(SWIFT) test --skip-build $(SWIFT_FLAGS)

# Programs of the tests' own build; the script drives Chromium.
test-browser: dependencies
	@for product in pippin pippin-browse BrowserChild; do $(SWIFT) build $(SWIFT_FLAGS) --product $$product || exit 1; done
	@Tests/Browser/run "$$($(SWIFT) build --show-bin-path)" $(if $(PICTURES),--pictures "$(PICTURES)")

# Swift 6.0.3, SQLite 3.46 and PostgreSQL 17 of Debian 13, in a folder.
test-debian13:
	@Scripts/test-debian13

test-cluster:
	@Scripts/install-dependencies --cluster
	$(SWIFT) build $(SWIFT_FLAGS) --product ClusterTest
	@"$$($(SWIFT) build --show-bin-path)/ClusterTest" --faults $(CLUSTER_FAULTS) --seconds $(CLUSTER_SECONDS) \
		$(if $(CLUSTER_SEED),--seed $(CLUSTER_SEED))

# Optimized, as it runs many seeds; first it shows that each broken rule is seen.
test-sync:
	$(SWIFT) build $(SWIFT_FLAGS) -c release --product SyncTest
	@"$$($(SWIFT) build -c release --show-bin-path)/SyncTest" --broken 60
	@"$$($(SWIFT) build -c release --show-bin-path)/SyncTest" --seeds $(SEEDS) --from $(SEEDS_FROM) --devices $(DEVICES) \
		--steps $(SYNC_STEPS)

test-sync-http: dependencies
	PIPPIN_SYNC_FAULTS=$(HTTP_FAULTS) PIPPIN_SYNC_RIGHTS=$(HTTP_SAVES) $(SWIFT) test $(SWIFT_FLAGS) --filter "HTTPSyncTests|HTTPFaultTests|HTTPRightsTests|WireTests"

install:
	@for product in pippin pippin-browse pippin-shell pippin-postgres; do $(SWIFT) build -c release --product $$product || exit 1; done
	@Scripts/install-pippin "$$($(SWIFT) build -c release --show-bin-path)" "$(PREFIX)"

deb: dependencies
	@Scripts/build-deb

test-postgres: dependencies
	@Scripts/test-on-postgres $(SWIFT_FLAGS)

# `make test` tries a few of these points only.
test-faults: dependencies
	PIPPIN_ALL_FAULTS=1 $(SWIFT) test --filter MigrationFaultTests $(SWIFT_FLAGS)

# ThreadSanitizer needs a build of its own; it multiplies time and memory, so the tests run one suite after the other.
test-tsan: dependencies
	TSAN_OPTIONS="suppressions=$(CURDIR)/Scripts/thread-sanitizer-suppressions" \
	$(SWIFT) test --scratch-path .build/tsan --sanitize=thread --no-parallel --filter 'CoreDataTests|SwiftDataTests' $(SWIFT_FLAGS)

fuzz: dependencies
	@FUZZ_SECONDS=$(FUZZ_SECONDS) Fuzzing/run
	PIPPIN_SHAPES=$(FUZZ_SHAPES) PIPPIN_SHAPES_SEED=$(FUZZ_SHAPES_FROM) $(SWIFT) test --filter RandomShapeTests $(SWIFT_FLAGS)
	PIPPIN_SAVES=$(FUZZ_SAVES) $(SWIFT) test --filter WaysOfSavingTests $(SWIFT_FLAGS)
	PIPPIN_RIVALS=$(FUZZ_RIVALS) PIPPIN_RIVALS_SEED=$(FUZZ_RIVALS_FROM) $(SWIFT) test --filter RivalContextsTests $(SWIFT_FLAGS)
	PIPPIN_CONTRACT=$(FUZZ_SEQUENCES) PIPPIN_CONTRACT_SEED=$(FUZZ_SEQUENCES_FROM) $(SWIFT) test --filter SQLiteContractTests $(SWIFT_FLAGS)

bench: dependencies
	@GRDB_PATH="$(GRDB)" $(SWIFT) run --package-path Benchmarks -c release --quiet pippin-benchmarks $(BENCH_FLAGS)
	@GRDB_PATH="$(GRDB)" $(SWIFT) run --package-path Benchmarks -c release --quiet pippin-matrix $(MATRIX_FLAGS)

# What an item takes at two sizes; GROWTH_FLAGS="--only live:" for some kinds of work.
growth: dependencies
	@$(SWIFT) run --package-path Benchmarks -c release --quiet pippin-growth $(GROWTH_FLAGS)

bench-postgres: dependencies
	@Scripts/bench-postgres $(BENCH_ROWS)

docs: dependencies
	@Scripts/build-docs

# Two hundred files at a time, since the formatter opens all that it is given at once.
FORMATTED = find $(wildcard $(SOURCES)) -name '.?*' -prune -o -name '*.swift' -print0 | xargs -0 -n 200

format:
	@$(FORMATTED) $(SWIFT) format --in-place --parallel

lint:
	@$(FORMATTED) $(SWIFT) format lint --strict --parallel
	@Scripts/draw-house --check Documentation/Pictures/house.svg
	@Scripts/check-comments
	@Scripts/check-test-names

clean:
	rm -rf .build Examples/*/.build Benchmarks/.build
	rm -f Examples/Bookstore/bookstore.sqlite* Examples/Bookstore/trips.sqlite*
