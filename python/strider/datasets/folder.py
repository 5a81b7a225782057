"""The folders of data sets in a target."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from strider.datasets import marker as markers
from strider.datasets.marker import Marker
from strider.errors import ExitCode, StriderError
from strider.text_file import is_mount_point

PREFIX = "strider-data-"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass(frozen=True)
class SetFolder:
    """The open folder of a data set.

    Attributes:
        path: Its path.
        descriptor: Its descriptor; valid within the context that opened it.
        device: Device of its file system.
        inode: Its inode number.
    """

    path: Path
    descriptor: int
    device: int
    inode: int

    def read(self) -> Marker:
        """Returns its marker.

        Raises:
            StriderError: It has none, or it is damaged, or belongs to another name.
        """
        marker = markers.read(self.descriptor, str(self.path))
        if marker is None:
            raise StriderError(
                f"{self.path} is not a data set: it has no marker {markers.MARKER}, and stays as it is"
            )
        if path_of(self.path.parent, marker.name).name != self.path.name:
            raise StriderError(
                f"{self.path} has the marker of data set {marker.name}: rename the folder to "
                f"{PREFIX}{marker.name}"
            )
        return marker

    def write(self, marker: Marker) -> None:
        """Replaces its marker.

        Raises:
            StriderError: It cannot be written.
        """
        markers.write(self.descriptor, str(self.path), marker)

    def entries(self) -> dict[str, os.stat_result]:
        """Returns the status of each entry but the marker, by name."""
        own = (markers.MARKER, markers.NEW_MARKER)
        found: dict[str, os.stat_result] = {}
        try:
            with os.scandir(self.descriptor) as entries:
                names = sorted(entry.name for entry in entries if entry.name not in own)
            for name in names:
                # Mounts may list files for a while that are removed.
                with suppress(FileNotFoundError):
                    found[name] = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError as error:
            raise StriderError(f"{self.path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
        return found


def path_of(target: Path, name: str) -> Path:
    """Returns the folder of a data set."""
    return target / f"{PREFIX}{name}"


@contextmanager
def opened(target: Path, name: str, above: int | None = None) -> Iterator[SetFolder]:
    """Opens the folder of a data set, never through a symbolic link.

    Args:
        target: The directory that has it.
        name: Its name.
        above: Descriptor of the target, to be used instead of its path.

    Raises:
        StriderError: It does not exist, or is not a directory.
    """
    path = path_of(target, name)
    try:
        descriptor = os.open(path if above is None else path.name, _DIRECTORY, dir_fd=above)
    except FileNotFoundError as error:
        raise StriderError(
            f"{target} has no data set {name}: strider data list {target} shows its data sets"
        ) from error
    except OSError as error:
        raise StriderError(f"cannot open {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    try:
        status = os.fstat(descriptor)
        if _is_mounted(descriptor, target, above):
            raise StriderError(f"{path} is a mount point, and no folder of the target: unmount it")
        yield SetFolder(path, descriptor, status.st_dev, status.st_ino)
    finally:
        os.close(descriptor)


def _is_mounted(descriptor: int, target: Path, above: int | None) -> bool:
    opened_above = os.open(target, os.O_PATH | os.O_DIRECTORY) if above is None else os.dup(above)
    try:
        return is_mount_point(descriptor, opened_above)
    finally:
        os.close(opened_above)


def find(target: Path, name: str, above: int | None = None) -> Marker | None:
    """Returns the marker of a data set; None if the target has no folder of its name.

    Args:
        target: The directory that has it.
        name: Its name.
        above: Descriptor of the target, to be used instead of its path.

    Raises:
        StriderError: There is such a folder, but it is not a data set.
    """
    path = path_of(target, name)
    try:
        os.stat(path if above is None else path.name, dir_fd=above, follow_symlinks=False)
    except OSError:
        return None
    with opened(target, name, above) as folder:
        return folder.read()


def names_in(target: Path, above: int | None = None) -> list[str]:
    """Returns the names of folders in a target that look like data sets.

    Args:
        target: The target.
        above: Its descriptor, to be used instead of its path.

    Raises:
        StriderError: The target cannot be read.
    """
    try:
        readable = os.open(target if above is None else ".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=above)
        try:
            with os.scandir(readable) as entries:
                found = [entry.name for entry in entries if entry.name.startswith(PREFIX)]
        finally:
            os.close(readable)
    except OSError as error:
        raise StriderError(f"{target}: {error.strerror}: name the target directory") from error
    return sorted(name.removeprefix(PREFIX) for name in found)


def make(target: int, path: Path) -> None:
    """Makes the folder of a data set, readable by others as the user's mask allows.

    Args:
        target: Descriptor of the target.
        path: Path of the folder.

    Raises:
        StriderError: It exists, or cannot be made.
    """
    try:
        os.mkdir(path.name, dir_fd=target)
    except OSError as error:
        raise StriderError(f"cannot create {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
