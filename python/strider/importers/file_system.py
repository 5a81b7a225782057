"""Sizes of the target's file system, as IOR and mdtest print them."""

import os
from dataclasses import dataclass

from strider.units import GIB


@dataclass(frozen=True)
class FileSystem:
    """Sizes of a file system."""

    status: os.statvfs_result

    @classmethod
    def of(cls, directory: str) -> "FileSystem | None":
        """Returns those of a directory; None if they cannot be read here."""
        try:
            return cls(os.statvfs(directory))
        except OSError:
            return None

    @property
    def capacity(self) -> str:
        """Its size in GiB or TiB."""
        size = self.status.f_blocks * self.status.f_bsize / GIB
        return f"{size / 1024:.1f} TiB" if size > 1024 else f"{size:.1f} GiB"

    @property
    def used(self) -> str:
        """The used share of the size."""
        return _used(self.status.f_bfree, self.status.f_blocks)

    @property
    def inodes(self) -> str:
        """Number of inodes, in units of 2²⁰."""
        return f"{self.status.f_files / (1 << 20):.1f} Mi"

    @property
    def used_inodes(self) -> str:
        """The used share of the inodes."""
        return _used(self.status.f_ffree, self.status.f_files)

    @property
    def line(self) -> str:
        """All of it, as after `FS: `."""
        space = f"{self.capacity}   Used FS: {self.used}"
        return f"{space}   Inodes: {self.inodes}   Used Inodes: {self.used_inodes}"


def _used(free: int, total: int) -> str:
    return f"{(1 - free / total) * 100:.1f}%" if total else "0.0%"
