# Everything is installed into .venv, from requirements.lock and the folder deploy/requirements, whose hashes pip checks; what
# comes as source is built by what deploy/requirements/build.lock names. PYTHON is the Python (3.11 or newer) that makes .venv.
PYTHON ?= python3
BIN = .venv/bin
# A test's compiled code is kept, whatever the environment says: each of the test run's processes would compile it anew.
export PYTHONDONTWRITEBYTECODE =
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALL = $(PIP) --no-build-isolation --require-hashes --requirement

help:
	@echo 'make run     start the service on http://127.0.0.1:8000'
	@echo 'make test    run the tests'
	@echo 'make test-postgresql   run the tests of the drive and the service on PostgreSQL, for every night'
	@echo 'make test-s3   run the tests of contents in a bucket on Ceph, for every night'
	@echo 'make test-agent-chat-ui SOURCE=FOLDER   build agent-chat-ui from a clone, and run its stories, for every night'
	@echo 'make test-plain   run the tests without what makes them fast (tests/once.py), for every night'
	@echo 'make release-check   run the tests; a story that passed only when it was run again fails too'
	@echo 'make check   lint, types, import contracts'
	@echo 'make soak    kill it 200 times, three ways, stop it for 20 seconds, and compare what is left; 100 random sequences by all ways in'
	@echo 'make bench   measure, and print the tables'
	@echo 'make eval    run 140 tasks three times on a real model (OPENAI_API_KEY), scored by the state of the drive'
	@echo 'make eval-local MODEL=FILE.gguf   ten simple requests to a model of this machine, by llama.cpp'
	@echo 'make story-local MODEL=FILE.gguf   one conversation with such a model, for every night'
	@echo 'make snapshots   write the recorded requests in tests/snapshots anew; read the difference'
	@echo 'make bench-search COLLECTIONS="DIR ..."   how well search finds, on judged collections'
	@echo 'make lock    make requirements.lock, deploy/requirements/ and package-lock.json anew, with hashes'
	@echo 'make page    join the files of the page into few: `make run` sends these until the page changes'
	@echo 'make image   build the image, with these files of the page'
	@echo 'make release     build, check and try a version in dist/, with its licences and parts; date its block of the changelog'
	@echo 'make advisories   ask whether a locked package has a known weakness'

run: .venv/installed
	@exec $(BIN)/drive-agent serve

# The tests whose statements differ most, run a second time on PostgreSQL, whose server is one of the tests' Python
# packages; `make test-postgresql` runs all of them on it.
ON_POSTGRESQL = tests/drive_server/kernel/sql tests/drive_server/services/journal \
	$(addprefix tests/drive_server/services/files/test_,conflicts.py copying.py service.py trash.py trash_expiry.py) \
	$(addprefix tests/drive_server/services/sharing/test_,service.py links.py link_visits.py link_downloads.py) \
	$(addprefix tests/drive_server/services/,undo/test_service.py uploads/test_two_drives.py identity/test_service.py) \
	$(addprefix tests/drive_server/storage/test_,aside.py collector.py installation.py process_locks.py) \
	$(addprefix tests/api/,events/test_log.py approvals/test_approving.py metrics/test_scrape.py test_cancelled_changes.py) \
	$(addprefix tests/api/runs/test_,log_before_state.py parked.py run_events.py stopping.py retention.py)

# The tests of storage need no browser: with `make --jobs` they run while those are installed.
test release-check: test-storage test-most
release-check: RELEASE = --release

# A story of a browser or of killed processes that fails is run once more at the end (tests/second_run.py).
test-most: .venv/installed-node .venv/installed-webdav .venv/installed-browser | test-storage
	$(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder $(RELEASE)

test-storage: .venv/installed-test
	TEST_DATABASE=postgresql $(BIN)/python -m pytest --numprocesses 3 --dist loadfile $(ON_POSTGRESQL)

# For every night: all tests of the drive and of the service on PostgreSQL.
test-postgresql: .venv/installed-test
	TEST_DATABASE=postgresql $(BIN)/python -m pytest --numprocesses 4 --dist loadfile tests/drive_server tests/api

# The tests of contents in a bucket, which otherwise is one in memory, with one of Ceph that is away for a minute.
ON_S3 = tests/conformance/s3 $(addprefix tests/drive_server/storage/test_,blobs.py aside.py collector.py) \
	tests/drive_server/kernel/sql/test_server_state.py tests/drive_server/services/uploads tests/api/cli/backups/test_servers.py tests/api/installation

# For every night.
test-s3: .venv/installed-ceph
	TEST_BUCKET=ceph SOAK_AWAY_SECONDS=60 SOAK_KILLS=20 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(ON_S3)

# For every night: a build takes two minutes of CPU, and npm has only a version of agent-chat-ui from before approvals.
# SOURCE: a clone of github.com/langchain-ai/agent-chat-ui; its packages come from npm by its own lock file.
test-agent-chat-ui: .venv/installed-test .venv/installed-browser
	$(BIN)/python -m tests.conformance.agent_chat_ui.install $(SOURCE)
	$(BIN)/python -m pytest tests/conformance/agent_chat_ui

# For every night: tests/once.py and tests/forked.py change speed only, which this shows. Starting programs anew takes longer.
test-plain: .venv/installed-node .venv/installed-webdav .venv/installed-browser
	PLAIN=1 $(BIN)/python -m pytest --timeout 600 --numprocesses 4 --dist loadfile --no-loadscope-reorder

check: check-style check-types check-imports check-page

check-style: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types: .venv/installed-dev
	$(BIN)/basedpyright

check-imports: .venv/installed-dev
	$(BIN)/lint-imports

check-page: .venv/installed-dev .venv/installed-node
	$(BIN)/python -m tests.web.check

# For every night: the tests kill it only 10 and 20 times, and try a few sequences. SEED begins another series.
SEED ?= soak
soak: .venv/installed-test
	SOAK_KILLS=200 SOAK_EXAMPLES=100 SOAK_STOP_SECONDS=20 SOAK_AWAY_SECONDS=30 SOAK_SEED=$(SEED) $(BIN)/python -m pytest \
		tests/e2e/test_soak.py tests/e2e/test_killed_doors.py tests/e2e/test_stops.py tests/e2e/pair \
		tests/properties/test_doors.py tests/properties/test_kills.py tests/properties/test_races.py \
		tests/benchmarks/evaluation/test_perfect_model.py tests/benchmarks/evaluation/test_careless_model.py tests/drive_server/http/dav/test_saves.py \
		tests/drive_server/knowledge/ingest/test_damaged_index.py

bench: .venv/installed-bench
	$(BIN)/python -m benchmarks

# The model is that of OPENAI_API_KEY, OPENAI_BASE_URL and AGENT_MODEL. ARGUMENTS: e.g. '--set office --language zh --runs 1 --json out.json'.
eval: .venv/installed-test
	@$(BIN)/python -m benchmarks.evaluation $(ARGUMENTS)

# MODEL: any GGUF file of a model that was trained for tools. ARGUMENTS=--fresh: twenty other requests.
eval-local: .venv/installed-local
	@$(BIN)/python -m benchmarks.agent.local_model $(ARGUMENTS) $(MODEL)

# For every night: one conversation of two turns, with a call and an approval, on a real model; fails if it goes wrong.
story-local: .venv/installed-local
	@$(BIN)/python -m benchmarks.agent.local_model --story $(MODEL)

snapshots: .venv/installed-test
	$(BIN)/python -m tests.snapshots

# COLLECTIONS: folders of judged collections; QUERIES: the file of queries in them, if not queries.jsonl.
bench-search: .venv/installed-test
	$(BIN)/python -m benchmarks.search.retrieval $(COLLECTIONS:%=--collection %) $(QUERIES:%=--queries %)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Drive Agent needs Python 3.11 or newer. Name one with: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: $(BIN)/python pyproject.toml requirements.lock deploy/requirements/build.lock
	@echo 'Installing into .venv. The first time takes some minutes.'
	$(PIP) --require-hashes --requirement deploy/requirements/build.lock
	$(INSTALL) requirements.lock
	$(PIP) --no-build-isolation --no-deps --editable .
	@$(BIN)/python -m tests.packages.verify
	@$(BIN)/python -m compileall -q api drive_server graph
	@touch $@

.venv/installed-test: .venv/installed deploy/requirements/extras.lock deploy/requirements/test.lock
	@echo 'Installing into .venv, with what the tests need. The first time takes some minutes.'
	$(INSTALL) deploy/requirements/test.lock
	@touch $@

.venv/installed-bench: .venv/installed-node
	@echo 'Installing into .venv, with what the benchmarks compare with.'
	$(INSTALL) deploy/requirements/bench.lock
	@touch $@

.venv/installed-local: .venv/installed-test deploy/requirements/local.lock
	@echo 'Installing into .venv, with the server for models of this machine.'
	$(INSTALL) deploy/requirements/local.lock
	@touch $@

# After the tests' packages, not beside them: `make --jobs` would have two installations at once.
.venv/installed-dev: .venv/installed-test
	@echo 'Installing into .venv, with the development tools.'
	$(INSTALL) deploy/requirements/dev.lock
	@touch $@

# Node itself comes with the tests' Python packages; what runs on it is named in tests/node/package.json.
.venv/installed-node: .venv/installed-test tests/node/package.json tests/node/package-lock.json
	$(BIN)/python -m tests.node.install
	@touch $@

# litmus, rclone and fuse3, of Debian: what WebDAV is tried with; and the shells zsh and fish.
.venv/installed-webdav: .venv/installed-test tests/conformance/webdav/install.py
	$(BIN)/python -m tests.conformance.webdav.install
	@touch $@

# Ceph, of Debian: an object store that speaks S3. Without it `make test` skips the tests that need it, but not for CI.
.venv/installed-ceph: .venv/installed-test tests/conformance/s3/install.py
	$(BIN)/python -m tests.conformance.s3.install
	@touch $@

# Chromium, of Debian, twice: the headless shell for most stories of the page, and the whole of it for PDF. After
# the tools of WebDAV, not beside them: Debian's packages have one installation at a time.
.venv/installed-browser: .venv/installed-test tests/web/browser/install.py | .venv/installed-webdav
	$(BIN)/python -m tests.web.browser.install
	@touch $@

# Locked versions stay; delete requirements.lock and the files in deploy/requirements to have the newest ones.
lock:
	rm -rf build/lock
	mkdir -p build/lock
	$(PYTHON) -m venv build/lock/venv
	build/lock/venv/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(PYTHON) -m tests.packages.lock build/lock/venv/bin/uv
	rm -rf build/lock
	$(MAKE) .venv/installed-test
	$(BIN)/python -m tests.node.install --lock

# A release has this already. A page that was changed afterwards is sent as it lies in api/web.
page: .venv/installed-node
	$(BIN)/python -m tests.web.bundle

# From the last commit and the page's bundle. BUILDER: podman, docker, or a program with the same command line.
BUILDER ?= podman
image: page
	mkdir -p build
	git archive --output build/image.tar HEAD
	tar --append --file build/image.tar api/page/bundle
	$(BUILDER) build --file deploy/Containerfile --tag drive-agent - < build/image.tar

# The version is that of pyproject.toml. The tools come by name and version, into a folder that goes again.
release: .venv/installed-node
	$(BIN)/python -m tests.packages.release

# Asks a service of advisories about each locked package; fails on a finding, and says so where it could not ask.
advisories: $(BIN)/python
	@$(BIN)/python -m tests.packages.advisories

.PHONY: help run test test-most test-storage test-postgresql test-s3 test-plain test-agent-chat-ui release-check check check-style check-types check-imports check-page soak bench eval eval-local story-local bench-search lock page image release advisories snapshots
