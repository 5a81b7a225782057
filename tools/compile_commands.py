"""The compilations of a build folder, and what of the checkout each of them compiles.

    tools/compile_commands.py BUILD OUT    writes OUT/compile_commands.json, one entry for each source

CMake compiles files together, by a file that includes them, and knows the commands of these files alone.
"""

import json
import re
import shlex
import sys
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


def main() -> int:
    """Writes the commands of each source."""
    build, out = map(Path, sys.argv[1:])
    entries = []
    for each in compilations(build):
        command = shlex.join(each.command)
        for source in each.sources:
            of_source = command.replace(str(each.file), str(source))
            entries.append({"directory": str(build), "file": str(source), "command": of_source})
    out.mkdir(parents=True, exist_ok=True)
    (out / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
