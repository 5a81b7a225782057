"""The volume file: server addresses and the secret that authenticates clients."""

import secrets
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from strider.errors import StriderError
from strider.own_files import read_own
from strider.text_file import write_whole

VOLUME_FILE = "listio-volume.json"
"""Its name in the volume's directory, where the engine looks for it too (engine/interfaces/listio)."""

Checksums = Literal["crc32c", "off"]
"""Whether servers keep checksums of data files, and verify each read."""

_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")


class Volume(BaseModel):
    """The volume file for clients (listio/client/volume.hpp).

    Attributes:
        format: Version of the file's form.
        servers: Addresses, by number.
        transport: What carries the bytes unless a client wants another.
        strip_bytes: Strip size of files that do not say otherwise.
        server_bytes_per_s: What each server moves at most; 0: as much as it can.
        secret: 64 hexadecimal digits.
        id: 32 hexadecimal digits, random, by which servers and clients know the volume.
        epoch: Number of the volume's starts, which its servers and their folders have too.
        checksums: Of its data files; volumes of older releases have none.
        copies: How many servers have each data file: 1, or 2, of which the second one is the next server.
        replaced: How often the folder of a server was replaced by an empty one, by its number.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    format: Literal[1] = Field(default=1, alias="strider-listio-volume")
    servers: list[str]
    transport: str
    strip_bytes: int
    server_bytes_per_s: int = 0
    secret: str
    id: str = ""
    epoch: int = 0
    checksums: Checksums = "off"
    copies: int = Field(default=1, ge=1, le=2)
    replaced: dict[int, int] = Field(default_factory=dict)

    def write(self, file: Path) -> None:
        """Replaces the file atomically, readable by the owner only."""
        unused = None if self.replaced else {"replaced"}  # older releases do not know it
        write_whole(file, self.model_dump_json(by_alias=True, indent=1, exclude=unused) + "\n", mode=0o600)


def read_volume(directory: Path) -> Volume | None:
    """The volume of a directory; None if it has none.

    Raises:
        StriderError: The file cannot be read, is none of a volume, or another user can have written it.
    """
    file = directory / VOLUME_FILE
    content = read_own(file)
    try:
        return None if content is None else Volume.model_validate_json(content)
    except ValidationError as error:
        raise StriderError(f"{file} is not a volume file: {error.errors()[0]['msg']}") from error


def new_secret() -> str:
    """Returns a new random secret."""
    return secrets.token_hex(32)


def new_id() -> str:
    """Returns a new random id of a volume."""
    return secrets.token_hex(16)


def choose_transport(wanted: str, hosts: Literal["this", "other"] = "this") -> str:
    """Resolves transport `auto`; returns other names unchanged.

    Servers and clients of one host reach each other's memory (cma), unless the kernel keeps a user's
    processes apart (Yama). Other hosts are reached by tcp.

    Args:
        wanted: The requested settings.
        hosts: Where the servers are.

    Raises:
        StriderError: It does not reach other hosts.
    """
    if hosts == "other" and wanted == "cma":
        raise StriderError("--transport: cma works only within a host: with --hosts, use tcp or ofi:PROVIDER")
    if wanted != "auto":
        return wanted
    if hosts == "other":
        return "tcp"
    try:
        return "cma" if int(_YAMA.read_text(encoding="ascii")) == 0 else "tcp"
    except (OSError, ValueError):
        return "cma"
