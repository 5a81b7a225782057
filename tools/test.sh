#!/bin/sh
# All tests: lint, the engine's, the Python package's, the whole program's. One that fails does not keep the others from
# running; the last lines of each say what was skipped and why.
set -u
cd "$(dirname "$(dirname "$(readlink -f -- "$0")")")" || exit 3
engine=$(tools/setup.sh test) || exit 3
export STRIDER_ENGINE="$engine"
build=${engine%/engine/strider-engine}
failed=

step() { # NAME COMMAND...
  name=$1
  shift
  printf '\n=== %s\n' "$name"
  "$@" || failed="$failed $name"
}

step lint tools/lint.sh check
step engine ctest --test-dir "$build" --output-on-failure
step python .strider/venv/bin/python -m pytest
[ -z "$failed" ] || { printf '\nfailed:%s\n' "$failed"; exit 1; }
