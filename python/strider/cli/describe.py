"""`strider describe`: the reference of suite keys and values, as the engine describes them."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strider.errors import StriderError
from strider.running.options import JsonOption

if TYPE_CHECKING:
    from strider.engine import Description, Json


class Topic(StrEnum):
    """Topics of the description."""

    INTERFACES = "interfaces"
    PATTERNS = "patterns"
    TREES = "trees"
    OPERATIONS = "operations"
    CASE = "case"
    TREE_CASE = "tree-case"
    SUITE = "suite"
    SUITES = "suites"
    TRUST = "trust"
    LAUNCHERS = "launchers"
    BINDING = "binding"

    @property
    def are_keys(self) -> bool:
        """Returns whether its entries are keys of suite files."""
        return self in (Topic.CASE, Topic.TREE_CASE, Topic.SUITE)

    @property
    def noun(self) -> str:
        """Returns what one of its entries is."""
        if self is Topic.TRUST:
            return "grade or reason"
        return "key" if self.are_keys else self.value.removesuffix("s")

    def entries(self, description: "Description") -> "list[Any]":
        """Returns its entries: those of the engine, or what Strider's own modules list."""
        from strider.suite.vocabulary import SUITE_PARAMETERS

        if self is Topic.TRUST:
            from strider.statistics.grades import GRADES, REASONS

            return [*GRADES, *REASONS]
        if self in (Topic.LAUNCHERS, Topic.BINDING):
            from strider.launch.launchers.words import BINDING_WORDS, LAUNCHER_WORDS

            return list(LAUNCHER_WORDS if self is Topic.LAUNCHERS else BINDING_WORDS)
        if self is Topic.SUITES:
            from strider.suite.catalogue import catalogue

            return catalogue(description)
        if self is Topic.SUITE:
            return list(SUITE_PARAMETERS.values())
        return list(getattr(description, self.value.replace("-", "_")))


_TOPICS_BY_NOUN = {
    **{topic.noun: topic.value for topic in Topic if not topic.are_keys and topic is not Topic.SUITES},
    "grade": Topic.TRUST.value,
    "grades": Topic.TRUST.value,
    "bind": Topic.BINDING.value,
    "bindings": Topic.BINDING.value,
}
"""Other words for topics; `suite` is a topic itself."""


def describe(
    about: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC|NAME",
            help=f"{', '.join(Topic)}, or one name of any of them (default: a summary of all).",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Name of one interface, pattern, tree, operation, key, suite, reason, launcher or binding.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Describe interfaces, patterns, trees, operations, keys, suites, grades, launchers, binding.

    Examples: strider describe posix, strider describe patterns strided. The topic case lists the keys of data
    cases, tree-case those of metadata cases, suite those of the whole run. The topic suites lists the
    predefined suites. The topic trust lists the grades of results, and their reasons with remedies. The
    topics launchers and binding list the values of --launcher and --bind, and the words that they stand for.
    The summary ends with the smallest suite.
    """
    from strider import engine as engines

    description = engines.find().description
    topic, name = _topic_of(description, about, name)
    if json:
        from strider.engine import to_json

        sys.stdout.write(to_json(_select_json(description, topic, name)))
        return
    from strider.cli.reference import (
        print_entries,
        print_keys,
        print_launch,
        print_namesakes,
        print_overview,
        print_suites,
        print_trust,
    )
    from strider.console import output

    console = output()
    if topic is None:
        print_overview(description, console)
    else:
        _check_name(description, topic, name)
        chosen = [entry for entry in topic.entries(description) if name in (None, entry.name)]
        if topic is Topic.TRUST:
            print_trust(chosen, console)
        elif topic in (Topic.LAUNCHERS, Topic.BINDING):
            print_launch(chosen, console)
        elif topic is Topic.SUITES:
            print_suites(chosen, console)
        elif topic.are_keys:
            print_keys(chosen, console)
        else:
            print_entries(chosen, description, console)
        if name and about == name:
            print_namesakes(_namesakes(description, topic, name), name, console)


def _namesakes(description: "Description", topic: Topic, name: str) -> list[str]:
    """Returns the other topics that have an entry of a name: `random` is a pattern and a suite."""
    return [one for one in Topic if one is not topic and name in [e.name for e in one.entries(description)]]


def _topic_of(
    description: "Description", about: str | None, name: str | None
) -> tuple[Topic | None, str | None]:
    """Returns a topic and a name in it; a name alone is looked up in all topics, in their order."""
    from strider.suite.mistakes import unknown

    about = _TOPICS_BY_NOUN.get(about, about) if about else None
    if about is None or about in list(Topic):
        return (Topic(about) if about else None), name
    names: dict[Topic, list[str]] = {
        topic: [entry.name for entry in topic.entries(description)] for topic in Topic
    }
    found = next((topic for topic in Topic if about in names[topic]), None)
    if name is None and found:
        return found, about
    owners = [
        entry.name
        for kind in (Topic.PATTERNS, Topic.TREES, Topic.INTERFACES)
        for entry in kind.entries(description)
        if about in [parameter.name for parameter in entry.parameters]
    ]
    if owners and name is None:
        raise StriderError(f"{about} is a parameter of {', '.join(owners)}: strider describe {owners[0]}")
    known = list(Topic) if name else [*Topic, *(one for own in names.values() for one in own)]
    raise StriderError(unknown("topic" if name else "topic or name", about, known))


def _select_json(description: "Description", topic: Topic | None, name: str | None) -> "Json":
    """Returns the description, or the requested part of it."""
    if topic is None:
        return description.model_dump()
    _check_name(description, topic, name)
    entries = [entry.model_dump() for entry in topic.entries(description)]
    return next(entry for entry in entries if entry["name"] == name) if name else entries


def _check_name(description: "Description", topic: Topic, name: str | None) -> None:
    from strider.suite.mistakes import unknown

    names = [entry.name for entry in topic.entries(description)]
    if name is not None and name not in names:
        raise StriderError(unknown(topic.noun, name, names))
