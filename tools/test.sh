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
  began=$(date +%s)
  "$@" || failed="$failed $name"
  printf '=== %s took %s s\n' "$name" $(($(date +%s) - began))
}

engine_tests() {
  if [ -d "$build/tests/engine" ]; then
    PATH=$PATH:$PWD/.strider/venv/bin ctest --test-dir "$build" --no-tests=error --output-on-failure --parallel 2
  else
    echo "skipped: GoogleTest is missing (Debian package libgtest-dev)"
    [ "${STRIDER_REQUIRE_ALL:-}" != 1 ]
  fi
}

compilations() { # waits for them and shows what they print
  wait "$compiling"
  code=$?
  compiling=
  cat build/compilations.log
  return $code
}

step lint tools/lint.sh check
step engine engine_tests
setsid tools/compilations.sh >build/compilations.log 2>&1 &
compiling=$!
trap '[ -z "$compiling" ] || kill -- "-$compiling"' EXIT
trap 'exit 130' INT TERM
# Two at a time, and the tests of a file one after the other, since they share servers and runs. Most are real processes on
# real clocks, which whatever else the machine does can disturb: one that fails is run once more, and named at the end.
step python .strider/venv/bin/python -m pytest --numprocesses 2 --dist loadfile --ignore tests/system/calibration \
  --reruns 1 --reruns-delay 5 --durations 60 --durations-min 3
step compilations compilations
step sanitizers .strider/venv/bin/python tools/sanitizers.py
# Some of those that a test of C++ kills within seconds; make mutants tries all.
step mutants .strider/venv/bin/python tools/mutants.py --units --sample 20
# These compare with a set truth, and need the machine for themselves.
step calibration .strider/venv/bin/python -m pytest tests/system/calibration
[ -z "$failed" ] || { printf '\nfailed:%s\n' "$failed"; exit 1; }
