"""A verb with groups of options has each of them, and gets the groups."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from strider.cli.grouped import Without, grouped
from strider.running.options import Group, RankOptions, RunOptions, SuiteOptions


@dataclass(frozen=True, kw_only=True)
class Colours(Group):
    """Two options, one of them with several values."""

    ink: Annotated[str, typer.Option("--ink", metavar="NAME")] = "black"
    papers: Annotated[list[str], typer.Option("--paper")] = field(default_factory=list)


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()

    @made.command("print")
    @grouped
    def print_(*, text: str, wide: bool = False, colours: Colours, copies: int = 1) -> None:
        """Print."""
        typer.echo(f"{text} {colours.ink} {colours.papers} {copies}{' wide' * wide}")

    @made.command("draw")
    @grouped
    def draw(*, colours: Annotated[Colours, Without("papers")]) -> None:
        typer.echo(f"{colours.ink} {colours.papers}")

    return made


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("print x", "x black [] 1"),
        ("print x --ink red --paper a --paper b --copies 2", "x red ['a', 'b'] 2"),
        ("draw --ink red", "red []"),
    ],
)
def test_options_reach_their_group(app: typer.Typer, words: str, printed: str) -> None:
    done = CliRunner().invoke(app, words.split())
    assert (done.exit_code, done.stdout.strip()) == (0, printed)


def test_options_left_out_are_none_of_the_verb(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["draw", "--paper", "a"]).exit_code == 2


def test_help_has_options_in_the_order_of_the_parameters(app: typer.Typer) -> None:
    text = CliRunner().invoke(app, ["print", "--help"]).stdout
    places = [text.index(word) for word in ("Print.", "--wide", "--ink", "--paper", "--copies")]
    assert places == sorted(places)


def test_options_of_a_run_are_those_of_its_groups() -> None:
    ranks = RankOptions(launcher="srun", hosts="a,b", per_node=2)
    options = RunOptions.of(SuiteOptions(clients="4", target="/a"), ranks, target="/b")
    assert (options.clients, options.target, options.launcher) == ("4", "/b", "srun")
    assert options.places == ranks.places()
    assert options.counters == RunOptions().counters
