#!/bin/sh
# Runs Strider from this installation, wherever it is. It is installed as bin/strider, and as libexec/strider/python: a
# Python that has Strider's packages, for the processes that Strider starts itself.
#
# STRIDER_PYTHON   the Python to use (default: the one of the installation, then the first suitable one in PATH)
# STRIDER_ENGINE   the engine to use (default: the one of this installation)
set -eu
self=$(readlink -f -- "$0")
root=$(dirname "$(dirname "$self")")
purpose=command
case $self in */libexec/strider/python)
  root=$(dirname "$root")
  purpose=python
  ;;
esac
home=$root/lib/strider
versions='@VERSIONS@' # of Python, for which packages are installed; any: the packages are Python's own

suits() { # PYTHON: whether it has a suitable version
  version=$("$1" -I -c 'import sys; print("%d.%d" % sys.version_info[:2] if sys.version_info >= (3, 11) else 0)' 2>/dev/null) ||
    return 1
  case " $versions " in *" $version "*) ;; *) [ "$versions" = any ] && [ "$version" != 0 ] ;; esac
}

find_python() {
  for python in '@PYTHON@' python3 python3.14 python3.13 python3.12 python3.11; do
    [ -n "$python" ] && python=$(command -v -- "$python") && suits "$python" && return 0
  done
  return 1
}

fail() { # WHAT REMEDY
  printf 'strider: %s\nstrider:   %s\n' "$1" "$2" >&2
  exit 3
}

wanted="Python $versions"
[ "$versions" != any ] || wanted='Python 3.11 or newer'
if [ -n "${STRIDER_PYTHON:-}" ]; then
  python=$(command -v -- "$STRIDER_PYTHON") && suits "$python" ||
    fail "STRIDER_PYTHON=$STRIDER_PYTHON is not $wanted, which this installation needs" "name another, or unset it"
else
  find_python || fail "this installation needs $wanted, and PATH has none" "load a module, or name it with STRIDER_PYTHON"
fi
export STRIDER_PYTHON="$python"

# A bundle has two engines: for MPICH's library under its usual name, and under that of the machine that made the bundle.
engine=$home/strider/_engine
if [ -z "${STRIDER_ENGINE:-}" ] && [ -d "$engine/abi" ] && "$engine/abi/strider-engine" version >/dev/null 2>&1; then
  export STRIDER_ENGINE="$engine/abi/strider-engine"
fi
[ "$purpose" = command ] || exec "$python" -I "$home/start.py" "$@"
# Signals wait until Python can turn them into an exit code, where env can block them.
blocking=
env --block-signal=INT true 2>/dev/null && blocking='env --block-signal=INT --block-signal=TERM --block-signal=HUP'
# shellcheck disable=SC2086 # words are meant
exec $blocking "$python" -I "$home/start.py" -m strider "$@"
