"""A system of the lab: its name, its requirements, and its recipe."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from strider.errors import ExitCode, StriderError
from strider.lab.record import Endpoint
from strider.lab.site import Site

FUSE = Path("/dev/fuse")
_STATUS = Path("/proc/self/status")
_CAP_SYS_ADMIN = 21
"""Number of the right to mount, from <linux/capability.h>."""
_PROGRAM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where servers are; ordinary users do not have these in PATH."""


@dataclass(frozen=True)
class System:
    """A file system, or a scheduler, that the lab can start.

    Attributes:
        name: As on the command line.
        doc: Description, in one sentence.
        needs: Programs, and files by patterns such as /usr/lib/*/x.so, each with its Debian package.
        mounting: Whether it is mounted by FUSE.
        rights: Users that can start it.
        start: Starts it in a site and returns its addresses and mounts.
        options: Options of the user, with the default values.
    """

    name: str
    doc: str
    needs: dict[str, str]
    mounting: bool
    start: Callable[[Site], list[Endpoint]]
    rights: Literal["root", "anyone"] = "root"
    options: Mapping[str, str] = field(default_factory=dict)

    def missing_packages(self) -> list[str]:
        """Debian packages of the programs and files that are not there."""
        return list(dict.fromkeys(package for need, package in self.needs.items() if not _is_there(need)))

    def obstacle(self) -> str:
        """Why this machine cannot run it, with any packages; empty if it can."""
        if self.rights == "anyone":
            return ""
        if os.geteuid() != 0:
            return "only root can start it"
        if not _may_mount():
            return "root cannot mount here (CAP_SYS_ADMIN is missing, as in many containers)"
        if self.mounting and not os.access(FUSE, os.R_OK | os.W_OK):
            return f"FUSE is not available: {FUSE} cannot be opened"
        return ""

    def settings(self, given: Sequence[str]) -> dict[str, str]:
        """Returns the value of each option.

        Args:
            given: `KEY=VALUE` each; the others keep their default.

        Raises:
            StriderError: There is no such option.
        """
        values = dict(self.options)
        for text in given:
            key, equals, value = text.partition("=")
            if not equals or key not in values:
                known = ", ".join(f"{name}={value}" for name, value in self.options.items())
                remedy = f"the options are {known}" if known else f"{self.name} has no options"
                raise StriderError(f"--set {text}: {remedy}")
            values[key] = value
        return values


def _is_there(need: str) -> bool:
    if need.startswith("/"):
        return any(Path("/").glob(need[1:]))
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_PROGRAM_FOLDERS])
    return shutil.which(need, path=path) is not None


def _may_mount() -> bool:
    rights = re.search(r"^CapEff:\s*([0-9a-f]+)$", _STATUS.read_text(encoding="utf-8"), re.MULTILINE)
    return rights is not None and bool(int(rights[1], 16) >> _CAP_SYS_ADMIN & 1)


def install(packages: list[str]) -> None:
    """Installs Debian packages, without recommended ones.

    Raises:
        StriderError: apt-get is not there, or fails.
    """
    options = ["--option", "DPkg::Lock::Timeout=300"]
    command = ["apt-get", *options, "install", "--yes", "--no-install-recommends", *packages]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        # An update may fail for a source that has none of these packages; the installation reports it.
        for words in (["apt-get", *options, "update"], command):
            done = subprocess.run(
                words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
    except OSError as error:
        raise StriderError(f"cannot start apt-get: {error.strerror}", ExitCode.CANNOT_RUN) from error
    if done.returncode != 0:
        said = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-5:])
        raise StriderError(f"{' '.join(command)} failed:\n{said}", ExitCode.CANNOT_RUN)
