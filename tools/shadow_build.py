"""Builds the programs again with some sources changed or other options, beside the ordinary build.

Only those sources are compiled. Everything else is taken from the ordinary build's folder: a copy of symbolic
links to it, in which the archives and programs with the new objects are linked again.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from compile_commands import Compilation, compilations

SERVER = "STRIDER_LISTIO_SERVER"
"""What tests of the list-I/O service have in them: the server's path."""


@dataclass(frozen=True)
class _Compilation:
    """Compiling one source again.

    Attributes:
        source: The compiled source.
        target: The object file, relative to the build folder.
        command: How.
    """

    source: Path
    target: str
    command: list[str]


class ShadowBuild:
    """A build folder beside the ordinary one.

    Attributes:
        folder: Where it is.
    """

    def __init__(
        self, root: Path, ordinary: Path, work: Path, options: Sequence[str], linking: Sequence[str] = ()
    ) -> None:
        """Further options of the compiler, and of the linker."""
        self._root = root
        self._ordinary = ordinary
        self._objects = work / "objects"
        self._options = options
        self._linking = linking
        self.folder = work / "build"

    def make(self, sources: Mapping[str, Path], jobs: int) -> None:
        """Builds everything with these files compiled again, each from the path given."""
        ordinary = ["cmake", "--build", str(self._ordinary), "--", "--quiet", f"-j{jobs}"]
        subprocess.run(ordinary, check=True)
        wanted = self._compilations(sources)
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
        self._hold_programs()

    def _hold_programs(self) -> None:
        """Copies programs that are links: Strider resolves one to find the others beside it."""
        for link in [path for path in (self.folder / "engine").glob("strider-*") if path.is_symlink()]:
            program = link.resolve()
            link.unlink()
            shutil.copy2(program, link)

    def _compilations(self, sources: Mapping[str, Path]) -> list[_Compilation]:
        found = []
        for each in compilations(self._ordinary):
            changed = {
                path: sources[str(path.relative_to(self._root))]
                for path in each.sources
                if path.is_relative_to(self._root) and str(path.relative_to(self._root)) in sources
            }
            command = list(each.command)
            starts_server = any(word.startswith(f"-D{SERVER}=") for word in command) and any(
                "server_process.hpp" in path.read_text(encoding="utf-8") for path in each.sources
            )
            if not changed and not starts_server:
                continue
            if starts_server:
                server = f'-D{SERVER}="{self.folder}/engine/strider-listio-server"'
                command = [server if word.startswith(f"-D{SERVER}=") else word for word in command]
            source = self._shared(each, changed) if each.is_shared else changed.get(each.file, each.file)
            command[command.index("-c") + 1] = str(source)
            folders = [f"-iquote{folder}" for folder in sorted({path.parent for path in changed})]
            command += ["-w", *(self._options if changed else []), *folders]
            found.append(_Compilation(source, each.target, command))
        return found

    def _shared(self, each: Compilation, changed: Mapping[Path, Path]) -> Path:
        """A file that includes the sources that are compiled together, some of them changed."""
        text = "".join(f'#include "{changed.get(path, path)}"\n' for path in each.sources)
        file = self._objects / each.target.replace(".o", "")
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return file

    def _compile(self, each: _Compilation) -> None:
        """Compiles a source unless that was done, with the same text and command."""
        target = self._objects / each.target
        done = target.with_suffix(".done")
        depends = ["-MMD", "-MF", str(target.with_suffix(".d"))]
        if done.exists() and done.read_text(encoding="utf-8") == self._state(each):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        command = [*each.command, *depends]
        command[command.index("-o") + 1] = str(target)
        subprocess.run(command, cwd=self._ordinary, check=True)
        done.write_text(self._state(each), encoding="utf-8")

    def _state(self, each: _Compilation) -> str:
        """The command, and the sizes and times of all that was compiled with it."""
        depends = (self._objects / each.target).with_suffix(".d")
        words = depends.read_text(encoding="utf-8").replace("\\\n", " ").split() if depends.exists() else []
        files = [self._ordinary / word for word in words if not word.endswith(":")]
        return "\n".join([shlex.join(each.command), *(f"{file} {_age(file)}" for file in files)])

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
            archives = "qc" in words
            target = words[words.index("qc" if archives else "-o") + 1]
            (self.folder / target).unlink(missing_ok=True)
            linking = "" if archives else " " + shlex.join(self._linking)
            subprocess.run(["sh", "-c", command + linking], cwd=self.folder, check=True)
            changed.add(target)


def _age(file: Path) -> str:
    return f"{file.stat().st_mtime_ns} {file.stat().st_size}" if file.exists() else "gone"
