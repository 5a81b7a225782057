#!/bin/sh
# Compilations that measure nothing and have no deadline, on processors that are idle, while other tests wait: clang-tidy,
# the programs of a sanitizer. To be started in a session of its own: Linux schedules sessions as groups.
#
#   tools/compilations.sh SANITIZER     address or thread
set -u
cd "$(dirname "$(dirname "$(readlink -f -- "$0")")")" || exit 3
if [ -w /proc/self/autogroup ]; then echo 19 >/proc/self/autogroup; fi
chrt --idle --pid 0 $$
failed=0
tools/clang_tidy.sh quick || failed=1
.strider/venv/bin/python tools/sanitizers.py --build "$1" || failed=1
exit $failed
