#!/bin/sh
# Looks for bugs in the engine and the list-I/O service, by the rules of .clang-tidy. With `quick`, as in CI, without the
# static analyzer, which takes four times as long as everything else.
set -eu
cd "$(dirname "$(dirname "$(readlink -f -- "$0")")")"
engine=$(tools/setup.sh test)
build=${engine%/engine/strider-engine}
checks=
[ "${1:-}" != quick ] || checks='-clang-analyzer-*'
log=build/clang-tidy.log
# Clang does not know all of GCC's options and no precompiled header of it, and calls deprecated what its library uses.
if .strider/venv/bin/run-clang-tidy.py -quiet -j 2 -clang-tidy-binary "$PWD/.strider/venv/bin/clang-tidy" \
  -checks="$checks" -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-deprecated-declarations \
  -extra-arg=-Wno-ignored-gch \
  -p "$build" "^($PWD|$build)/(foundation|engine|listio)/.*\.c(pp|xx)\$" >"$log" 2>&1; then
  echo "clang-tidy: no findings"
else
  grep -A 3 -E '(^| )(error|warning): ' "$log" || tail -n 20 "$log"
  exit 1
fi
