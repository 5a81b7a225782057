"""The data that IOR writes and checks, as the manifest of a case asks for it (docs/formats.md, section 2)."""

import time

from strider.engine import Json
from strider.importers.ior.workload import Workload

TYPES = {"t": "timestamp", "o": "offset", "i": "incompressible", "r": "random"}
"""Types by their first letters, as IOR reads them."""
_SIGNATURES = 1 << 32

Packet = dict[str, Json]


def is_type(text: str) -> bool:
    """Returns whether IOR knows a type of data."""
    return text[:1] in TYPES


def signature_of(work: Workload) -> int:
    """Returns the signature that a test gives (`-G`); 0 if it gives none, as in IOR."""
    return work.settings.number("setTimeStampSignature")


def is_given(work: Workload) -> bool:
    """Returns whether a test asks for IOR's data, by `-G` or `-l`."""
    return bool(signature_of(work) or work.settings.text("dataPacketType"))


def can_hold(work: Workload) -> bool:
    """Returns whether the files of a test can hold IOR's data: each block is known to be of one task."""
    return not work.draws and (work.flag("filePerProc") or not work.flag("randomOffset"))


def packet_of(work: Workload) -> Packet:
    """Returns the data that IOR writes and expects in a test.

    Without `-G`, the signature is the time, but 0 where the data is random, as IOR writes it.
    """
    kind = TYPES[(work.settings.text("dataPacketType") or "t")[0]]
    signature = signature_of(work) or (0 if kind == "random" else int(time.time()))
    return {
        "type": kind,
        "signature": signature % _SIGNATURES,
        "transfer": work.transfer,
        "block": work.block,
        "tasks": 1 if work.flag("filePerProc") else work.tasks,
    }
