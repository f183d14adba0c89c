# make, make demo, make test; `make help` lists the rest.
PREFIX  ?= /usr/local
DESTDIR ?=
SWIFT   ?= swift
BENCH_ARGS ?=
SOAK_ARGS ?=

BINARY   := .build/release/s3up
BUILT    := .build/release/built
MAP      := .build/s3up.map
DEBUG    := .build/debug/s3up
PORTABLE := .build/portable
SOURCES  := Package.swift $(shell find Sources -type f 2>/dev/null)
STORES   := Tests/Stores/stores.sh
JSON_LINES := $(CURDIR)/.build/json-lines
TRACES   := $(CURDIR)/.build/traces
FAILED   := $(CURDIR)/.build/failed
SOAK_TOOLS := slurmctld slurmd slurm-client munge parallel rsync strace iproute2
SHARE    := $(DESTDIR)$(PREFIX)/share
BIN_DIR  := $(DESTDIR)$(PREFIX)/bin
MAN_DIR  := $(SHARE)/man/man1
BASH_DIR := $(SHARE)/bash-completion/completions
ZSH_DIR  := $(SHARE)/zsh/site-functions
FISH_DIR := $(SHARE)/fish/vendor_completions.d

.DEFAULT_GOAL := build
.PHONY: help deps toolchain build deb portable demo test test-deb test-portable test-reproducible check lint sanitize install uninstall bench soak soak-credentials soak-simulator stores-install stores-start stores-stop clean

help:
	@echo 'make build         the release binary $(BINARY) (default)'
	@echo 'make deb           a Debian package of it for this release of Debian, in .build/deb; make test-deb tries it (as root)'
	@echo 'make portable      $(PORTABLE)/s3up: one file for any x86-64 Linux, with its own OpenSSL and libcurl (on Debian 12)'
	@echo 'make deps          install what is missing with apt-get'
	@echo 'make demo          build, then upload 256 MiB into a real S3 server on loopback and prove it'
	@echo 'make test          all tests, also against three real S3 servers and an STS on loopback'
	@echo 'make test-portable the tests of the command, on the portable binary; BARE="bookworm trixie" also runs it in systems'
	@echo '                   of these releases that have nothing else (as root)'
	@echo 'make test-reproducible  the portable file made again in another folder has the same bytes'
	@echo 'make check         format, warnings, all tests, thread and address sanitizer: what CI has to pass'
	@echo 'make bench         CPU, time and memory beside plain curl, in two minutes; BENCH_ARGS="--peers --work all" measures'
	@echo '                   all clients at all workloads, in most of an hour; BENCH_ARGS=--help for its options'
	@echo 'make soak          kill -9, bad lines and lost answers at a real S3 server, for half an hour; SOAK_ARGS=--help'
	@echo 'make soak-credentials  uploads of three minutes with credentials that live 20 seconds'
	@echo 'make soak-simulator  half a million uploads of the simulator, in a quarter of an hour'
	@echo 'make install       the binary, its man page and completions to PREFIX (/usr/local), under DESTDIR'
	@echo 'make uninstall     remove them'
	@echo 'make stores-start  start the S3 servers of the tests, for an hour at most; stores-stop ends them'
	@echo 'make clean         end servers that make started, remove .build'

deps:
	@Tests/Stores/deps.sh

toolchain:
	@command -v $(SWIFT) >/dev/null || { \
	  echo 'No swift on PATH: install the Swift 6.2 toolchain or a newer one, see https://www.swift.org/install/linux/' >&2; exit 1; }

# The linker's map is what the bill of materials is made of.
RELEASE = -c release --static-swift-stdlib --disable-local-rpath -Xlinker -Map="$(CURDIR)/$(MAP)"

build: deps toolchain
	$(SWIFT) build $(RELEASE) --product s3up
	@touch $(BUILT)

deb: $(BUILT)
	@Tests/Stores/deps.sh dpkg-dev
	@Sources/Packaging/deb.sh $(BINARY) $(MAP) .build/deb

portable: toolchain
	@Tests/Stores/deps.sh gcc libc6-dev dpkg-dev debian-archive-keyring
	@Sources/Packaging/portable.sh $(PORTABLE) $(SWIFT)

demo: build
	@Tests/Acceptance/Demo/demo.sh $(BINARY)

# The servers start after the build, so that their lifetime is used for the tests. The exit status is that of the tests.
# The library's tests use all cores, so tests that start programs and measure time run after them. They share Swift's pool
# with the tasks that they test: if all began at once, an upload would wait minutes for its next turn.
# Not started by `swift test`, because it says nothing if a signal has ended them.
# C is optimized as in the release build: the tests send gigabytes through its checksums. Debug information would take a
# tenth of the build; the names of functions are there without it. One process of the compiler for each core instead of one
# for every 25 files takes a fifth less CPU, because each reads all files of its module.
TESTED := -Xcc -O2 -debug-info-format none -Xswiftc -driver-batch-count -Xswiftc $(shell nproc)
SUITES = env NO_COLOR=1 .build/debug/s3upPackageTests.xctest --testing-library swift-testing --filter

test: deps toolchain
	$(SWIFT) build --build-tests $(TESTED)
	$(MAKE) --no-print-directory -j2 -Oline tested-library stores-install
	rm -rf $(JSON_LINES) $(TRACES) $(FAILED)
	$(STORES) run all -- $(MAKE) --no-print-directory -j2 -Oline S3UP_FAILED=$(FAILED) tested || { cat $(FAILED); exit 1; }
	$(MAKE) --no-print-directory $(CHECKED)

tested-library:
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 Tests/recap.sh $(SUITES) 'SupportTests|MultipartCoreTests'
tested-command:
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16 S3UP_JSON_LINES=$(JSON_LINES) S3UP_TRACES=$(TRACES) Tests/recap.sh $(SUITES) 's3upTests|RealStoreTests'

# What users touch besides the program. Some of it is tried beside the tests of the command, because both mostly wait; what
# looks at screens, a browser or the memory of a program is tried after them, two at a time. The lines and traces that the
# tests have written are checked at the end.
BESIDE := $(addprefix accepted-,tickets kernels jobs installed documented)
ALONE := $(addprefix accepted-,example browser screens)
CHECKED := accepted-traces accepted-json
.PHONY: tested tested-library tested-command accepted $(BESIDE) $(ALONE) $(CHECKED)
tested: tested-command $(ALONE) $(BESIDE)
accepted: $(BESIDE) $(ALONE)
# By its name alone, each runs at once.
$(if $(filter tested,$(MAKECMDGOALS)),$(ALONE): tested-command)

accepted-example:
	Tests/recap.sh Tests/Acceptance/Example/run.sh
accepted-tickets:
	Tests/recap.sh Tests/Acceptance/Tickets/scripts.sh $(DEBUG)
accepted-screens:
	Tests/recap.sh Tests/Acceptance/Screens/run.sh $(DEBUG)
accepted-browser:
	Tests/recap.sh Tests/Acceptance/Browser/run.sh $(DEBUG)
accepted-kernels:
	Tests/recap.sh Tests/Acceptance/Kernels/run.sh
accepted-traces:
	Tests/recap.sh Tests/Acceptance/Trace/check.sh $(TRACES)
accepted-json:
	Tests/recap.sh Tests/Acceptance/Json/check.sh $(JSON_LINES)
accepted-jobs:
	Tests/recap.sh Tests/Acceptance/Jobs/check.sh
accepted-installed:
	Tests/recap.sh Tests/Acceptance/Packaging/install.sh $(DEBUG)
accepted-documented:
	Tests/recap.sh Tests/Acceptance/docs.sh

# As root: it makes a system that has nothing else in a folder.
test-deb: deb
	@Tests/Stores/deps.sh debootstrap lintian
	$(STORES) run seaweedfs -- Tests/Acceptance/Packaging/deb.sh .build/deb $(BINARY) $(MAP) bookworm

test-portable: portable
	Tests/Acceptance/Packaging/lending.sh $(PORTABLE)
	Tests/Acceptance/Packaging/sbom.sh $(PORTABLE)/s3up.spdx.json $(PORTABLE)/s3up $(PORTABLE)/sources
	cd $(PORTABLE) && sha256sum --quiet -c s3up.sha256
	@! grep -qaF "$(CURDIR)" $(PORTABLE)/s3up || { echo 'the name of this folder is in the portable program' >&2; exit 1; }
	$(SWIFT) build --build-tests $(TESTED)
	S3UP_BINARY="$(CURDIR)/$(PORTABLE)/s3up" SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=12 Tests/recap.sh $(SUITES) s3upTests
	$(if $(BARE),@Tests/Stores/deps.sh debootstrap && $(STORES) run seaweedfs -- Tests/Acceptance/Packaging/bare.sh $(PORTABLE) $(BARE))

# The libraries are compiled a second time too, which takes about as long as `make portable` after `make clean`.
test-reproducible: portable
	Tests/Acceptance/Packaging/reproducible.sh $(PORTABLE) $(SWIFT)

check: lint test sanitize

# Package.swift makes warnings errors, in Swift and in C, so every build checks for them.
lint: toolchain
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests

# In separate build folders, so that the plain build stays. XCTest is off: no test uses it, and it leaks. One test at a
# time, because of those that measure time: everything is many times slower. The program ends while threads that nobody
# joins still exist, which is not a leak. Leaks are only looked for where no code but ours runs in the process: a thread
# that reads a child's JSON with Foundation, or waits for its end, may still own something when the tests end.
# The simulator's uploads have one thread: more of them would take hours and find nothing new here.
SANITIZED_UPLOADS = 5000

sanitize: deps toolchain
	S3UP_SIM_COUNT=$(SANITIZED_UPLOADS) TSAN_OPTIONS=report_thread_leaks=0:handle_sigbus=0 $(SWIFT) test --no-parallel --disable-xctest --sanitize=thread --scratch-path .build/thread-sanitizer --filter 'SupportTests|MultipartCoreTests|s3upTests'
	S3UP_SIM_COUNT=$(SANITIZED_UPLOADS) ASAN_OPTIONS=handle_sigbus=0 $(SWIFT) test --no-parallel --disable-xctest --sanitize=address --scratch-path .build/address-sanitizer --filter MultipartCoreTests
	ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0 $(SWIFT) test --no-parallel --disable-xctest --sanitize=address --scratch-path .build/address-sanitizer --filter s3upTests

# Its time is that of the last build, because the program keeps its own if nothing in it has changed, and would then be older
# than a page of the documentation: `make && sudo make install` builds nothing as root.
$(BUILT): $(SOURCES)
	$(MAKE) build

install: $(BUILT)
	install -d "$(BIN_DIR)" "$(MAN_DIR)" "$(BASH_DIR)" "$(ZSH_DIR)" "$(FISH_DIR)"
	install -m 755 $(BINARY) "$(BIN_DIR)/s3up"
	$(BINARY) help --man >"$(MAN_DIR)/s3up.1"
	$(BINARY) completions bash >"$(BASH_DIR)/s3up"
	$(BINARY) completions zsh >"$(ZSH_DIR)/_s3up"
	$(BINARY) completions fish >"$(FISH_DIR)/s3up.fish"
	chmod 644 "$(MAN_DIR)/s3up.1" "$(BASH_DIR)/s3up" "$(ZSH_DIR)/_s3up" "$(FISH_DIR)/s3up.fish"

uninstall:
	rm -f "$(BIN_DIR)/s3up" "$(MAN_DIR)/s3up.1" "$(BASH_DIR)/s3up" "$(ZSH_DIR)/_s3up" "$(FISH_DIR)/s3up.fish"

bench: build
	@python3 Tests/Bench/bench.py --binary $(BINARY) $(BENCH_ARGS)

soak: deps build
	@Tests/Stores/deps.sh $(SOAK_TOOLS)
	@python3 Tests/Faults/soak.py --binary $(BINARY) $(SOAK_ARGS)

# Uploads of three minutes with credentials that are valid for 20 s; `make test` does the same with seconds.
soak-credentials: deps toolchain
	S3UP_TOKEN_LIFE=20 S3UP_UPLOAD_SECONDS=180 $(SWIFT) test $(TESTED) --filter RenewalTests

# Ten times as many uploads as `make test` plays.
soak-simulator: deps toolchain
	S3UP_SIM_COUNT=500000 $(SWIFT) test $(TESTED) --filter SimulatorTests

stores-install:
	$(STORES) install all

stores-start: deps
	$(STORES) start all

stores-stop:
	$(STORES) stop all

clean:
	@if [ -d .build/stores ]; then $(STORES) clean all; fi
	rm -rf .build
