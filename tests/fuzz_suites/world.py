"""A small world around a suite: allowed and forbidden files, and their comparison afterwards."""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

SECRET = "SECRET-0f3a9c"
"""It stands in files that are no lists; no message may quote it."""


@dataclass(frozen=True)
class World:
    """The folders of a world.

    Attributes:
        root: The folder of all.
    """

    root: Path

    @property
    def target(self) -> Path:
        """The measured directory."""
        return self.root / "target"

    @property
    def store(self) -> Path:
        """Where runs are kept."""
        return self.root / "store"

    @property
    def home(self) -> Path:
        """Working directory, home, and the folder of temporary files: programs may keep caches there."""
        return self.root / "home"

    @property
    def outside(self) -> Path:
        """What no suite may change."""
        return self.root / "outside"

    @property
    def listed(self) -> Path:
        """A list that the owner of the page allowed by its name."""
        return self.outside / "listed.csv"

    @classmethod
    def make(cls, root: Path, user: int) -> "World":
        """Makes a world of a user."""
        world = cls(root.resolve())
        for folder in (world.target, world.store, world.home, world.outside / "folder"):
            folder.mkdir(parents=True)
        text = "rank,request,file_offset,length\n0,0,0,4096\n0,1,4096,4096\n"
        world.listed.write_text(text, encoding="utf-8")
        (world.target / "list.csv").write_text(text, encoding="utf-8")
        (world.target / "servers.conf").write_text("[global]\nmon_host = 192.0.2.9\n", encoding="utf-8")
        for name in ("precious", "folder/precious", "secret", "ceph.conf"):
            (world.outside / name).write_text(f"root:{SECRET}:0,1,2\n", encoding="utf-8")
        (world.target / "link").symlink_to(world.outside)
        (world.target / "link.csv").symlink_to(world.outside / "secret")
        os.mkfifo(world.outside / "fifo")
        for path in (world.root, *world.root.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
        os.chown(world.outside / "secret", os.getuid(), os.getgid())
        (world.outside / "secret").chmod(0o600)
        return world

    def snapshot(self) -> dict[str, tuple[object, ...]]:
        """Everything that must stay as it is: all but what programs make in target, store and home."""
        paths = [
            self.root,
            *self.outside.rglob("*"),
            self.outside,
            *self.target.glob("l*"),
            *self.root.iterdir(),
        ]
        return {str(path): _state(path) for path in paths}


def _state(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    kind = stat.S_IFMT(status.st_mode)
    common = (kind, stat.S_IMODE(status.st_mode), status.st_uid)
    if stat.S_ISDIR(status.st_mode):
        return common
    readable = stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK)
    content = hashlib.sha256(path.read_bytes()).hexdigest() if readable else ""
    link = str(path.readlink()) if stat.S_ISLNK(status.st_mode) else ""
    return (*common, status.st_size, status.st_mtime_ns, status.st_ino, content, link)
