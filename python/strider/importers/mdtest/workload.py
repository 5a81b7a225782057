"""One test of mdtest: its options as typed values, with mdtest's defaults and formulas."""

from collections.abc import Sequence
from typing import Literal

from strider.importers.options import TypedOptions

Phase = Literal["create", "stat", "read", "rename", "remove"]
_PHASES: dict[Phase, str] = {
    "create": "create_only",
    "stat": "stat_only",
    "read": "read_only",
    "rename": "rename_dirs",
    "remove": "remove_only",
}
"""The option that asks for each phase, in their order."""


class Workload(TypedOptions):
    """A test of mdtest."""

    @property
    def phases(self) -> Sequence[Phase]:
        """The measured operations: the requested ones, otherwise all."""
        asked = [phase for phase, option in _PHASES.items() if self.flag(option)]
        return asked or list(_PHASES)

    @property
    def directories(self) -> bool:
        """Whether directories are made, and so on: with `-D`, and without `-F`."""
        return self.flag("dirs_only") or not self.flag("files_only")

    @property
    def files(self) -> bool:
        """Whether files are made, and so on: with `-F`, and without `-D`."""
        return self.flag("files_only") or not self.flag("dirs_only")

    @property
    def depth(self) -> int:
        """Levels of directories below the top one."""
        return self.settings.number("depth")

    @property
    def branches(self) -> int:
        """Directories in each directory."""
        return self.settings.number("branch_factor", 1)

    @property
    def tree_directories(self) -> int:
        """Directories of a tree."""
        return sum(self.branches**level for level in range(self.depth + 1))

    @property
    def places(self) -> int:
        """Directories with items in them."""
        return self.branches**self.depth if self.flag("leaf_only") else self.tree_directories

    @property
    def loops(self) -> int:
        """Trees side by side: with both `-n` and `-I`, as many as hold the items."""
        items, per_directory = self.settings.number("items"), self.settings.number("items_per_dir")
        return items // per_directory if items and per_directory else 1

    @property
    def items_per_directory(self) -> int:
        """Items of a task in each directory that has some."""
        return self.settings.number("items_per_dir") or self.settings.number("items") // self.places

    @property
    def items(self) -> int:
        """Items of a task."""
        return self.items_per_directory * self.places * self.loops

    @property
    def task_counts(self) -> list[int]:
        """Numbers of tasks that are tested one after the other: from `-f` to `-l` in steps of `-s`."""
        last = self.settings.number("last")
        if not last:
            return [self.surroundings.tasks]
        return list(range(self.settings.number("first", 1), last + 1, self.settings.number("stride", 1)))

    @property
    def file_size(self) -> int:
        """Bytes of each file: the written ones, or without writes, the read ones."""
        written = self.settings.number("write_bytes")
        reads = "read" in self.phases
        return written if "create" in self.phases or not reads else self.settings.number("read_bytes")

    def shift(self, tasks: int) -> int:
        """Tasks from one that makes an item to the one that works on it; 0 for the same one.

        mdtest counts nodes where there are several with consecutive tasks, else tasks.
        """
        per_node = self.surroundings.tasks_per_node
        width = per_node if per_node and per_node < self.surroundings.tasks else 1
        return self.settings.number("nstride") * width % tasks
