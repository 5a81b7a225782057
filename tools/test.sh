#!/bin/sh
# All tests: lint, the engine's, the Python package's, the whole program's, and a tenth of make torture. The last lines
# say which steps failed, and how long each took.
set -u
cd "$(dirname "$(dirname "$(readlink -f -- "$0")")")" || exit 3
engine=$(tools/setup.sh test) || exit 3
exec .strider/venv/bin/python tools/all_tests.py "$engine"
