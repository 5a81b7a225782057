"""The matrix of faults: runs it, and writes tests/system/faults.json and docs/reference/faults.md.

`make faults` runs all of it, for about an hour on two cores; with names of interfaces, a mount or a way, only
this part runs again. `--page` writes the page alone. The exit code is 1 if a fault was not reported under
its name and no reason explains it.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from fault_stages import MODES_OF, stage  # noqa: E402
from faults import Row, offered, read_results, run_row, ways, write_results  # noqa: E402
from faults_page import PAGE, page, unexplained  # noqa: E402
from forgetfs import MODES  # noqa: E402
from strider import engine as engines  # noqa: E402
from strider.engine import Engine, Interface  # noqa: E402

REASONS = "tests/system/faults_page.py"


def run_interface(engine: Engine, interface: Interface, mode: str, way_name: str | None) -> None:
    """Runs the ways of an interface on a mount, or one of them; each row is kept as soon as it is done."""
    with tempfile.TemporaryDirectory() as folder, stage(engine, interface, mode) as here:
        found = offered(engine, Path(folder), here, ways(interface))
        names = [way.name for way in found]
        for number, way in enumerate(found):
            if way.name != (way_name or way.name):
                continue
            begin_s = time.monotonic()
            row = run_row(engine, Path(folder) / str(number), here, way)
            _keep(interface.name, mode, names, row)
            took = f"{time.monotonic() - begin_s:.0f} s"
            print(interface.name, mode, way.name, took, *row.spoilt, sep=": ", flush=True)


def _keep(interface: str, mode: str, names: list[str], row: Row) -> None:
    """Adds a row to those of the same interface and mount, without those of ways that there are no more."""
    known = read_results()
    rows = known.setdefault(interface, {}).setdefault(mode, {})
    rows[row.way.name] = row.texts() if row.cells else {}
    known[interface][mode] = {name: rows[name] for name in names if rows.get(name)}
    if not known[interface][mode]:
        del known[interface][mode]
    write_results(known)


def main() -> int:
    """Runs the requested parts."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("interface", nargs="*", help="names of interfaces; default: all")
    arguments.add_argument("--mount", choices=list(MODES), help="default: all")
    arguments.add_argument("--way", help="interface with options, such as 'posix method=sieve'; default: all")
    arguments.add_argument("--page", action="store_true", help="only write the page, from stored results")
    asked = arguments.parse_args()
    engine = engines.find()
    for interface in engine.description.interfaces:
        wanted = not asked.page and (not asked.interface or interface.name in asked.interface)
        if wanted and interface.available and interface.capabilities["storage"]:
            for mode in MODES_OF.get(interface.name, MODES):
                if mode == (asked.mount or mode):
                    run_interface(engine, interface, mode, asked.way)
    results = read_results()
    PAGE.write_text(page(results), encoding="utf-8")
    open_cells = unexplained(results)
    for cell in open_cells:
        print(f"fault_matrix: {cell}: fix the interface, or give a reason in {REASONS}", file=sys.stderr)
    return 1 if open_cells else 0


if __name__ == "__main__":
    sys.exit(main())
