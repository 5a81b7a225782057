"""The page of the manual that shows the matrix of faults, and why some are hidden from a program."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults import FAULTS, LEFT_OUT, UNTRIED, Results
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
REASONS = [
    Reason(
        "ROMIO closes a new file while other ranks wait in MPI_File_open; they would wait for ever.",
        ("flush EIO",),
        (UNTRIED,),
    ),
    Reason(
        "The server closes the file after its answer, so no client sees the error.",
        ("flush EIO",),
        ("missed", "not reached"),
        SERVERS,
    ),
    Reason(
        "A page that cannot be read or written is a signal (SIGBUS), which has no number: reported as EIO.",
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
        "The kernel keeps the size itself where it writes back: the lost end reads as zeros.",
        ("lost tail",),
        ("zero!",),
        modes=("write-back",),
    ),
    Reason(
        "A later sync or close reports what could not be written back, in part without its number.",
        ("write",),
        ("EIO!",),
        modes=("write-back",),
    ),
    Reason(
        "The kernel reads ahead in larger calls, and msync(MS_ASYNC) asks for no sync.",
        ("read short", "lost tail", "appended", "damaged gap", "sync EIO"),
        ("not reached",),
        ("mmap",),
    ),
    Reason(
        "The server keeps files open: it opens no file of this case.",
        ("open",),
        ("not reached",),
        SERVERS,
    ),
    Reason(
        "This class has no name of its own yet.",
        ("write flip", "write shift", "write swab", "read flip", "read shift", "read swab"),
        ("foreign!", "misplaced!"),
    ),
    Reason(
        "Bytes that no request covers, and the size of the file, are not examined yet.",
        ("appended", "damaged gap", "lost tail"),
        ("missed", "misplaced!", "foreign!", "stale!", "torn!"),
    ),
    Reason("HDF5 reports a truncated file, without a number.", ("lost tail",), ("io!",), ("hdf5",)),
    Reason(
        "A failed write can leave the other ranks waiting in a collective call: the run ends, not the case.",
        ("write E",),
        (UNTRIED,),
        ("hdf5",),
    ),
]
ABSENT = {
    ("mmap", "direct"): "Without a page cache FUSE refuses shared mappings (ENODEV).",
    ("cephfs", ""): "Ceph's object stores keep data on block devices of their own, not in files of a mount.",
    ("pnetcdf", ""): "Not built here: Debian's PnetCDF belongs to Open MPI.",
    ("pvfs2", ""): "Not built here: no Debian package.",
    **{
        (name, mode): "Servers cache as they do: one mount below them."
        for name in SERVERS
        for mode in ("write-back", "direct")
    },
}
"""Interfaces without results on a mount, or on any (empty)."""


def needs_reason(cell: str) -> bool:
    """Whether a cell says that a fault was not found under its name."""
    return cell in ("missed", "not reached", UNTRIED) or cell.endswith("!")


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


def page(results: Results) -> str:
    """The page, from what was found."""
    lines = [*_head(), *_faults(), "## What was found", ""]
    for interface in sorted({*results, *(name for name, mode in ABSENT if not mode)}):
        lines += _interface(interface, results.get(interface, {}))
    lines += ["## Reasons", ""]
    lines += [f"{number}. {reason.text}" for number, reason in enumerate(REASONS, 1)]
    return "\n".join(lines) + "\n"


def _head() -> Iterator[str]:
    yield from (
        "# Faults and what finds them",
        "",
        "<!-- written by tools/fault_matrix.py (make faults); changes are lost -->",
        "",
        'Each way of each interface ran with `verify = "full"` on a file system that damages, fails and'
        "delays ([decision 16](../decisions/0016-a-file-system-that-forgets.md)).",
        "A cell names the class of wrong data, or the error, that Strider reported. Cases without a fault",
        "ran between those with one, and were right.",
        "",
        "- `right`: the kernel or the interface repeated or continued the call; all data was right.",
        "- `missed`, `not reached`, `not tried`, and names that end with `!` have a reason, by number.",
        "- A cell holds for all ways of the interface, but for those named in it.",
        "- A call that hangs ends the run after `stall_timeout`, with an error of kind `stall`",
        "([When a rank hangs](../measuring.md#when-a-rank-hangs)).",
        "",
    )


def _faults() -> Iterator[str]:
    yield from ("## Faults", "", "| fault | call | which | right names |", "|---|---|---|---|")
    for fault in FAULTS:
        where = f"bytes {fault.span[0]} to {fault.span[1] - 1}" if fault.span else "each"
        which = where if fault.call is None else f"call {fault.call}" + (f", {where}" if fault.span else "")
        yield f"| {fault.name} | {fault.op} | {which} | {', '.join(sorted(fault.right))} |"
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
