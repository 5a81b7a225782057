#!/bin/sh
# All tests: lint, the engine's, the Python package's, the whole program's, and a tenth of make torture. The last lines
# say which steps failed, and how long each took.
set -u
cd "$(dirname "$(dirname "$(readlink -f -- "$0")")")" || exit 3
engine=$(tools/setup.sh test) || exit 3
set -- .strider/venv/bin/python tools/all_tests.py "$engine"
# Where mounts are private, each namespace that a lab makes keeps a copy of the FUSE mounts of other tests, whose
# processes then do not end. Here the end of a mount reaches all of them, and no mount outlives the tests.
apart='mount --make-rshared / && exec "$@"'
if unshare --mount --propagation slave true 2>/dev/null; then
  exec unshare --mount --propagation slave sh -c "$apart" sh "$@"
fi
exec "$@"
