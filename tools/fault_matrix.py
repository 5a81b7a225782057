"""The matrix of faults: runs it, and writes tests/system/faults.json and docs/reference/faults.md.

`make faults` runs all of it, for most of an hour on two cores; with names of interfaces or a mount, only
this part is done anew. `--page` writes the page alone.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from fault_stages import MODES_OF, stage  # noqa: E402
from faults import offered, read_results, run_row, ways, write_results  # noqa: E402
from faults_page import PAGE, page  # noqa: E402
from forgetfs import MODES  # noqa: E402
from strider import engine as engines  # noqa: E402
from strider.engine import Engine, Interface  # noqa: E402


def run_interface(engine: Engine, interface: Interface, wanted: str | None) -> None:
    """Runs all ways of an interface, on each mount."""
    for mode in MODES_OF.get(interface.name, MODES):
        if mode != (wanted or mode):
            continue
        with tempfile.TemporaryDirectory() as folder, stage(engine, interface, mode) as here:
            rows: dict[str, dict[str, str]] = {}
            for number, way in enumerate(offered(engine, Path(folder), here, ways(interface))):
                row = run_row(engine, Path(folder) / str(number), here, way)
                if row.cells:
                    rows[way.name] = row.texts()
                print(interface.name, mode, way.name, *row.spoilt, sep=": ", flush=True)
                known = read_results()
                write_results({**known, interface.name: {**known.get(interface.name, {}), mode: rows}})


def main() -> int:
    """Runs what was asked for."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("interface", nargs="*", help="names of interfaces; default: all")
    arguments.add_argument("--mount", choices=list(MODES), help="default: each")
    arguments.add_argument("--page", action="store_true", help="write the page from what is known")
    asked = arguments.parse_args()
    engine = engines.find()
    for interface in engine.description.interfaces:
        wanted = not asked.page and (not asked.interface or interface.name in asked.interface)
        if wanted and interface.available and interface.capabilities["storage"]:
            run_interface(engine, interface, asked.mount)
    PAGE.write_text(page(read_results()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
