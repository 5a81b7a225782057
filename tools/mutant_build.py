"""Builds the programs with all C++ mutants in them, beside those of the ordinary build.

Only sources with mutants are compiled again. Everything else is taken from the ordinary build's folder: a
copy of symbolic links to it, in which what needs the new objects is archived and linked anew.
"""

import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutant_sources import CHOOSER, HEADER

SERVER = "STRIDER_LISTIO_SERVER"
"""What tests of the list-I/O service have in them: the server's path."""


@dataclass(frozen=True)
class _Compilation:
    """Compiling one source again.

    Attributes:
        source: What is compiled.
        target: The object file, relative to the build folder.
        command: How.
    """

    source: Path
    target: str
    command: list[str]


class MutantBuild:
    """A build folder beside the ordinary one.

    Attributes:
        folder: Where it is.
    """

    def __init__(self, root: Path, ordinary: Path, work: Path) -> None:
        self._root = root
        self._ordinary = ordinary
        self._sources = work / "sources"
        self._objects = work / "objects"
        self.folder = work / "build"

    def make(self, planted: dict[str, str], jobs: int) -> None:
        """Builds everything with these sources in place of their originals."""
        ordinary = ["cmake", "--build", str(self._ordinary), "--", "--quiet", f"-j{jobs}"]
        subprocess.run(ordinary, check=True)
        _write(self._sources / HEADER, CHOOSER)
        wanted = self._compilations(planted)
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(self._compile, wanted))
        subprocess.run(["rm", "-rf", self.folder], check=True)
        subprocess.run(["cp", "-rs", self._ordinary, self.folder], check=True)
        modules = self.folder / "tests/engine/modules"
        modules.unlink(missing_ok=True)
        modules.symlink_to("../../engine/modules")
        for each in wanted:
            path = self.folder / each.target
            path.unlink(missing_ok=True)
            path.symlink_to(self._objects / each.target)
        self._link({each.target for each in wanted})

    def _compilations(self, planted: dict[str, str]) -> list[_Compilation]:
        commands = json.loads((self._ordinary / "compile_commands.json").read_text(encoding="utf-8"))
        found = []
        for entry in commands:
            file = str(Path(entry["file"]).relative_to(self._root)) if self._is_ours(entry["file"]) else ""
            command = shlex.split(entry["command"])
            target = command[command.index("-o") + 1]
            if file in planted:
                source = self._sources / file
                _write(source, planted[file])
                command[command.index("-c") + 1] = str(source)
                command += ["-O1", "-w", f"-I{self._sources}", f"-iquote{Path(entry['file']).parent}"]
            elif (
                any(SERVER in word for word in command)
                and "server_process.hpp" in Path(entry["file"]).read_text()
            ):
                source = Path(entry["file"])
                server = f'-D{SERVER}="{self.folder}/engine/strider-listio-server"'
                command = [server if word.startswith(f"-D{SERVER}=") else word for word in command] + ["-w"]
            else:
                continue
            found.append(_Compilation(source, target, command))
        return found

    def _is_ours(self, file: str) -> bool:
        return Path(file).is_relative_to(self._root) and not Path(file).is_relative_to(self._root / "build")

    def _compile(self, each: _Compilation) -> None:
        """Compiles a source unless that was done, with the same text and command."""
        target = self._objects / each.target
        done = target.with_suffix(".done")
        key = shlex.join(each.command) + "\n" + each.source.read_text(encoding="utf-8")
        if target.exists() and done.exists() and done.read_text(encoding="utf-8") == key:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        command = list(each.command)
        command[command.index("-o") + 1] = str(target)
        subprocess.run(command, cwd=self._ordinary, check=True)
        done.write_text(key, encoding="utf-8")

    def _link(self, changed: set[str]) -> None:
        """Does again, in order, what archives and links something that has changed."""
        asked = subprocess.run(
            ["ninja", "-C", str(self._ordinary), "-t", "commands"], check=True, capture_output=True, text=True
        )
        for line in asked.stdout.splitlines():
            command = re.sub(r" && cd .*", "", line.removeprefix(": && ").removesuffix(" && :"))
            words = shlex.split(command)
            if "-c" in words or not changed & set(words):
                continue
            target = words[words.index("qc") + 1] if "qc" in words else words[words.index("-o") + 1]
            (self.folder / target).unlink(missing_ok=True)
            subprocess.run(["sh", "-c", command], cwd=self.folder, check=True)
            changed.add(target)


def _write(path: Path, text: str) -> None:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
