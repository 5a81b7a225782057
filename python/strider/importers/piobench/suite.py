"""A suite of a `pio-bench.conf`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from strider.engine import Json
from strider.importers.imported import CaseDraft, Imported, SuiteDraft
from strider.importers.piobench import lines
from strider.importers.piobench.language import MODULE_NAME, Configuration, Directive, Module, parse
from strider.importers.piobench.lines import ModuleTitle, Reporting
from strider.importers.piobench.modules import (
    MODULE,
    SPATIAL,
    ModuleDirective,
    Spatial,
    convert,
    parse_module_name,
    parse_toggle,
)
from strider.suite.mistakes import suggestion

TEST_FILE = "TestFile"
TOGGLES = ("ShowAverage", "ReportOpenTime", "ReportCloseTime", "ReportHeaderOffset", "SyncWrites")
GLOBALS = (TEST_FILE, *TOGGLES)


def recognises(text: str) -> bool:
    """Whether a text seems to be a configuration of PIObench."""
    words = {line.split(maxsplit=1)[0].lower() for line in text.splitlines() if line.strip()}
    return bool(words & {MODULE_NAME.lower(), TEST_FILE.lower()})


def read(text: str, name: str, clients: Sequence[int] = (1,)) -> Imported:
    """Reads a configuration.

    Args:
        text: Its text.
        name: What messages call the file.
        clients: Numbers of clients; each module is run with each of them.

    Raises:
        SuiteError: It has mistakes; the message has a line for each.
    """
    configuration = parse(text, name)
    globals_ = _Globals(configuration)
    target = globals_.target()
    toggles = {toggle: globals_.toggle(toggle) for toggle in TOGGLES}
    modules = _Modules(configuration, clients, "end" if toggles["SyncWrites"] else "none")
    cases = [case for module in configuration.modules if (case := modules.case(module))]
    configuration.mistakes.raise_if_any()
    draft = SuiteDraft(
        name,
        {
            "name": "piobench",
            "description": f"PIObench's {Path(name).name}",
            "target": target,
            "clients": clients[0] if len(clients) == 1 else list(clients),
            # One module after the other, as PIObench does it.
            "interleave": "none",
        },
        cases,
        {"target": globals_.line(TEST_FILE)},
        [f"Made from {Path(name).name} by strider convert."],
    )
    reporting = Reporting(
        toggles["ShowAverage"],
        toggles["ReportOpenTime"],
        toggles["ReportCloseTime"],
        toggles["ReportHeaderOffset"],
    )
    return Imported(draft.document(), [], lambda run, _: lines.render(run, modules.titles, reporting))


class _Globals:
    """The directives before the modules."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._by_name: dict[str, Directive] = {}
        known = {name.lower(): name for name in GLOBALS}
        for directive in configuration.settings:
            if directive.key not in known:
                configuration.complain(directive.line, _unknown_global(directive))
            elif known[directive.key] in self._by_name:
                first = self._by_name[known[directive.key]].line
                configuration.complain(directive.line, _twice(directive, first))
            else:
                self._by_name[known[directive.key]] = directive

    def line(self, name: str) -> int:
        """Where a directive stands; the first line where it is missing."""
        return self._by_name[name].line if name in self._by_name else 1

    def target(self) -> str:
        """The folder of the test file."""
        directive = self._by_name.get(TEST_FILE)
        if directive is None:
            self._configuration.complain(
                1, f'there is no {TEST_FILE}: add {TEST_FILE} "/mnt/pvfs/file_under_test" at the top'
            )
            return ""
        if directive.value.endswith("/"):
            self._configuration.complain(
                directive.line, f'{TEST_FILE}: "{directive.value}" is a directory: name a file in it'
            )
        return str(Path(directive.value).parent)

    def toggle(self, name: str) -> bool:
        """Value of a switch; off if it is not given."""
        directive = self._by_name.get(name)
        if directive is None:
            return False
        try:
            return parse_toggle(directive.value)
        except ValueError as error:
            self._configuration.complain(directive.line, f"{name}: {error}")
            return False


@dataclass
class _Modules:
    """Makes cases of modules.

    Attributes:
        configuration: The file.
        clients: Numbers of clients.
        sync: When written data is forced to storage.
        titles: The modules by the names of their cases.
    """

    configuration: Configuration
    clients: Sequence[int]
    sync: str
    titles: dict[str, ModuleTitle] = field(default_factory=dict)

    def case(self, module: Module) -> CaseDraft | None:
        """The case of a module; None, and mistakes noted, where it is wrong."""
        name = next((d for d in module.directives if d.key == MODULE_NAME.lower()), None)
        if name is None:
            self.configuration.complain(
                module.line, f'the module has no name: add {MODULE_NAME} "Simple Strided (write)"'
            )
            return None
        try:
            spatial, temporal = parse_module_name(name.value)
        except ValueError as error:
            self.configuration.complain(name.line, f"{MODULE_NAME}: {error}")
            return None
        given = self._read(module, spatial)
        values = {directive: value for directive, (value, _) in given.items()}
        if "Level" in values and "WorkUnits" in values:
            self.configuration.complain(
                given["WorkUnits"][1], "the levels already give the number of work units: remove WorkUnits"
            )
        title = f"{spatial.name} ({temporal.name})"
        same = sum(known.split(" #")[0] == title for known in self.titles)
        unique = f"{title} #{same + 1}" if same else title
        self.titles[unique] = ModuleTitle(spatial.name, temporal.name, temporal.operations[-1])
        keys: dict[str, Json] = {
            "name": unique,
            "interface": "mpiio",
            "pattern": spatial.pattern,
            **self._pattern_keys(spatial, values),
            "operations": list(temporal.operations),
            "repetitions": values.get("ModuleReps", 1),
            "settle": values.get("ModuleSettleTime", 0),
            "sync": self.sync,
        }
        return CaseDraft(keys, module.line, self._places(spatial, keys, given, name.line))

    def _pattern_keys(self, spatial: Spatial, values: dict[str, Json]) -> dict[str, Json]:
        """Parameters of the pattern; those that depend on the number of clients are paired with it."""
        first, *others = (spatial.keys(values, clients) for clients in self.clients)
        paired = [key for key in first if any(other[key] != first[key] for other in others)]
        if not paired:
            return first
        lists = {key: [keys[key] for keys in (first, *others)] for key in paired}
        same = {key: value for key, value in first.items() if key not in paired}
        return {**same, "zip": {"clients": list(self.clients), **lists}}

    def _read(self, module: Module, spatial: Spatial) -> dict[str, tuple[Json, int]]:
        """Values of a module's directives by name, with their lines."""
        known = {
            name.lower(): directive
            for directive in (*MODULE, *spatial.directives)
            for name in (directive.name, *directive.aliases)
        }
        given: dict[str, tuple[Json, int]] = {}
        for typed in module.directives:
            directive = known.get(typed.key)
            if directive is None:
                self.configuration.complain(typed.line, _unknown(typed, spatial, known.values()))
            elif directive.kind != "level" and directive.name in given:
                self.configuration.complain(typed.line, _twice(typed, given[directive.name][1]))
            else:
                self._add(given, directive, typed)
        return given

    def _add(self, given: dict[str, tuple[Json, int]], directive: ModuleDirective, typed: Directive) -> None:
        try:
            value = convert(directive, typed.value)
        except ValueError as error:
            self.configuration.complain(typed.line, f"{typed.name}: {error}")
            return
        if directive.kind == "level":
            value = [*given.get(directive.name, ([], 0))[0], value]
        given[directive.name] = (value, typed.line)

    @staticmethod
    def _places(
        spatial: Spatial, keys: dict[str, Json], given: dict[str, tuple[Json, int]], name_line: int
    ) -> dict[str, int | str]:
        """Where each key of a case comes from."""
        sources = {
            **spatial.sources,
            "repetitions": "ModuleReps",
            "settle": "ModuleSettleTime",
            "seed": "Seed",
        }
        lines_of = {key: given[sources[key]][1] for key in keys if sources.get(key) in given}
        return {"name": name_line, "pattern": name_line, "operations": name_line, **lines_of}


def _unknown_global(directive: Directive) -> str:
    of_modules = {d.name.lower() for d in MODULE} | {d.name.lower() for s in SPATIAL for d in s.directives}
    if directive.key in of_modules:
        return f'"{directive.name}" belongs to a module: write it after {MODULE_NAME}, inside the section'
    return f'unknown directive "{directive.name}": {suggestion(directive.name, GLOBALS)}'


def _unknown(typed: Directive, spatial: Spatial, known: Iterable[ModuleDirective]) -> str:
    if typed.key in map(str.lower, GLOBALS):
        return f'"{typed.name}" applies to the whole file: write it before the first module'
    others = [s.name for s in SPATIAL if typed.key in {d.name.lower() for d in s.directives}]
    if others:
        return f'"{typed.name}" does not apply to {spatial.name}: it belongs to {", ".join(others)}'
    names = dict.fromkeys(directive.name for directive in known)
    return f'unknown directive "{typed.name}": {suggestion(typed.name, names)}'


def _twice(directive: Directive, first: int) -> str:
    return f'"{directive.name}" is given twice (first in line {first}): keep one'
