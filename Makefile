# What a newcomer and a continuous integration run both use. `make` alone lists it.
SWIFT ?= swift
# More flags for every Swift build, such as -Xswiftc -warnings-as-errors.
SWIFT_FLAGS ?=
# What `make bench` passes on, such as --sizes 10000,1000000.
BENCH_FLAGS ?=
# How long `make fuzz` runs each fuzzer.
FUZZ_SECONDS ?= 30
# How many shapes of structs `make fuzz` makes up, and the first one's number.
FUZZ_SHAPES ?= 10000
FUZZ_SHAPES_FROM ?= 1
# How many sequences of steps `make fuzz` runs against the contract of store engines, and the first one's number.
FUZZ_SEQUENCES ?= 10000
FUZZ_SEQUENCES_FROM ?= 1

SOURCES = Package.swift Sources Tests Plugins Benchmarks/Package.swift Benchmarks/Sources \
	Examples/Bookstore/Package.swift Examples/Bookstore/Sources Fuzzing/Sources

.PHONY: help demo test test-postgres test-faults test-tsan fuzz bench bench-postgres docs format lint clean dependencies

help:
	@echo "make demo     the book store, and a look into the file that it wrote"
	@echo "make test     all tests"
	@echo "make test-postgres  the tests of CoreData on PostgreSQL, with a list of those that do not apply there"
	@echo "make test-faults  migrations that are killed, or fail, at every operation on files"
	@echo "make test-tsan  the tests of CoreData under ThreadSanitizer"
	@echo "make fuzz     damaged format strings, archives, models and stores, for FUZZ_SECONDS=30 each; FUZZ_SHAPES=10000 made-up structs;"
	@echo "              FUZZ_SEQUENCES=10000 sequences of saves, fetches and batches, on SQLite and in dictionaries"
	@echo "make bench    our time against the SQLite C API's, work by work"
	@echo "make bench-postgres  our time against libpq by hand, on a server of its own"
	@echo "make docs     the documentation, into .build/documentation"
	@echo "make format   formats the sources;   make lint   checks them"
	@echo "make clean    removes what was built"

dependencies:
	@Scripts/install-dependencies

demo: dependencies
	@Scripts/demo

test: dependencies
	$(SWIFT) test $(SWIFT_FLAGS)

test-postgres: dependencies
	@Scripts/test-on-postgres $(SWIFT_FLAGS)

# `make test` tries a few of these points only.
test-faults: dependencies
	PIPPIN_ALL_FAULTS=1 $(SWIFT) test --filter MigrationFaultTests $(SWIFT_FLAGS)

# ThreadSanitizer needs a build of its own; it multiplies time and memory, so the tests run one suite after the other.
test-tsan: dependencies
	TSAN_OPTIONS="suppressions=$(CURDIR)/Scripts/thread-sanitizer-suppressions" \
	$(SWIFT) test --scratch-path .build/tsan --sanitize=thread --no-parallel --filter CoreDataTests $(SWIFT_FLAGS)

fuzz: dependencies
	@FUZZ_SECONDS=$(FUZZ_SECONDS) Fuzzing/run
	PIPPIN_SHAPES=$(FUZZ_SHAPES) PIPPIN_SHAPES_SEED=$(FUZZ_SHAPES_FROM) $(SWIFT) test --filter RandomShapeTests $(SWIFT_FLAGS)
	PIPPIN_CONTRACT=$(FUZZ_SEQUENCES) PIPPIN_CONTRACT_SEED=$(FUZZ_SEQUENCES_FROM) $(SWIFT) test --filter SQLiteContractTests $(SWIFT_FLAGS)

bench: dependencies
	@$(SWIFT) run --package-path Benchmarks -c release --quiet pippin-benchmarks $(BENCH_FLAGS)

bench-postgres: dependencies
	@Scripts/bench-postgres $(BENCH_ROWS)

docs: dependencies
	@Scripts/build-docs

format:
	$(SWIFT) format --in-place --recursive --parallel $(wildcard $(SOURCES))

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(wildcard $(SOURCES))

clean:
	rm -rf .build Examples/*/.build Benchmarks/.build
	rm -f Examples/Bookstore/bookstore.sqlite*
