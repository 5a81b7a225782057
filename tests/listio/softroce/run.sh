#!/bin/sh
# Runs tests of the list-I/O service over verbs, where there is no network card: in a guest that QEMU emulates, with
# Debian's kernel and its RDMA over Ethernet in software (rdma_rxe). Registering and keys are real there, speed is not.
#
#   tests/listio/softroce/run.sh BUILD      the folder of a build with tests, such as build/release
#
# STRIDER_APT         `never`: install no Debian packages
# STRIDER_SOFTROCE_S  the most seconds that the guest may take (1800)
#
# What it downloads and makes lies in .strider/softroce. Exit code 0: all tests passed; 1: one failed; 3: no guest.
set -eu
build=$(readlink -f -- "$1")
here=$(dirname "$(readlink -f -- "$0")")
root=$(readlink -f -- "$here/../../..")
state=$root/.strider/softroce
PATH=$PATH:/usr/sbin:/sbin
libraries=/usr/lib/x86_64-linux-gnu
host=10.9.9.1 # of the guest's device

say() { printf 'softroce: %s\n' "$*" >&2; }
fail() { # WHAT REMEDY
  say "$1"
  say "  $2"
  exit 3
}

needs='
  qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio modprobe:kmod rdma:iproute2
  /usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so:ibverbs-providers'

missing_packages() {
  for each in $needs; do
    command -v "${each%%:*}" >/dev/null || [ -e "${each%%:*}" ] || echo "${each#*:}"
  done
}

install_packages() {
  # shellcheck disable=SC2046 # words are meant
  set -- $(missing_packages)
  [ $# -gt 0 ] || return 0
  if [ "${STRIDER_APT:-}" != never ] && [ "$(id -u)" = 0 ]; then
    say "installing Debian packages: $*"
    apt-get update >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@" >/dev/null 2>&1 || true
  fi
  # shellcheck disable=SC2046
  set -- $(missing_packages)
  [ $# -eq 0 ] || fail "Debian packages are missing: $*" "apt-get install $*"
}

fetch_kernel() { # sets version; the package lies unpacked in $state/kernel
  package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
  [ -n "$package" ] || fail "apt knows no kernel linux-image-amd64" "apt-get update"
  version=${package#linux-image-}
  version=${version%-unsigned}
  [ -e "$state/kernel/lib/modules/$version/modules.dep" ] && return 0
  say "unpacking Debian's $package"
  rm -rf "$state/kernel"
  mkdir -p "$state/kernel"
  (cd "$state" && apt-get download "$package" >/dev/null 2>&1) ||
    fail "$package cannot be downloaded" "see that apt-get download $package works"
  dpkg -x "$state/$package"_*.deb "$state/kernel"
  rm -f "$state/$package"_*.deb
  depmod -b "$state/kernel" "$version"
}

copy_program() { # FILE FOLDER: and the libraries that it needs, where they are
  cp -L "$1" "$guest/$2/"
  ldd "$1" | awk '$3 ~ "^/" { print $3 } $1 ~ "^/" { print $1 }' | while read -r library; do
    mkdir -p "$guest$(dirname "$library")"
    cp -L "$library" "$guest$library"
  done
}

make_guest() {
  guest=$state/guest
  rm -rf "$guest"
  mkdir -p "$guest/bin" "$guest/modules" "$guest/proc" "$guest/sys" "$guest/dev" "$guest/tmp" "$guest/etc/libibverbs.d" \
    "$guest$libraries/libibverbs"
  cp "$(command -v busybox)" "$guest/bin/"
  for each in crc32_generic rdma_rxe rdma_ucm dummy; do
    modprobe -d "$state/kernel" -S "$version" --show-depends "$each" | awk '/^insmod/ { print $2 }'
  done | awk '!seen[$0]++' | while read -r module; do
    name=$(basename "${module%.xz}")
    case $module in *.xz) xz -dc "$module" ;; *) cat "$module" ;; esac >"$guest/modules/$name"
    echo "$name" >>"$guest/modules/order"
  done
  for each in "$(command -v rdma)" "$(command -v ip)" "$libraries/libibverbs/librxe-rdmav34.so" "$@"; do
    case $each in *.so) copy_program "$each" "$libraries/libibverbs" ;; *) copy_program "$each" bin ;; esac
  done
  cp /etc/libibverbs.d/rxe.driver "$guest/etc/libibverbs.d/"
  cp "$here/init" "$guest/init"
  chmod 755 "$guest/init"
  (cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) >"$state/guest.gz"
}

start_guest() { # the console goes to stdout
  timeout -k 10 "${STRIDER_SOFTROCE_S:-1800}" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 3072 -smp 2 \
    -display none -serial stdio -monitor none -no-reboot -nic none -kernel "$state/kernel/boot/vmlinuz-$version" \
    -initrd "$state/guest.gz" -append "console=ttyS0 panic=-1 quiet strider_host=$host" </dev/null | sed -u 's/\r$//'
}

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
  fail "the guest is made of Debian's packages for amd64" "run it on Debian, on such a machine"
tests=
for each in strider-listio-tests strider-listio-service-tests; do
  [ ! -x "$build/tests/listio/$each" ] || tests="$tests $build/tests/listio/$each"
done
[ -n "$tests" ] || fail "there are no tests in $build/tests/listio" "build with tests: make build"
mkdir -p "$state"
install_packages
fetch_kernel
# shellcheck disable=SC2086
make_guest $tests
say "starting the guest, Linux $version"
start_guest | tee "$state/console"
grep -q '^softroce: all tests have ended' "$state/console" || fail "the guest has not come to its end" "see $state/console"
! grep -q '^softroce: failed' "$state/console"
