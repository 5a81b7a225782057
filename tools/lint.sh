#!/bin/sh
# Formatting, types, spelling and the tree's own rules: `check` reports, `fix` repairs what a tool can repair.
set -eu
cd "$(dirname "$(dirname "$(readlink -f -- "$0")")")"
tools/setup.sh test >/dev/null
PATH=$PWD/.strider/venv/bin:$PATH
cpp_files() { git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp'; }
python_folders='python tests tools packaging benchmarks'
pages() { git ls-files --cached --others --exclude-standard README.md CONTRIBUTING.md 'docs/*.md' | grep -v '^docs/reference/'; }

if [ "$1" = fix ]; then
  cpp_files | xargs -r clang-format -i
  pages | xargs -r python tools/wrap.py
  # shellcheck disable=SC2086 # words are meant, here and below
  ruff check --quiet --fix-only $python_folders
  # shellcheck disable=SC2086
  exec ruff format --quiet $python_folders
fi

failed=
check() {
  echo "lint: $*"
  "$@" || failed=yes
}
clang_format() { cpp_files | xargs -r clang-format --dry-run -Werror; }
check clang_format
# shellcheck disable=SC2086
check ruff check --quiet $python_folders
# shellcheck disable=SC2086
check ruff format --check --quiet $python_folders
check mypy
spelling() { git ls-files --cached --others --exclude-standard | xargs -r codespell; }
check spelling
check python tools/tidy.py
check python tools/commits.py
[ -z "$failed" ]
