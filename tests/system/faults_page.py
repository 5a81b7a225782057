"""The page of the manual that shows the matrix of faults, and why some are hidden from a program."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults import FAULTS, HANGS, LEFT_OUT, Fault, Results
from forgetfs import MODES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "faults.md"
MOUNTS = {
    "default": "page cache, write-through",
    "write-back": "page cache, write-back",
    "direct": "no cache",
}


@dataclass(frozen=True)
class Reason:
    """Why a fault is not found, or has another name.

    Attributes:
        text: The reason.
        faults: Names of faults, or their beginnings.
        cells: The texts that it explains.
        interfaces: Names; none: all.
        modes: Mounts; none: all.
        ways: Part of the name of the way.
    """

    text: str
    faults: tuple[str, ...]
    cells: tuple[str, ...]
    interfaces: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    ways: str = ""

    def holds(self, interface: str, mode: str, way: str, fault: str, cell: str) -> bool:
        """Whether it explains a cell."""
        return (
            fault.startswith(self.faults)
            and cell in self.cells
            and (not self.interfaces or interface in self.interfaces)
            and (not self.modes or mode in self.modes)
            and self.ways in way
        )


SERVERS = ("gfapi", "listio", "nfs", "xrootd")
LIBRARIES = ("hdf5", "mpiio")
REASONS = [
    Reason(
        "One rank creates the file for all and closes it. If this close fails, ROMIO returns on this"
        " rank; the other ranks wait in MPI_File_open.",
        ("first flush EIO",),
        (HANGS,),
        LIBRARIES,
    ),
    Reason(
        "One rank writes HDF5's own metadata. If this write fails, HDF5 leaves the flush on this rank; the"
        " other ranks wait in it.",
        ("first write EIO",),
        (HANGS,),
        ("hdf5",),
    ),
    Reason(
        "In a collective read ranks read for each other. If such a read fails, ROMIO leaves the call on this"
        " rank; the other ranks wait in it.",
        ("read EIO", "read ESTALE", "read EINTR"),
        (HANGS,),
        LIBRARIES,
    ),
    Reason(
        "The server closes the file after its answer, so no client sees the error.",
        ("first flush EIO", "flush EIO"),
        ("missed", "not reached"),
        SERVERS,
    ),
    Reason(
        "A page that cannot be read or written is a signal (SIGBUS), which has no number. It is reported"
        " as EIO.",
        ("read", "write", "open"),
        ("EIO!",),
        ("mmap",),
    ),
    Reason(
        "NFS version 3 has no such error; the server answers NFS3ERR_INVAL or NFS3ERR_SERVERFAULT.",
        ("write EINTR",),
        ("EINVAL!", "EIO!", "EREMOTEIO!"),
        ("nfs",),
    ),
    Reason(
        "The kernel keeps the size of a file itself where it writes back. No program on this node sees"
        " another one: a lost end reads as zeros, appended bytes are not there.",
        ("lost tail", "appended"),
        ("zero!", "missed"),
        modes=("write-back",),
    ),
    Reason(
        "`msync(MS_ASYNC)` asks for no sync.",
        ("lost tail", "appended", "damaged gap", "sync EIO"),
        ("not reached",),
        ("mmap",),
    ),
    Reason(
        "The server keeps a file open that it has created, and opens it again only if it has closed it"
        " meanwhile.",
        ("open",),
        ("not reached",),
        ("listio",),
    ),
    Reason(
        "The client can repeat a write that failed once, before it answers to the sync. All data was right.",
        ("write E",),
        ("missed",),
        ("gfapi",),
    ),
    Reason(
        "A write of data sieving first reads what its buffer covers. Wrong bytes of this read are overwritten"
        " by the extents (all data was right), or written back and found later, as other damage.",
        ("read flip", "read stale"),
        ("missed", "zero!"),
        ("listio",),
        ways="calls=sieve",
    ),
]
ABSENT = {
    ("mmap", "direct"): "Without a page cache FUSE refuses shared mappings (ENODEV).",
    ("cephfs", ""): "Ceph's object stores keep data on block devices of their own, not in files of a mount.",
    ("pnetcdf", ""): "Not built here: Debian's PnetCDF belongs to Open MPI.",
    ("pvfs2", ""): "Not built here: no Debian package.",
    **{
        (name, mode): "Tried on one mount: how the servers cache decides what a client sees."
        for name in SERVERS
        for mode in ("write-back", "direct")
    },
}
"""Interfaces without results on a mount, or on any (empty)."""


def needs_reason(cell: str) -> bool:
    """Whether a cell says that a fault was not found under its name."""
    return cell in ("missed", "not reached", HANGS) or cell.endswith("!")


def reason_of(interface: str, mode: str, way: str, fault: str, cell: str) -> int | None:
    """Number of the reason that explains a cell."""
    holding = (n for n, reason in enumerate(REASONS, 1) if reason.holds(interface, mode, way, fault, cell))
    return next(holding, None)


def unexplained(results: Results) -> list[str]:
    """Cells that say that a fault was not found under its name, without a reason."""
    return [
        f"{interface}, {mode}: {way}: {fault}: {cell}"
        for interface, modes in results.items()
        for mode, rows in modes.items()
        for way, cells in rows.items()
        for fault, cell in cells.items()
        if needs_reason(cell) and reason_of(interface, mode, way, fault, cell) is None
    ]


def unneeded(results: Results) -> list[str]:
    """Reasons that explain no cell."""
    used = {
        reason_of(interface, mode, way, fault, cell)
        for interface, modes in results.items()
        for mode, rows in modes.items()
        for way, cells in rows.items()
        for fault, cell in cells.items()
        if needs_reason(cell)
    }
    return [reason.text for number, reason in enumerate(REASONS, 1) if number not in used]


def page(results: Results) -> str:
    """The page, from the findings."""
    lines = [*_head(results), *_faults(), "## What was reported", ""]
    for interface in sorted({*results, *(name for name, mode in ABSENT if not mode)}):
        lines += _interface(interface, results.get(interface, {}))
    lines += ["## Reasons", ""]
    lines += [f"{number}. {reason.text}" for number, reason in enumerate(REASONS, 1)]
    return "\n".join(lines) + "\n"


def _head(results: Results) -> Iterator[str]:
    rows = [cells for modes in results.values() for rows in modes.values() for cells in rows.values()]
    texts = [text for cells in rows for text in cells.values()]
    explained = Counter(_kind(text) for text in texts if needs_reason(text))
    right = texts.count("right")
    found = len(texts) - right - sum(explained.values())
    yield from (
        "# Faults and what finds them",
        "",
        "<!-- written by tools/fault_matrix.py (make faults); changes are lost -->",
        "",
        "This page shows what Strider reports when storage loses or damages data, fails or is slow: for each",
        "interface, each way to use it and each fault.",
        "",
        f"{len(rows)} ways were tried, {len(texts)} cells in all. In {found} the fault was reported under",
        f"its name, in {right} all data was right, and {sum(explained.values())} have a reason:",
        ", ".join(f"{count} {kind}" for kind, count in sorted(explained.items())) + ".",
        "",
        "A row of tests is one run. It has a case for each fault, and after every four of these a case",
        "without a fault, which was always right. In each case two ranks write, rewrite and read with",
        '`verify = "full"` and `sync = "end"`, in pieces of 4 KiB with gaps between them. The target, or the',
        "data of the servers, lies on a file system that damages, fails and delays",
        "([decision 16](../decisions/0016-a-file-system-that-forgets.md)). Run it with `make faults`.",
        "",
        "| cell | the fault |",
        "|---|---|",
        "| a [class](../measuring.md#verification-and-its-cost) or an error | was reported under this name |",
        "| … followed by `!` | was reported under another name than wanted |",
        "| `right` | did no harm: the kernel, a library or a server repeated or continued the call |",
        "| `missed` | happened and was not reported |",
        "| `not reached` | did not happen: the interface made no call of this kind |",
        "| `hangs` | left ranks waiting for each other inside a library. `strider run` ends the run"
        " ([when a rank hangs](../measuring.md#when-a-rank-hangs)) |",
        "",
        "A number in parentheses is that of the [reason](#reasons). A cell holds for all ways of the",
        "interface, except for those named in it. The columns differ in what the kernel does between program",
        "and storage:",
        "",
        "| column | the kernel |",
        "|---|---|",
        "| page cache, write-through | caches; writes reach the storage before the call returns |",
        "| page cache, write-back | caches; writes reach the storage later, at a sync at the latest |",
        "| no cache | passes each call on |",
        "",
        "A read, write or open that never returns ends the run after `stall_timeout`, with an error of kind",
        "`stall`.",
        "",
    )


def _kind(text: str) -> str:
    return "another name" if text.endswith("!") else f"`{text}`"


WHAT = {
    "unfilled": "leaves out these bytes and reports all",
    "zero": "moves zeros",
    "flip": "flips one bit",
    "swap": "exchanges the halves of these bytes",
    "shift": "moves the bytes 8 further on",
    "swab": "reverses words of 8 bytes",
    "dropped": "leaves out these bytes and reports all",
    "lost-tail": "cuts 300 bytes from the end of the file",
    "append": "appends 777 bytes to the file",
    "gap": "overwrites bytes that no request covers",
    "short": "moves half and reports half",
    "delay": "takes 300 ms longer",
}


def _what(fault: Fault) -> str:
    call = {"open": "an open", "flush": "a close"}.get(fault.op, f"a {fault.op}")
    if fault.kind == "stale":
        return f"{call} " + (
            "is lost" if fault.op == "write" else "returns what was there before the last write"
        )
    return f"{call} {WHAT.get(fault.kind) or 'fails with ' + fault.kind}"


def _faults() -> Iterator[str]:
    yield from ("## Faults", "", "| fault | what happens | where | wanted in a cell |", "|---|---|---|---|")
    for fault in FAULTS:
        where = f"bytes {fault.span[0]} to {fault.span[1] - 1}" if fault.span else ""
        which = ", ".join(filter(None, [where, f"call {fault.call}" if fault.call else ""])) or "each call"
        yield f"| {fault.name} | {_what(fault)} | {which} | {', '.join(sorted(fault.right))} |"
    yield ""


def _interface(interface: str, modes: dict[str, dict[str, dict[str, str]]]) -> Iterator[str]:
    yield from (f"### {interface}", "")
    if not modes:
        yield from (ABSENT[interface, ""], "")
        return
    shown = [mode for mode in MODES if modes.get(mode)]
    ways = list(dict.fromkeys(way for mode in shown for way in modes[mode]))
    yield from ("Ways: " + ", ".join(f"`{way}`" for way in ways) + ".", "")
    for parameter, reason in LEFT_OUT.items():
        if parameter.startswith(f"{interface}."):
            yield from (f"Left out: `{parameter}`. {reason}", "")
    yield "| fault | " + " | ".join(MOUNTS[mode] for mode in shown) + " |"
    yield "|---|" + "---|" * len(shown)
    for fault in FAULTS:
        cells = (_cell(interface, mode, fault.name, modes[mode]) for mode in shown)
        yield f"| {fault.name} | " + " | ".join(cells) + " |"
    yield ""
    for mode in shown:
        if missing := [way for way in ways if way not in modes[mode]]:
            yield from (
                f"{MOUNTS[mode]}: not run yet for " + ", ".join(f"`{way}`" for way in missing) + ".",
                "",
            )
    for mode in MODES:
        if mode not in shown:
            yield from (f"{MOUNTS[mode]}: {ABSENT.get((interface, mode), 'not run yet.')}", "")


def _cell(interface: str, mode: str, fault: str, rows: dict[str, dict[str, str]]) -> str:
    texts: dict[str, list[str]] = {}
    for way, cells in rows.items():
        if fault in cells:
            number = (
                reason_of(interface, mode, way, fault, cells[fault]) if needs_reason(cells[fault]) else None
            )
            text = cells[fault] + (f" ({number})" if number is not None else "")
            texts.setdefault(text, []).append(way.removeprefix(interface).strip() or "default")
    common = max(texts, key=lambda text: len(texts[text]), default="")
    others = (
        f"{text}: {', '.join(f'`{way}`' for way in ways)}" for text, ways in texts.items() if text != common
    )
    return "; ".join([common, *others])
