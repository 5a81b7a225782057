#!/bin/sh
# The inner loop: tests that most changes break, in under three minutes on two cores. Lint, units in C++ and in Python; nothing
# that starts servers, mounts anything or waits. The last lines name the omitted tests: make test runs them.
set -u
cd "$(dirname "$(dirname "$(readlink -f -- "$0")")")" || exit 3
engine=$(tools/setup.sh test) || exit 3
export STRIDER_ENGINE="$engine"
tests=${engine%/engine/strider-engine}/tests
logs=build/test-fast
mkdir -p "$logs"
failed=
began=$(date +%s)

part() { # NAME COMMAND...: in the background, its output in a file
  name=$1
  shift
  ("$@" >"$logs/$name.log" 2>&1; echo $? >"$logs/$name.rc") &
  parts="$parts $name"
}
finish() { # waits for all parts, shows what failed
  wait
  for name in $parts; do
    [ "$(cat "$logs/$name.rc")" = 0 ] && continue
    failed="$failed $name"
    printf '\n=== %s\n' "$name"
    grep -v ': advice: ' "$logs/$name.log" | tail -n 60
  done
  parts=
}
engine_units() { GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$1 "$tests/engine/strider-tests" --gtest_brief=1; }
other_units() { "$tests/foundation/strider-foundation-tests" --gtest_brief=1 && "$tests/listio/strider-listio-tests" --gtest_brief=1; }
python_units() { .strider/venv/bin/python -m pytest --quiet --numprocesses 2 --dist loadfile -m "not slow" --durations 12 tests/python tests/tree; }

parts=
echo "lint, units in C++"
part lint tools/lint.sh check
if [ -d "$tests/engine" ]; then
  part engine-0 engine_units 0
  part engine-1 engine_units 1
  part foundation-and-listio other_units
else
  echo "skipped: units in C++: GoogleTest is missing (Debian package libgtest-dev)"
fi
finish
echo "units in Python"
part python python_units
finish

tail -n 1 "$logs/python.log"
cat <<END
$(($(date +%s) - began)) s. Not run, make test does:
  tests/system, tests/browser, tests/promises, tests/fuzz_suites   the whole program, the web page, the manual's promises
  strider-listio-service-tests                                     the list-I/O service with servers
  tests marked slow                                                $(grep -rl 'mark\.slow' tests/python tests/tree | wc -l) files (pytest -m slow)
  clang-tidy, sanitizers, mutants
END
[ -z "$failed" ] || { printf '\nfailed:%s (whole output in %s)\n' "$failed" "$logs"; exit 1; }
