# Every target sets up what it needs first; that takes a second when nothing changed.
.DEFAULT_GOAL := help
.PHONY: help setup up token host-keys redrive demo test faults any-order requests conformance mutations cost bench docs \
	lint synth deploy destroy smoke rehearse openapi lock clean

PORT ?= 4510
LIVES ?= 300x40
REQUESTS ?= 60
PYTHON ?= python3
STAGE ?= dev
export PYTHON_3_13 PORT NAME BASE_URL REPORT TOKEN STAGE QUEUE_URL

ours := .venv/bin/python
offline = $(ours) -m offline --port "$$PORT" $(if $(filter-out 0,$(AUTH)),--auth)
lock := .venv/bin/uv pip compile --quiet --universal --python-version 3.13 --generate-hashes --no-header

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

setup: ## install what the locks list: .venv, .engine, node_modules
	@$(PYTHON) scripts/setup.py $(if $(filter setup test,$(MAKECMDGOALS)),--browser)

up: setup ## run the whole stack on this machine, until Ctrl-C (PORT=4510; AUTH=1: refuse what AWS would)
	@$(offline) up

token: setup ## print an access token of a user of `make up` (NAME=alice)
	@$(if $(NAME),,echo 'Whose? make token NAME=alice' >&2; exit 2;) $(offline) token -- "$$NAME"

host-keys: setup ## print what makes a shell a host's, to be evaluated (NAME=demo)
	@$(if $(NAME),,echo 'Whose? make host-keys NAME=demo' >&2; exit 2;) $(offline) host-keys -- "$$NAME"

redrive: setup ## bring a queue's dead letters back (QUEUE_URL=…; docs/runbook.md)
	@$(if $(QUEUE_URL),,echo 'Which queue? make redrive QUEUE_URL=…' >&2; exit 2;) $(ours) -m scripts.redrive --queue "$$QUEUE_URL"

demo: setup ## walk through a task's life on a deployment of its own
	@$(ours) -m scripts.demo

test: setup ## run every test
	@$(ours) -m pytest

faults: setup ## cut, race, repeat and delay everything, everywhere (about half an hour; `make test` has a shorter form)
	@FAULTS=all REQUESTS=$(REQUESTS) $(ours) -m pytest tests/faults tests/integration/test_requests_at_large.py

any-order: setup ## try LIVES=300x40 lives of people, a host and time in any order (about ten minutes)
	@ANY_ORDER=$(LIVES) $(ours) -m pytest tests/integration/test_any_order.py

requests: setup ## send every route what nobody thought of, REQUESTS=60 right ones and wrong ones (about five minutes)
	@REQUESTS=$(REQUESTS) $(ours) -m pytest tests/integration/test_requests_at_large.py

conformance: setup ## hold a deployment to the contract (BASE_URL=…, or one of its own; CLAUSE=TS-5c; REPORT=file)
	@$(ours) -m pytest tests/conformance $(foreach clause,$(CLAUSE),--clause='$(clause)') \
		$(if $(BASE_URL),--base-url="$$BASE_URL",--inside) $(if $(REPORT),--clauses-report="$$REPORT")

mutations: setup ## break each promise of the contract once, in a copy, and see a test go red (CLAUSE=TS-5c)
	@$(ours) -m scripts.mutations $(CLAUSE)

lint: setup ## check style and types
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@$(ours) -m scripts.openapi.lint

synth: setup ## write the CloudFormation template of STAGE=dev to cdk.out (SETTINGS="name=value …")
	@$(ours) -m infra.cli synth --quiet -c stage="$$STAGE" $(foreach setting,$(SETTINGS),-c $(setting))

deploy: setup ## deploy STAGE=dev into the account of the shell's credentials (SETTINGS="name=value …")
	@$(ours) -m infra.cli deploy --all -c stage="$$STAGE" $(foreach setting,$(SETTINGS),-c $(setting))

destroy: setup ## take STAGE=dev away again; what is kept is named, and you are asked first
	@$(ours) -m scripts.destroy "$$STAGE"

smoke: setup ## take one task through a deployed stage (STAGE=dev, or BASE_URL=… TOKEN=…)
	@$(ours) -m scripts.smoke $(if $(BASE_URL),--base-url="$$BASE_URL",--stage="$$STAGE")

rehearse: setup ## deploy, change, break, roll back and destroy, where roles are enforced (about five minutes)
	@$(ours) -m pytest tests/e2e/test_rehearsal.py --rehearse-all -s

cost: setup ## measure anew what things cost, and write docs/cost.md
	@AWS_DEFAULT_REGION=us-east-1 PYTHONPATH=layers/shared/python $(ours) -m scripts.cost

docs: setup ## build the pages of docs/ into site/, which needs neither a server nor the internet
	@PYTHONPATH=layers/shared/python $(ours) -m scripts.site
	@NO_MKDOCS_2_WARNING=1 $(ours) -m mkdocs build && echo 'Open site/index.html'

bench: setup ## measure how fast and how even it is beside others, and write docs/performance.md (PART=cold; ROUNDS=3)
	@$(ours) -m bench $(if $(ROUNDS),--rounds="$(ROUNDS)") -- $(PART)

openapi: setup ## write the API's document anew from the code (RELEASE=1: later versions are compared with this one)
	@PYTHONPATH=layers/shared/python $(ours) -m scripts.openapi $(if $(RELEASE),--release)

lock: setup ## resolve requirements/*.txt anew from pyproject.toml
	$(lock) pyproject.toml -o requirements/layer.txt
	$(lock) pyproject.toml --group dev -o requirements/dev.txt
	$(lock) --group engine -o requirements/engine.txt

clean: ## remove everything that was installed, built or kept
	rm -rf .venv .engine node_modules cdk.out site .turnkeeper .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
