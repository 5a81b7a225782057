"""The compilations of a build folder, and the sources of each of them.

    tools/compile_commands.py BUILD    compiles each source by itself, and names those that fail

CMake compiles files together, by a file that includes them: a source could use an include of its neighbour.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_INCLUDED = re.compile(r'^#include "(/.*)"$', re.MULTILINE)


@dataclass(frozen=True)
class Compilation:
    """One call of the compiler.

    Attributes:
        file: The compiled file.
        sources: The same, or the sources that this file includes.
        command: The call.
    """

    file: Path
    sources: tuple[Path, ...]
    command: tuple[str, ...]

    @property
    def is_shared(self) -> bool:
        """Whether sources are compiled together."""
        return self.sources != (self.file,)

    @property
    def target(self) -> str:
        """The object file, relative to the build folder."""
        return self.command[self.command.index("-o") + 1]


def compilations(build: Path) -> list[Compilation]:
    """All compilations of a build folder."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return [
        Compilation(Path(entry["file"]), _sources(Path(entry["file"])), tuple(shlex.split(entry["command"])))
        for entry in entries
    ]


def _sources(file: Path) -> tuple[Path, ...]:
    if file.parent.name != "Unity":
        return (file,)
    return tuple(map(Path, _INCLUDED.findall(file.read_text(encoding="utf-8"))))


def _fails_alone(each: Compilation, source: Path, build: Path) -> bool:
    """Compiles one source of a shared unit by itself, and shows the errors."""
    words = [str(source) if word == str(each.file) else word for word in each.command]
    return subprocess.run([*words, "-fsyntax-only"], cwd=build, check=False).returncode != 0


def main() -> int:
    """Compiles each source by itself."""
    build = Path(sys.argv[1])
    alone = [(each, source) for each in compilations(build) if each.is_shared for source in each.sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = list(pool.map(lambda pair: _fails_alone(pair[0], pair[1], build), alone))
    for (_, source), has_failed in zip(alone, failed, strict=True):
        if has_failed:
            print(f"{source}: does not compile by itself: include what it uses")
    print(f"{len(alone)} sources, {sum(failed)} failed")
    return 1 if any(failed) or not alone else 0


if __name__ == "__main__":
    sys.exit(main())
