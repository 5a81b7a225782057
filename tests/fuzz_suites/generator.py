"""Makes suites over all keys that a description has, with values that look right and values that attack.

The keys are found in the description, so that a new one takes part by itself.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from strider.engine import Description, Json, Parameter
from strider.suite.places import PLACES
from strider.suite.vocabulary import SUITE_PARAMETERS, Vocabulary, Workload
from world import World

HOST = "192.0.2.7"
"""Of a network that exists in documents alone."""
ALLOWED_HOST = "127.0.0.1"
"""The owner of the page allows `gfapi.server` to be it."""


@dataclass(frozen=True)
class Raw:
    """A value as it is to stand in the text, be it TOML or not."""

    text: str


@dataclass
class Made:
    """A suite.

    Attributes:
        text: The text.
        places: Keys and values that name places which the owner of the page did not allow.
        hosts: Addresses that it names.
        keys: The keys that it has.
    """

    text: str = ""
    places: list[tuple[str, str]] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    keys: list[str] = field(default_factory=list)


@dataclass
class Generator:
    """Makes suites; the same seed makes the same ones."""

    description: Description
    world: World
    seed: int

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The look-ups."""
        return Vocabulary.of(self.description)

    def keys(self) -> list[tuple[str, str, str]]:
        """All keys: whose they are (suite, common, pattern, tree, interface), its name, and theirs."""
        found = [("suite", "", name) for name in SUITE_PARAMETERS]
        for workload in self.vocabulary.workloads:
            found += [("common", workload.key, name) for name in workload.common]
            for name, shape in workload.shapes.items():
                found += [(workload.key, name, one.name) for one in shape.parameters]
        for name, interface in self.vocabulary.interfaces.items():
            found += [("interface", name, one.name) for one in interface.parameters]
        return found

    def make(self, number: int) -> Made:
        """The suite of a number."""
        return _Maker(self, random.Random(f"{self.seed}-{number}"), number).make()


class _Maker:
    """Makes one suite."""

    def __init__(self, generator: Generator, draw: random.Random, number: int) -> None:
        self.vocabulary, self.world, self.draw = generator.vocabulary, generator.world, draw
        keys = generator.keys()
        self.must = keys[number % len(keys)]
        # A third is right throughout, so that it can run; the others attack by one key, or by several.
        self.attacks = draw.choice([0, 0, 1, 1, 4, 12])
        if number < len(keys):
            self.attacks = max(self.attacks, 1)
        self.made = Made()

    def make(self) -> Made:
        kind, owner, name = self.must
        workload = self._workload(kind, owner)
        shape = owner if kind in ("pattern", "tree") else self.draw.choice(list(workload.shapes))
        interface = owner if kind == "interface" else self.draw.choice(self._interfaces(workload))
        suite: dict[str, Json] = {"name": "fuzz", "target": str(self.world.target), "stall_timeout": 20}
        case: dict[str, Json] = {"interface": interface, workload.key: shape}
        suite |= self._some(dict(SUITE_PARAMETERS), "", name if kind == "suite" else "", suite)
        common = {one: parameter for one, parameter in workload.common.items() if one not in case}
        case |= self._some(common, "", name if kind == "common" else "", self._small(workload))
        shapes = {one.name: one for one in workload.shapes[shape].parameters}
        case |= self._some(shapes, "", name if kind in ("pattern", "tree") else "", self._required(shapes))
        options = {one.name: one for one in self.vocabulary.interfaces[interface].parameters}
        given = self._some(
            options, f"{interface}.", name if kind == "interface" else "", self._required(options)
        )
        case |= {f"{interface}.{key}": value for key, value in given.items()}
        if self.attacks and self.draw.random() < 0.1:
            case[self._text()] = self._text()
        head, body = self._lines(suite), self._lines(case)
        self.made.text = f"[suite]\n{head}\n[[case]]\n{body}"
        return self.made

    def _workload(self, kind: str, owner: str) -> Workload:
        if kind == "common" or kind in ("pattern", "tree"):
            key = owner if kind == "common" else kind
            return self.vocabulary.data if key == "pattern" else self.vocabulary.metadata
        if kind == "interface" and not self.vocabulary.interfaces[owner].metadata:
            return self.vocabulary.data
        return self.draw.choice(self.vocabulary.workloads)

    def _interfaces(self, workload: Workload) -> list[str]:
        able = {
            name: one
            for name, one in self.vocabulary.interfaces.items()
            if workload.key == "pattern" or one.metadata
        }
        # Those that need no server run; the others are not left out.
        running = [
            name for name, one in able.items() if one.available and not one.capabilities.get("own_client")
        ]
        return [*able, *running, *running, *running]

    def _small(self, workload: Workload) -> dict[str, Json]:
        """What keeps a run of the case short."""
        return {"clients": self.draw.choice([1, 2]), "repetitions": 1} | (
            {} if workload.key == "tree" else {"operations": self.draw.choice([["write"], ["write", "read"]])}
        )

    def _required(self, parameters: dict[str, Parameter]) -> dict[str, Json]:
        """Small values of what decides how much is done."""
        decisive = ("bytes", "count", "numbers", "levels")
        found = {}
        for name, parameter in parameters.items():
            if parameter.required or (parameter.kind in decisive and parameter.default not in (0, None)):
                found[name] = self._good(parameter, name)
        return found

    def _some(
        self, parameters: dict[str, Parameter], prefix: str, must: str, given: dict[str, Json]
    ) -> dict[str, Json]:
        """Values for the key that must be there and for some others; an attack where one is left."""
        chosen = dict(given)
        extra = [name for name in parameters if name not in chosen and not name.startswith("arrival")]
        self.draw.shuffle(extra)
        for name in [must] if must else extra[: self.draw.choice([0, 0, 1, 2])]:
            if name not in chosen or name == must:
                chosen[name] = self._good(parameters[name], name)
        for name in sorted(chosen, key=lambda one: one != must):
            if self.attacks and (name == must or self.draw.random() < 0.15):
                self.attacks -= 1
                chosen[name] = self._bad(parameters[name])
        for name, value in chosen.items():
            self._note(parameters[name], prefix + name, value)
        return chosen

    def _note(self, parameter: Parameter, key: str, value: Json) -> None:
        """Notes values that the page must not accept."""
        self.made.keys.append(key)
        for one in value if isinstance(value, list) else [value]:
            text = one.text if isinstance(one, Raw) else str(one)
            self.made.hosts |= {host for host in (HOST, "2001:db8::7") if host in text}
            if parameter.kind not in PLACES or one in (parameter.default, "") or key == "target":
                continue
            inside = f"{self.world.target}/"
            below = text.startswith(inside) or text == str(self.world.target)
            local = parameter.kind in ("file", "config", "directory") and below
            leads_out = "/link" in text or ".." in text
            listed = (key, text) in allowed_places(self.world)
            if not listed and (not local or leads_out):
                self.made.places.append((key, text))

    # --- values

    def _good(self, parameter: Parameter, name: str) -> Json:
        pick, world = self.draw.choice, self.world
        match parameter.kind:
            case "bytes":
                return pick([4096, "4KiB", "8KiB", 8192])
            case "count" if name in ("stall_timeout",):
                return 20
            case "count":
                return max(pick([1, 2, 2, 3]), int(parameter.minimum or 0))
            case "port":
                return pick([parameter.default, 24007, 1])
            case "seconds":
                return pick([parameter.default, "10ms", 1]) if name != "stall_timeout" else 20
            case "flag":
                return pick([True, False])
            case "choice":
                return pick(parameter.choices)
            case "sharing":
                return pick(["shared", "per-rank", "per-node", 1])
            case "operations":
                return self._operations()
            case "repetitions":
                return pick([1, 2, {"min": 2, "max": 3, "until": "50%"}])
            case "numbers":
                return pick([[2, 2], [4, 4], [2, 2, 2]])
            case "levels":
                return pick([[2, 2], [[2, "16KiB"], [2, "4KiB"]]])
            case "weights":
                return {"stat": 3, "create": 1}
            case "map":
                return pick([{}, {"romio_cb_write": "enable"}, {"cb_nodes": "1"}])
            case "file":
                return pick([str(world.target / "list.csv"), str(world.listed)])
            case "config":
                return pick(["", str(world.target / "servers.conf")])
            case "directory":
                return pick(["", str(world.target)])
            case "host":
                return pick(["", ALLOWED_HOST, HOST])
            case "url":
                return f"{parameter.choices[0]}://{pick([ALLOWED_HOST, HOST])}"
            case _:
                return "fuzz" if name in ("name", "description") else pick(["", "name"])

    def _operations(self) -> Json:
        names = [name for workload in self.vocabulary.workloads for name in workload.operations]
        return self.draw.choice([self.draw.sample(names, 2), ["write", "read"], ["create", "stat", "unlink"]])

    def _bad(self, parameter: Parameter) -> Json:
        value = self.draw.choice(self._bad_values(parameter))
        return [value, value] if self.draw.random() < 0.05 else value

    def _bad_values(self, parameter: Parameter) -> list[Json]:
        numbers: list[Json] = [-1, 0, 2**31, 2**32 + 1, 2**63 - 1, 2**63, 2**64, 10**39, 0.5, 1e308, True, []]
        numbers += [
            Raw(text) for text in ("9" * 6000, "0x" + "f" * 6000, "nan", "-inf", "1e999", "01", "--1")
        ]
        texts: list[Json] = [self._text() for _ in range(8)]
        if parameter.kind in ("bytes", "count", "seconds", "port", "repetitions", "sharing"):
            return [
                *numbers,
                *numbers,
                *texts[:3],
                "9" * 6000,
                "1e9GiB",
                {"min": 0},
                {"min": 3, "until": "0%"},
            ]
        if parameter.kind == "map":
            return [
                {self._text(): self._text()},
                {"e10_cache_path": str(self.world.outside)},
                {"": ""},
                1,
                *texts,
            ]
        if parameter.kind in ("weights", "operations", "numbers", "levels"):
            return [*texts[:3], *numbers[:6], {self._text(): 1}, [[[[]]]], [self._text()], [2**40, 2**40]]
        return [*texts, *texts, *numbers[:3], {"a": "b"}, ["a", ["b"]]]

    def _text(self) -> str:
        outside, target = self.world.outside, self.world.target
        return self.draw.choice([*_paths(str(outside), str(target)), *_NAMES, *_CHARACTERS])

    def _lines(self, table: dict[str, Json]) -> str:
        return "".join(f"{self._key(key)} = {_toml(value)}\n" for key, value in table.items())

    def _key(self, key: str) -> str:
        plain = all(part and part.replace("_", "").replace("-", "").isalnum() for part in key.split("."))
        return key if plain and key.isascii() else _toml(key)


def allowed_places(world: World) -> frozenset[tuple[str, str]]:
    """Resources that the owner of the page allowed by name."""
    return frozenset({("file", str(world.listed)), ("gfapi.server", ALLOWED_HOST)})


def _paths(outside: str, target: str) -> Iterator[str]:
    yield from (f"{outside}/precious", f"{outside}/fifo", f"{outside}/secret", f"{outside}/folder", outside)
    yield from (f"{outside}/precious\0", f"ufs:{outside}/precious", f"{outside}/precious:", f"{target}\0")
    yield from (
        f"{target}/../outside/precious",
        f"{target}/link/precious",
        f"{target}/link",
        f"{target}/link.csv",
    )
    yield from (
        "../outside/precious",
        "/dev/zero",
        "/dev/null",
        "/dev/stdin",
        "/proc/self/mem",
        "/etc/shadow",
    )
    yield from ("/", ".", "..", "~", "~root/x", "~nosuchuser/x", "a" * 5000, "/" + "b" * 300, "a/" * 30_000)


_NAMES = (
    *("-rf", "$(touch owned)", "`touch owned`", "; touch owned", "%s%n%n", "=HYPERLINK(1)", "name", "*"),
    *(HOST, f"{HOST}:1", f"nfs://{HOST}/export", f"nfs://{ALLOWED_HOST}@{HOST}/", f"root://{HOST}:1094"),
    *(f"http://{HOST}/", "file:///etc/passwd", "nfs://[2001:db8::7]/x", "2001:db8::7", f"user@{HOST}", "a,b"),
)
_CHARACTERS = (
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\n",
        "\r\n",
        "\t",
        "\x1b[2J",
        "\x7f",
        "\x85",
        "\u2028",
        "\u202e",
        "\ufeff",
        "\u200b",
    ),
    *("é" * 200, "大きさ", "🚀", "a\u0301", "ﬁ", "İ", "\U0010ffff", "x" * 100_000),
)


def _toml(value: Json) -> str:
    """A value in TOML."""
    match value:
        case Raw():
            return value.text
        case bool():
            return "true" if value else "false"
        case str():
            escaped = "".join(_escaped(character) for character in value)
            return f'"{escaped}"'
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case dict():
            return "{ " + ", ".join(f"{_toml(name)} = {_toml(one)}" for name, one in value.items()) + " }"
    return str(value)


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x20 or 0x7F <= code < 0xA0 or 0x2000 <= code < 0x2070 else character
