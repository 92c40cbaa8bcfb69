# Everything is installed into .venv, from requirements.lock. PYTHON is the Python (3.11 or newer) that makes .venv.
PYTHON ?= python3
BIN = .venv/bin
# A test's compiled code is kept, whatever the environment says: each of the test run's processes would compile it anew.
export PYTHONDONTWRITEBYTECODE =
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable

help:
	@echo 'make run     start the service on http://127.0.0.1:8000'
	@echo 'make test    run the tests'
	@echo 'make release-check   run the tests; a story that passed only when it was run again fails too'
	@echo 'make check   lint, types, import contracts'
	@echo 'make soak    kill it 200 times, three ways, and compare what is left; 100 random sequences by all ways in'
	@echo 'make bench   measure, and print the tables'
	@echo 'make eval    run 80 tasks on a real model (OPENAI_API_KEY), scored by the state of the drive'
	@echo 'make snapshots   write the recorded requests in tests/snapshots anew; read the difference'
	@echo 'make bench-search COLLECTIONS="DIR ..."   how well search finds, on judged collections'
	@echo 'make lock    make requirements.lock and package-lock.json anew'

run: .venv/installed
	@exec $(BIN)/drive-agent serve

# A story of a browser or of killed processes that fails is run once more at the end (tests/second_run.py).
test release-check: .venv/installed-node .venv/installed-webdav .venv/installed-browser
	$(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder $(if $(filter release-check,$@),--release)

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
	SOAK_KILLS=200 SOAK_EXAMPLES=100 SOAK_SEED=$(SEED) $(BIN)/python -m pytest tests/e2e/test_soak.py tests/e2e/test_killed_doors.py \
		tests/properties/test_doors.py tests/properties/test_kills.py \
		tests/drive_server/knowledge/ingest/test_damaged_index.py

bench: .venv/installed-bench
	$(BIN)/python -m benchmarks

# The model is that of OPENAI_API_KEY, OPENAI_BASE_URL and AGENT_MODEL. ARGUMENTS: e.g. '--set everyday --language zh --json out.json'.
eval: .venv/installed
	@$(BIN)/python -m benchmarks.evaluation $(ARGUMENTS)

snapshots: .venv/installed-test
	$(BIN)/python -m tests.snapshots

# COLLECTIONS: folders of judged collections; QUERIES: the file of queries in them, if not queries.jsonl.
bench-search: .venv/installed-test
	$(BIN)/python -m benchmarks.search.retrieval $(COLLECTIONS:%=--collection %) $(QUERIES:%=--queries %)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Drive Agent needs Python 3.11 or newer. Name one with: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: $(BIN)/python pyproject.toml requirements.lock
	@echo 'Installing into .venv. The first time takes some minutes.'
	$(INSTALL) .
	@$(BIN)/python -m compileall -q api drive_server graph
	@touch $@

.venv/installed-test: $(BIN)/python pyproject.toml requirements.lock
	@echo 'Installing into .venv, with what the tests need. The first time takes some minutes.'
	$(INSTALL) '.[test]'
	@touch .venv/installed $@

.venv/installed-bench: .venv/installed-node
	@echo 'Installing into .venv, with what the benchmarks compare with.'
	$(INSTALL) '.[bench]'
	@touch $@

# After the tests' packages, not beside them: `make --jobs` would have two installations at once.
.venv/installed-dev: .venv/installed-test
	@echo 'Installing into .venv, with the development tools.'
	$(INSTALL) '.[dev]'
	@touch $@

# Node itself comes with the tests' Python packages; what runs on it is named in tests/node/package.json.
.venv/installed-node: .venv/installed-test tests/node/package.json tests/node/package-lock.json
	$(BIN)/python -m tests.node.install
	@touch $@

# litmus, rclone and fuse3, of Debian: what WebDAV is tried with; and the shells zsh and fish.
.venv/installed-webdav: .venv/installed-test tests/conformance/webdav/install.py
	$(BIN)/python -m tests.conformance.webdav.install
	@touch $@

# Chromium, of Debian, twice: the headless shell for most stories of the page, and the whole of it for PDF.
.venv/installed-browser: .venv/installed-test tests/web/browser/install.py
	$(BIN)/python -m tests.web.browser.install
	@touch $@

# The project itself is listed by pip-compile because an extra names it; where it lies is nobody else's business.
lock:
	rm -rf build/lock
	mkdir -p build/lock
	$(PYTHON) -m venv build/lock/venv
	build/lock/venv/bin/python -m pip install --quiet --disable-pip-version-check pip-tools
	grep -v '^drive-agent ' requirements.lock > build/lock/requirements.lock || true
	build/lock/venv/bin/pip-compile --quiet --all-extras --strip-extras --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file build/lock/requirements.lock pyproject.toml
	grep -v '^drive-agent ' build/lock/requirements.lock > requirements.lock
	rm -rf build/lock
	$(MAKE) .venv/installed-test
	$(BIN)/python -m tests.node.install --lock

.PHONY: help run test release-check check check-style check-types check-imports check-page soak bench eval bench-search lock snapshots
