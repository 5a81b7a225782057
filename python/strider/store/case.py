"""A case of a plan with its options, and facts of the engine's check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from strider.store.described import Description, Parameter, by_name, older_description
from strider.store.values import Amount, Count, Number
from strider.units import format_bytes

Parameters = dict[str, Any]

KEPT = "."
"""Beginning of the names of data sets that are files of the user, under the user's names."""

#: Keys of a plan's case that are not parameters of the workload.
_CASE_BOOKKEEPING = frozenset(
    {"case", "name", "interface", "pattern", "tree", "operations", "repetitions", "manifest"}
)


@dataclass(frozen=True)
class Option:
    """The value of a parameter in a case.

    Attributes:
        part: Whose parameter it is: the interface's, the pattern's or tree's, or that of any case.
        parameter: How the engine of the run described it; None where it did not.
    """

    part: Literal["interface", "shape", "common"]
    name: str
    value: Any
    parameter: Parameter | None = None

    @property
    def kind(self) -> str:
        """Kind of the parameter, such as `bytes`; empty where it is not known."""
        return self.parameter.kind if self.parameter else ""


def _with_numbers(turn: Parameters) -> Parameters:
    """Refuses a turn whose numbers are none."""
    for key in ("number", "alone"):
        number = turn.get(key, 0)
        if type(number) is not int or number < 0:
            raise ValueError(f"{key} is no number")
    return turn


class Case(BaseModel):
    """One fully resolved combination of parameters, as the plan has it.

    Attributes:
        number: The case's number in the plan, from 1.
        interface: `name` and the interface's parameters.
        pattern: `name` and the pattern's parameters; empty for a case of metadata.
        tree: `name` and the tree's parameters; empty for a case of data.
        sharing: `shared`, `per-rank`, `per-node` or a number of files.
        turn: Of a case of a group: `number` of the turn in which groups measure at the same time (0: alone),
            and `alone`, the number of the same case alone.
        request_bytes: Bytes of a request, as the engine's check found.
        own_client: Whether the interface speaks to the storage itself, by the same check; None in older runs.
        description: The engine's description of the parameters in that run.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", populate_by_name=True, strict=True, allow_inf_nan=False
    )

    number: Number = Field(alias="case")
    name: str = ""
    clients: Number
    interface: Parameters
    pattern: Parameters = {}
    tree: Parameters = {}
    operations: list[str]
    repetitions: dict[str, Count | Amount] = {}
    order: str = "forward"
    sharing: str | Number = "shared"
    turn: Annotated[Parameters, AfterValidator(_with_numbers)] = {}
    request_bytes: Count | None = None
    own_client: bool | None = None
    description: Description = Field(default_factory=older_description, exclude=True, repr=False)

    def __copy__(self) -> Self:
        """A copy, without derived values: `model_copy` gives it other values."""
        copied = super().__copy__()
        for name in ("common_parameters", "interface_options", "shape_options", "common_options"):
            copied.__dict__.pop(name, None)
        return copied

    @property
    def measured_together(self) -> bool:
        """Whether other groups of ranks measured at the same time."""
        return bool(self.turn.get("number"))

    @property
    def interface_name(self) -> str:
        """Name of the interface, such as `posix`."""
        return str(self.interface.get("name", ""))

    @property
    def is_metadata(self) -> bool:
        """Whether it is a case of metadata, with a tree in the place of a pattern."""
        return bool(self.tree)

    @property
    def shape(self) -> Parameters:
        """The pattern or the tree."""
        return self.tree or self.pattern

    @property
    def shape_name(self) -> str:
        """Name of the access pattern or of the tree, such as `segmented`."""
        return str(self.shape.get("name", ""))

    @property
    def transfer_bytes(self) -> int | None:
        """Bytes of one request: the pattern's `transfer`, otherwise the one that the engine's check found.

        A request of metadata is an operation on an item and has no size.
        """
        if self.is_metadata:
            return None
        transfer = self.pattern.get("transfer")
        return transfer if isinstance(transfer, int) else self.request_bytes

    @property
    def in_words(self) -> str:
        """What tables show of it beside the interface: its name if any, `strided, 64 KiB, 2 clients`."""
        size = "" if self.transfer_bytes is None else format_bytes(self.transfer_bytes)
        return ", ".join(part for part in (self.name, self.shape_name, size, self._clients_in_words) if part)

    @property
    def _clients_in_words(self) -> str:
        """The clients, and the nodes that the case asks for."""
        clients = "1 client" if self.clients == 1 else f"{self.clients} clients"
        nodes, per_node = (self.common_parameters.get(key) or 0 for key in ("nodes", "per_node"))
        if nodes:
            return f"{clients} on {nodes} node{'s' if nodes > 1 else ''}"
        return f"{clients}, {per_node} per node" if per_node else clients

    @cached_property
    def common_parameters(self) -> Parameters:
        """The parameters that are not the interface's, the pattern's or the tree's (order, sharing, …).

        Files under names of the user are no parameter: their name in the plan differs from run to run.
        """
        own = {"clients": self.clients, "order": self.order, "sharing": self.sharing}
        extra = {
            key: value for key, value in (self.model_extra or {}).items() if key not in _CASE_BOOKKEEPING
        }
        if str(extra.get("dataset") or "").startswith(KEPT):
            extra["dataset"] = ""
        return own | extra

    @cached_property
    def interface_options(self) -> dict[str, Option]:
        """The interface's parameters by name."""
        return _options("interface", self.interface, self.description.of("interfaces", self.interface_name))

    @cached_property
    def shape_options(self) -> dict[str, Option]:
        """The pattern's or the tree's parameters by name."""
        kind: Literal["trees", "patterns"] = "trees" if self.is_metadata else "patterns"
        return _options("shape", self.shape, self.description.of(kind, self.shape_name))

    @cached_property
    def common_options(self) -> dict[str, Option]:
        """The other parameters by name."""
        known = self.description.tree_case if self.is_metadata else self.description.case
        return _options("common", self.common_parameters, by_name(known))


def turns_of(cases: Iterable[Case]) -> dict[int, list[int]]:
    """By turn, the numbers of the cases of several groups that were measured at the same time."""
    turns: dict[int, list[int]] = {}
    for case in cases:
        if case.measured_together:
            turns.setdefault(int(case.turn["number"]), []).append(case.number)
    return turns


def _options(
    part: Literal["interface", "shape", "common"], values: Parameters, known: Mapping[str, Parameter]
) -> dict[str, Option]:
    own = {name: value for name, value in values.items() if name != "name"}
    return {name: Option(part, name, value, known.get(name)) for name, value in own.items()}
