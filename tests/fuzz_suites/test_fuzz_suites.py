"""A sample of `make fuzz-suites`, and that its judges see what must not be."""

import os
import sys
from pathlib import Path

import pytest

from fuzz import Task, fuzz, judge_target, report
from generator import Generator, Made
from judges import Tally, judge_message, on_command_line, on_page
from strider.engine import Engine
from strider.web.site import Site
from traced import read_trace, run_traced
from world import SECRET, World

SEED = 13


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.make(tmp_path / "world", os.getuid())


def test_no_suite_of_a_sample_touches_what_is_not_its_own() -> None:
    samples = [(os.getuid(), range(1000, 1250))] + ([(65534, range(1250, 1400))] if os.getuid() == 0 else [])
    for user, suites in samples:
        tallies = fuzz(Task(suites, runs=2, seconds=600, user=user, seed=SEED))
        assert not any(tally.findings for tally in tallies.values()), "\n".join(report(tallies, user))
        assert tallies["command line"].counts["accepted"] >= len(suites) // 20
        assert tallies["page"].counts["accepted"]


def test_every_key_of_the_description_takes_part(engine: Engine, world: World) -> None:
    generator = Generator(engine.description, world, SEED)
    keys = generator.keys()
    assert {("interface", "mpiio", "prefix"), ("pattern", "list", "file"), ("common", "tree", "mix")} <= set(
        keys
    )
    for number, (kind, owner, name) in enumerate(keys):
        key = f"{owner}.{name}" if kind == "interface" else name
        assert key in generator.make(number).keys


def test_the_same_seed_makes_the_same_suites(engine: Engine, world: World) -> None:
    first, second = (Generator(engine.description, world, SEED) for _ in range(2))
    assert [first.make(n).text for n in range(50)] == [second.make(n).text for n in range(50)]


# --- the judges


def test_the_page_without_its_policy_would_be_found(
    engine: Engine, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'[suite]\nname = "s"\n[[case]]\ninterface = "posix"\npattern = "list"\nfile = "{world.listed}"\n'
    made = Made(text, places=[("file", str(world.listed))])
    site = Site(engine, world.store, (world.target,))
    tally = Tally()
    on_page(made, site, tally)
    assert not tally.findings
    monkeypatch.setattr("strider.suite.places.check", lambda *_: None)
    on_page(made, site, tally)
    assert "accepts places that nobody allowed" in tally.findings[0][0]


def test_tracebacks_and_secrets_are_found(
    engine: Engine, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    tally = Tally()
    judge_message(f"unknown column {SECRET}", Made(), tally)
    judge_message("\x1b[2J", Made(), tally)
    monkeypatch.setattr("judges.check", broken)
    on_command_line(Generator(engine.description, world, SEED).make(0), engine, world, tally)
    monkeypatch.setattr("judges.load", broken)
    on_command_line(Made("x"), engine, world, tally)
    assert len(tally.findings) >= 3


def test_only_data_sets_that_a_suite_names_may_stay_in_the_target(engine: Engine, world: World) -> None:
    case = 'interface = "posix"\npattern = "segmented"\ntransfer = 8\nblock = 8\ndataset = "named"\n'
    text = f'[suite]\nname = "s"\ntarget = "{world.target}"\n[[case]]\n{case}'
    made, tally = Made(text), Tally()
    plan = on_command_line(made, engine, world, tally)
    assert plan
    for name in ("strider-data-named", "strider-data-other", "strider-a1b2"):
        (world.target / name).mkdir()
    judge_target(made, plan, world, tally)
    assert {what for what, _ in tally.findings} == {
        "a run left strider-data-other",
        "a run left strider-a1b2",
    }
    assert not list(world.target.glob("strider-*"))


def test_a_file_that_changes_is_seen(world: World) -> None:
    before = world.snapshot()
    assert world.snapshot() == before
    (world.outside / "precious").write_text("x" * 30, encoding="utf-8")
    assert world.snapshot() != before


def test_connections_and_changes_are_seen(strace: str, world: World) -> None:
    program = (
        "import os, socket, pathlib\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setblocking(False)\n"
        "try: s.connect(('192.0.2.7', 9))\nexcept OSError: pass\n"
        f"pathlib.Path({str(world.outside / 'folder/precious')!r}).write_text('x')\n"
        "pathlib.Path('here').mkdir()\n"
    )
    traced = run_traced(
        [sys.executable, "-c", program], world.home, dict(os.environ), world.home / "trace", 60
    )
    assert traced.returncode == 0, traced.output
    assert traced.addresses == {"192.0.2.7"}
    assert {str(world.outside / "folder/precious"), str(world.home / "here")} <= traced.changed


def test_calls_that_fail_change_nothing_and_yet_connect() -> None:
    lines = [
        '12 connect(3, {sa_family=AF_INET6, inet_pton(AF_INET6, "2001:db8::7", &sin6_addr)}, 28) = -1 EACCES',
        '12 unlink("/x") = -1 EACCES (Permission denied)',
        '12 openat(AT_FDCWD</home>, "a", O_RDONLY) = 3</home/a>',
        '12 openat(AT_FDCWD</home>, "b", O_RDWR|O_CREAT, 0600) = 3</home/b>',
        '12 renameat(5</one>, "c", 6</two>, "d") = 0',
    ]
    assert read_trace(lines, Path("/home")) == ({"2001:db8::7"}, {"/home/b", "/one/c", "/two/d"})
