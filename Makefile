# `make test` does everything: set-up, lint, the engine's tests, the Python tests and those of the whole program.

.PHONY: help test test-fast torture lint format build bundle release pages graph manual screenshots clang-tidy mutants promises faults statistics constraints fuzz-suites softroce clean
help:
	@sed -n 's/^## //p' Makefile

## make test         set up what is missing, then lint and run every test this machine can run
test:
	@tools/test.sh

## make test-fast    lint and unit tests alone, in under three minutes; says what it leaves out
test-fast:
	@tools/test_fast.sh

## make torture      try for hours what make test tries a sample of: kills, power cuts, values, mutants (docs/torture.md)
torture:
	@STRIDER_ENGINE=$$(STRIDER_REQUIRE_ALL=1 tools/setup.sh test) && export STRIDER_ENGINE && .strider/venv/bin/python tools/torture.py

## make lint         formatting, types, and the tree's own rules
lint:
	@tools/lint.sh check

## make format       repair what `make lint` says of formatting
format:
	@tools/lint.sh fix

## make build        build the engine and its tests
build:
	@tools/setup.sh test

OUT = dist
## make bundle       make an archive of Strider for machines with the same MPI, in dist/ (docs/howto/install-on-a-cluster.md)
bundle:
	@tools/setup.sh test >/dev/null
	@cmake -G Ninja -B build/bundle -DCMAKE_BUILD_TYPE=Release -DSTRIDER_WITH_OFI=OFF -DSTRIDER_MPIEXEC=mpiexec \
	  $${STRIDER_MPICXX:+-DMPI_CXX_COMPILER=$$STRIDER_MPICXX} >/dev/null
	@cmake --build build/bundle --target strider-engine
	@.strider/venv/bin/python packaging/bundle.py build/bundle $(OUT)

## make release      build sdist, wheel, bundle and manual in dist/VERSION, check each outside of the checkout, tag the commit
release:
	@tools/setup.sh test >/dev/null
	@.strider/venv/bin/python tools/release.py --tag

## make manual       build the manual in build/manual; a link that leads nowhere is an error
manual:
	@tools/setup.sh test >/dev/null
	@.strider/venv/bin/python -m sphinx -W --keep-going -q -b html docs build/manual && echo build/manual/index.html

## make pages        write what the manual takes from Strider itself into docs/reference, docs/patterns and docs/interfaces
pages:
	@STRIDER_ENGINE=$$(tools/setup.sh run) && export STRIDER_ENGINE && .strider/venv/bin/python tools/pages.py

## make graph        draw which folder of the sources uses which, in docs/reference/folders.md
graph:
	@tools/setup.sh test >/dev/null
	@.strider/venv/bin/python tools/graph.py --write

## make screenshots  make the manual's pictures of the web page anew, by the browser tests
screenshots:
	@STRIDER_ENGINE=$$(tools/setup.sh test) && export STRIDER_ENGINE && \
	  .strider/venv/bin/python -m pytest --quiet tests/browser/test_workload.py && .strider/venv/bin/python tools/screenshots.py

## make clang-tidy   look for bugs in the engine and the list-I/O service (slow)
clang-tidy:
	@tools/clang_tidy.sh

## make faults       run every way of every interface on storage that damages, fails and delays; write docs/reference/faults.md (slow)
faults:
	@STRIDER_ENGINE=$$(STRIDER_REQUIRE_ALL=1 tools/setup.sh test) && export STRIDER_ENGINE && .strider/venv/bin/python tools/fault_matrix.py

## make statistics   measure what intervals, verdicts and sentences come to in simulated runs; write docs/reference/statistics.md (slow)
statistics:
	@tools/setup.sh test >/dev/null
	@.strider/venv/bin/python benchmarks/statistics/bench.py --write

## make mutants      plant small faults, one at a time, and name those that no test notices (slow)
mutants:
	@tools/setup.sh test >/dev/null
	@.strider/venv/bin/python tools/mutants.py

## make promises     list promises of the manual without a test, and sentences since the last commit that promise nothing
promises:
	@tools/setup.sh test >/dev/null
	@.strider/venv/bin/python tools/promises.py

## make constraints  choose the newest versions of the Python packages
constraints:
	@tools/setup.sh test >/dev/null
	@.strider/venv/bin/python tools/requirements.py test lint manual package tools | \
	  .strider/venv/bin/uv pip compile --universal --python-version 3.11 --upgrade --no-header --no-annotate --quiet -o constraints.txt -

## make fuzz-suites make 10 000 suites over all keys and see that they touch nothing of others (long)
fuzz-suites:
	@STRIDER_ENGINE=$$(tools/setup.sh test) && export STRIDER_ENGINE && \
	  PYTHONPATH=python:tests/fuzz_suites .strider/venv/bin/python tests/fuzz_suites/fuzz.py

## make softroce     test list I/O over verbs, in a guest that QEMU emulates (Debian on amd64; some minutes)
softroce:
	@engine=$$(tools/setup.sh test) && tests/listio/softroce/run.sh "$${engine%/engine/strider-engine}"

## make clean        remove what was built and set up
clean:
	@rm -rf build .strider
