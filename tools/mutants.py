"""Plants the small faults of tests/mutants one at a time, and names those that no test notices.

    tools/mutants.py                         all of them
    tools/mutants.py --sample 30 --seed 7    some of them, the same for the same seed
    tools/mutants.py --only listio/client    those of a folder, of a file, or some numbers
    tools/mutants.py --propose engine/plan   new ones, to be put into a list

C++ is built once, in build/mutants; STRIDER_MUTANT=17 makes the programs there have fault 17. Python gets
each fault in a copy of its own. A fault is killed if one of its tests fails, or does not end, and passes
without the fault. The test that killed it is kept in tests/mutants/killers.json, to be run first next time.
The result is also in build/mutants/report.json. Exit code 1: a fault survived that is not explained, or a
test fails without a fault; 2: a description does not fit.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

import mutant_proposals
from mutant_sources import (
    CHOOSER,
    DESCRIPTIONS,
    HEADER,
    MisfitError,
    Mutant,
    line_of,
    plant_cpp,
    plant_python,
    read_mutants,
)
from mutant_tests import UNITS, Kill, Tests
from shadow_build import ShadowBuild

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build/mutants"
KILLERS = ROOT / DESCRIPTIONS / "killers.json"


@dataclass(frozen=True)
class Result:
    """How a fault fared.

    Attributes:
        number: The fault's.
        file: Where it was planted.
        line: There.
        change: The change.
        kill: How it was noticed; None if it survived.
        explained: Why it may survive.
        elapsed_s: How long its tests took.
    """

    number: int
    file: str
    line: int
    change: str
    kill: Kill | None
    explained: str
    elapsed_s: float

    def __str__(self) -> str:
        text = f"{self.number:4} {self.elapsed_s:5.1f} s  {self.file}:{self.line}: {self.change}"
        if self.kill:
            return f"{text} [{self.kill}]"
        return f"{text} ({self.explained})" if self.explained else text


class Killers:
    """What killed each mutant last time, in tests/mutants/killers.json.

    Written after each mutant, so that a pass can be cut short.

    Args:
        keys: All mutants of today, by `Mutant.key`; others are left out.
    """

    def __init__(self, keys: Collection[str]) -> None:
        found = json.loads(KILLERS.read_text(encoding="utf-8")) if KILLERS.is_file() else {}
        self.known: dict[str, str] = {key: killer for key, killer in found.items() if key in keys}
        self._lock = Lock()

    def keep(self, mutant: Mutant, kill: Kill) -> None:
        """Writes the test that has killed a mutant."""
        with self._lock:
            if self.known.get(mutant.key) == kill.stage:
                return
            self.known[mutant.key] = kill.stage
            text = json.dumps(self.known, indent=1, sort_keys=True, ensure_ascii=False)
            KILLERS.write_text(f"{text}\n", encoding="utf-8")


def main() -> int:
    """Executes the command line."""
    options = _options()
    if options.propose:
        for proposal in mutant_proposals.propose(ROOT, options.propose, options.count, options.seed):
            print(mutant_proposals.entry(*proposal))
        return 0
    try:
        mutants = read_mutants(ROOT)
        planted = plant_all(ROOT, mutants)
    except MisfitError as error:
        print(f"mutants: {error}\nmutants: update the text in the description, or remove the entry")
        return 2
    killers = Killers({each.key for each in mutants})
    among = [
        each for each in mutants if not options.units or killers.known.get(each.key, "").startswith(UNITS)
    ]
    chosen = choose(among, options.only, options.sample, options.seed)
    if options.list:
        for mutant in chosen:
            print(f"{mutant.number:4} {mutant.file}:{line_of(mutant, _read(mutant))}: {mutant.change()}")
        return 0
    began = time.monotonic()
    build = _build({each.file: planted[each.file] for each in chosen if not each.python}, options)
    print(f"mutants: {len(chosen)} faults; the build took {time.monotonic() - began:.0f} s", flush=True)
    faultless = _python_copy(options.work.resolve() / "python-faultless")
    tests = Tests(ROOT, build, faultless, killers.known)
    results = _try_all(chosen, tests, killers, options)
    report = json.dumps([asdict(each) for each in results], indent=1, ensure_ascii=False)
    (options.work / "report.json").write_text(report, encoding="utf-8")
    return _tell(results, tests.unsound(), time.monotonic() - began)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, help="number of mutants to try, chosen by --seed")
    parser.add_argument(
        "--units", action="store_true", help="try the mutants that a C++ test killed last time"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the choice for --sample and --propose")
    parser.add_argument("--only", default="", help="try the mutants of a folder or file, or these numbers")
    parser.add_argument("--list", action="store_true", help="list the mutants, and try none")
    parser.add_argument("--jobs", type=int, default=2, help="number of mutants tried at a time")
    parser.add_argument(
        "--work", type=Path, default=WORK, help="build folder; simultaneous runs need one each"
    )
    parser.add_argument(
        "--propose", default="", metavar="FOLDER", help="propose new mutants for a folder or file"
    )
    parser.add_argument("--count", type=int, default=5, help="propose so many")
    return parser.parse_args()


def _read(mutant: Mutant) -> str:
    return (ROOT / mutant.file).read_text(encoding="utf-8")


def plant_all(root: Path, mutants: Sequence[Mutant]) -> dict[str, str]:
    """Every C++ source with its faults in it; those of Python are tried as well.

    Raises:
        MisfitError: Names all descriptions that do not fit.
    """
    planted: dict[str, str] = {}
    misfits: list[str] = []
    for file in dict.fromkeys(each.file for each in mutants):
        own = [each for each in mutants if each.file == file]
        try:
            if not (root / file).is_file():
                raise MisfitError(f"{own[0].listed}: {file} is no longer in the tree")
            source = (root / file).read_text(encoding="utf-8")
            if own[0].python:
                for each in own:
                    plant_python(each, source)
            else:
                planted[file] = plant_cpp(own, source)
        except MisfitError as error:
            misfits.append(str(error))
    if misfits:
        raise MisfitError("\nmutants: ".join(misfits))
    return planted


def choose(mutants: Sequence[Mutant], only: str, sample: int | None, seed: int) -> list[Mutant]:
    """The faults that `--only` and `--sample` name."""
    numbers = [int(each) for each in only.split(",") if each.isdigit()]
    chosen = [
        each
        for each in mutants
        if not each.equivalent and (each.number in numbers or each.file.startswith(only))
    ]
    if sample is None or sample >= len(chosen):
        return chosen
    taken = random.Random(seed).sample(range(len(chosen)), sample)  # noqa: S311
    return [chosen[position] for position in sorted(taken)]


def _build(planted: dict[str, str], options: argparse.Namespace) -> Path:
    """The programs with these sources in them; those of the ordinary build where there are none."""
    setup = subprocess.run([ROOT / "tools/setup.sh", "test"], check=True, stdout=subprocess.PIPE, text=True)
    ordinary = Path(setup.stdout.strip()).parents[1]
    if not planted:
        return ordinary
    sources = options.work.resolve() / "sources"
    for file, text in {HEADER: CHOOSER, **planted}.items():
        _put_if_new(sources / file, text)
    mutated = ShadowBuild(ROOT, ordinary, options.work.resolve(), ["-O1", f"-I{sources}"])
    mutated.make({file: sources / file for file in planted}, options.jobs)
    return mutated.folder


def _put_if_new(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _try_all(
    chosen: Sequence[Mutant], tests: Tests, killers: Killers, options: argparse.Namespace
) -> list[Result]:
    slots: SimpleQueue[Path] = SimpleQueue()
    for number in range(options.jobs):
        slots.put(_python_copy(options.work.resolve() / f"python-{number}"))

    def attempt(mutant: Mutant) -> Result:
        began = time.monotonic()
        slot = slots.get()
        try:
            kill = _try(mutant, tests, slot)
        finally:
            slots.put(slot)
        line, elapsed_s = line_of(mutant, _read(mutant)), time.monotonic() - began
        if kill:
            killers.keep(mutant, kill)
        result = Result(mutant.number, mutant.file, line, mutant.change(), kill, mutant.explained, elapsed_s)
        print(f"{'killed  ' if kill else 'SURVIVED'} {result}", flush=True)
        return result

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(attempt, chosen))


def _try(mutant: Mutant, tests: Tests, slot: Path) -> Kill | None:
    if not mutant.python:
        return tests.run(mutant, slot, {"STRIDER_MUTANT": str(mutant.number)})
    source = _read(mutant)
    _put(slot / mutant.file, plant_python(mutant, source))
    try:
        return tests.run(mutant, slot, {})
    finally:
        _put(slot / mutant.file, source)


def _put(path: Path, text: str) -> None:
    """Writes a Python source; compiled files are identified by seconds and size, which may stay the same."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
    path.write_text(text, encoding="utf-8")


def _python_copy(slot: Path) -> Path:
    """A tree with a copy of python/, links to everything else, and an interpreter that takes the copy.

    A virtual environment of its own, since programs that tests start ignore PYTHONPATH.
    """
    shutil.rmtree(slot, ignore_errors=True)
    slot.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in {"python", ".git", ".strider"}:
            (slot / entry.name).symlink_to(entry)
    shutil.copytree(ROOT / "python", slot / "python")
    venv.create(slot / "venv")
    (packages,) = (slot / "venv/lib").glob("python3*/site-packages")
    paths = f"{slot / 'python'}\n{sysconfig.get_path('purelib')}\n"
    (packages / "strider.pth").write_text(paths, encoding="utf-8")
    return slot


def _tell(results: Sequence[Result], unsound: Sequence[Kill], elapsed_s: float) -> int:
    survivors = [each for each in results if not each.kill]
    unexplained = [each for each in survivors if not each.explained]
    print(
        f"\nmutants: {len(results)} tried in {elapsed_s:.0f} s: {len(results) - len(survivors)} "
        f"killed, {len(survivors)} survived ({100 * len(survivors) / max(1, len(results)):.1f} "
        f"%), {len(unexplained)} of these not explained"
    )
    for each in survivors:
        print(f"  {each}")
    for failed in unsound:
        print(f"mutants: this test also fails without a fault: {failed}")
    return 1 if unexplained or unsound else 0


if __name__ == "__main__":
    os.environ["PATH"] = f"{ROOT / '.strider/venv/bin'}{os.pathsep}{os.environ['PATH']}"
    sys.exit(main())
