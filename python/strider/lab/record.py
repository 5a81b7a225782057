"""Records on disk all that a lab starts, so that it can be removed after any crash."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from strider.errors import ExitCode, StriderError
from strider.own_files import OWN_MODE, read_own
from strider.processes import Process

FILE = "lab.json"
"""The record's name in the lab's folder; also what shows that a folder is a lab's own."""


class Endpoint(BaseModel):
    """A file system that is ready for use.

    Attributes:
        name: Of the file system within the lab, such as a volume.
        mount: Where it is mounted, None where this machine can not or need not mount it.
        native: Options with which its own library finds it, such as server, port and volume.
        remark: A caveat, empty if there is none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    mount: Path | None = None
    native: dict[str, str] = {}
    remark: str = ""


class Record(BaseModel):
    """The state of a lab.

    Attributes:
        system: Name of the file system.
        mark: Unique text in the environment of every process of this lab.
        boot: Which start of the machine the processes and mounts belong to.
        state: `starting` until everything works; a lab that stays there was cut short.
        processes: Daemons, in the order of their start.
        unmarked: Names of programs that daemons start and that do not keep the mark; they work in the folder.
        namespaces: Files that hold network namespaces whose processes all belong to the lab.
        enter: Words to put before a command that uses the native addresses, empty where none are needed.
        endpoints: What there is to use.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["strider-lab"] = "strider-lab"
    version: Literal[1] = 1
    system: str
    mark: str
    boot: str
    state: Literal["starting", "up"] = "starting"
    processes: list[Process] = []
    unmarked: list[str] = []
    namespaces: list[str] = []
    enter: list[str] = []
    endpoints: list[Endpoint] = []

    def create(self, folder: Path) -> None:
        """Writes the first record of a folder.

        Raises:
            StriderError: There is one: another start has come first.
        """
        new = self._write_new(folder)
        try:
            (folder / FILE).hardlink_to(new)
        except FileExistsError:
            raise StriderError(
                f"{folder}: another strider lab up is starting a system there", ExitCode.CANNOT_RUN
            ) from None
        finally:
            new.unlink()

    def write(self, folder: Path) -> None:
        """Replaces the record in a folder; a reader sees the old one or the new one."""
        self._write_new(folder).replace(folder / FILE)

    def _write_new(self, folder: Path) -> Path:
        new = folder / f"{FILE}.{self.mark}"
        new.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        new.chmod(OWN_MODE)
        return new


def read(folder: Path) -> Record | None:
    """The record of a folder, None if there is none.

    Raises:
        StriderError: The folder cannot be read, its content is not a lab's, or another user can have
            written it.
    """
    text = read_own(folder / FILE)
    if text is None:
        # A crash may have come before the first record got its name.
        if folder.is_dir() and not all(path.name.startswith(FILE) for path in folder.iterdir()):
            raise StriderError(f"{folder} contains files, but no Strider lab: choose another folder (--at)")
        return None
    try:
        return Record.model_validate_json(text)
    except ValidationError as error:
        raise StriderError(f"{folder / FILE} is not a lab record: {error.errors()[0]['msg']}") from error
