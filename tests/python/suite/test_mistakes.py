"""Errors in a suite are named with their line and a remedy."""

import re
from pathlib import Path

import pytest

from strider.engine import Description
from strider.errors import ExitCode, StriderError
from strider.suite import Changes, document, expand, load
from strider.suite.document import parse
from strider.suite.load import build
from strider.suite.mistakes import MOST_MISTAKES, SuiteError

SUITE = """\
[suite]
name = "s"
target = "/data"
clients = 2
repetitions = 3
[[case]]
interface = ["posix", "mpiio"]
pattern = "segmented"
operations = ["write", "read"]
transfer = [
  "4KiB",
  "1MiB",
]
block = "1MiB"
"""

MISTAKES: dict[str, tuple[str | re.Pattern[str], str, int, str]] = {
    # the change of the suite: (old, new), the line, the text of the message
    "no TOML: a value is missing": ('"1MiB"\n', "\n", 14, "a value is missing after ="),
    "no TOML: a size without quotes": ('block = "1MiB"', "block = 1MiB", 14, 'write "1MiB" in quotes'),
    "no TOML: a word without quotes": ('"segmented"', "segmented", 8, "write texts in quotes"),
    "no TOML: a header is not closed": ("[suite]", "[suite", 1, "not TOML"),
    "no TOML: an array is not closed": ('"1MiB",\n]', '"1MiB",\n', 14, "not TOML"),
    "a key twice": ("block =", "transfer =", 14, '"transfer" is defined twice (first in line 10)'),
    "a table twice": ("[[case]]", "[suite]\n[[case]]", 6, "not TOML"),
    "an unknown table": ("[[case]]", "[options]\na = 1\n[[case]]", 6, 'unknown table "options"'),
    "a table that is nearly right": ("[suite]", "[suit]", 1, 'unknown table "suit": did you mean "suite"?'),
    "a key before any table": ("[suite]", 'name = "s"\n[suite]', 1, 'unknown key outside a table "name"'),
    "case with single brackets": ("[[case]]", "[case]", 6, "case must be a list of tables: write [[case]]"),
    "no case": (re.compile(r"\[\[case\]\].*", re.S), "", 1, "the suite has no case: add a [[case]]"),
    "no name": ('name = "s"\n', "", 1, 'the suite has no name: add name = "my-suite"'),
    "a name that is no part of a file name": ('"s"', '"../s"', 2, 'name: "../s" cannot be part of a run id'),
    "no target": (
        'target = "/data"\n',
        "",
        1,
        'there is no target directory: add target = "/path/to/measure"',
    ),
    "a target of the wrong type": ('"/data"', "3", 3, "target: 3 is not a string: write it in quotes"),
    "an unknown key of the suite": (
        "clients = 2",
        "client = 2",
        4,
        'unknown key "client": did you mean "clients"?',
    ),
    "a case's key in the suite": (
        "clients = 2",
        'transfer = "1k"',
        4,
        '"transfer" belongs in [[case]], not in [suite]',
    ),
    "a suite's key in a case": (
        "block =",
        "stall_timeout = 3\nblock =",
        14,
        '"stall_timeout" belongs in [suite]',
    ),
    "no interface": (
        'interface = ["posix", "mpiio"]\n',
        "",
        6,
        'the case has no interface: add interface = "posix"',
    ),
    "no pattern": ('pattern = "segmented"\n', "", 6, 'the case has no pattern: add pattern = "segmented"'),
    "an unknown interface": ('"posix"', '"posx"', 7, 'unknown interface "posx": did you mean "posix"?'),
    "an unknown pattern": ('"segmented"', '"stided"', 8, 'unknown pattern "stided": did you mean "strided"?'),
    "a pattern far from any": ('"segmented"', '"zigzag"', 8, "choose one of segmented, strided, random"),
    "a pattern that is no text": ('"segmented"', "7", 8, "pattern: 7 is not a name: write it in quotes"),
    "an unknown operation": (
        '"write", "read"',
        '"write", "raed"',
        9,
        'unknown operation "raed": did you mean "read"?',
    ),
    "an operation that is no text": ('"write", "read"', "1", 9, "1 is not the name of an operation"),
    "an operation twice": (
        '["write", "read"]',
        '["write", "read", "read"]',
        9,
        'operations: "read" appears twice, but a case has one result for each operation: write "reread" for '
        "the second phase, or move the second phase to a [[case]] of its own",
    ),
    "an operation three times": (
        '["write", "read"]',
        '["write", "read", "reread", "reread"]',
        9,
        '"reread" appears twice, but a case has one result for each operation: move the second phase',
    ),
    "no operations": ('["write", "read"]', "[]", 9, '"operations" is an empty list: give at least one value'),
    "an unknown order": ("block =", 'order = "foward"\nblock =', 14, 'did you mean "forward"?'),
    "an unknown key": ("block =", "blok =", 14, 'unknown key "blok": did you mean "block"?'),
    "a key of another pattern": (
        "block =",
        "size =",
        14,
        '"size" does not apply to pattern segmented: it belongs to random; segmented takes ',
    ),
    "an option without its interface": (
        "block =",
        "direct =",
        14,
        'unknown key "direct": did you mean posix.direct?',
    ),
    "an unknown option": (
        "block =",
        "posix.dirct = true\nblock =",
        14,
        'unknown option of posix "dirct": did you mean "direct"?',
    ),
    "an option of another interface": (
        "block =",
        "hdf5.chunk = 1\nblock =",
        14,
        '"hdf5.chunk" does not apply to interface posix',
    ),
    "options that are no table": (
        "block =",
        "posix = true\nblock =",
        14,
        '"posix" must be a table of options',
    ),
    "a required key is missing": (
        '"segmented"',
        '["segmented", "random"]',
        6,
        'pattern random needs "size": add size = "1MiB"',
    ),
    "a bad size in a list": ('"4KiB"', '"4Kib/s"', 11, 'transfer: "4Kib/s" is not a size'),
    "a fraction of a byte": ('"4KiB"', '"0.3KiB"', 11, "is 307.2 bytes, which is not a whole number"),
    "a size of the wrong type": ('"4KiB"', "4.5", 11, "transfer: 4.5 is not a size"),
    "a negative size": ('"4KiB"', "-4096", 11, "transfer: -4096 B is too small: at least 1 B"),
    "a size of nothing": ('"4KiB"', "0", 11, "transfer: 0 B is too small: at least 1 B"),
    "a size beyond any file": ('"4KiB"', '"9000000000GiB"', 11, "is too large: at most"),
    "an empty list": (
        re.compile(r"transfer = \[.*?\]", re.S),
        "transfer = []",
        10,
        '"transfer" is an empty list',
    ),
    "no clients": ("clients = 2", "clients = 0", 4, "clients: 0 is too small: at least 1"),
    "too many clients": ("clients = 2", "clients = [2, 5000]", 4, "clients: 5000 is too large: at most 1000"),
    "a number in quotes": ("clients = 2", 'clients = "2"', 4, 'clients: "2" is not a whole number'),
    "a number that is a truth": ("clients = 2", "clients = true", 4, "clients: true is not a whole number"),
    "a flag that is a text": ("block =", 'posix.direct = "yes"\nblock =', 14, "neither true nor false"),
    "hints that are no table": ("block =", 'mpiio.hints = "x"\nblock =', 14, "is not a table"),
    "nobody catches up after a runtime": (
        "clients = 2",
        'clients = 2\nruntime = "2s"\nwear_out = true',
        6,
        "wear_out: runtime gives every rank the same time, so no rank catches up: remove wear_out = true",
    ),
    "no time": ("clients = 2", 'deadline = "soon"', 4, 'deadline: "soon" is not a time'),
    "a time of the wrong type": ("clients = 2", "deadline = true", 4, "deadline: true is not a time"),
    "a time that is no number": ("clients = 2", "deadline = nan", 4, "deadline: nan is not a finite number"),
    "a time without an end": ("clients = 2", "deadline = inf", 4, "deadline: inf is not a finite number"),
    "a time before all": ("clients = 2", "deadline = -inf", 4, "deadline: -inf is not a finite number"),
    "a patience that is no number": (
        "clients = 2",
        "stall_timeout = nan",
        4,
        "stall_timeout: nan is not a finite number",
    ),
    "a time beyond all numbers": ("clients = 2", f"deadline = 1{'0' * 400}", 4, "limited to 40 digits"),
    "a large floating-point number": ("clients = 2", "deadline = 1e308", 4, "1e+308 s is too large: at most"),
    "a text of a time beyond all": ("clients = 2", f'deadline = "1{"0" * 400}"', 4, "limited to 40 digits"),
    "a number that Python does not convert": (
        "clients = 2",
        f"clients = {'9' * 6000}",
        4,
        "limited to 40 digits",
    ),
    "a hexadecimal number that nothing shows": ("clients = 2", f"clients = 0x{'f' * 6000}", 4, "40 digits"),
    "a NUL": ('"1MiB"\n', '"1MiB\\u0000"\n', 14, r'block: "1MiB\u0000" contains U+0000'),
    "an escape sequence of terminals": ('"s"', r'"s\u001b[2J"', 2, r'name: "s\u001b[2J" contains U+001B'),
    "a line end": ('"s"', r'"s\nt"', 2, "contains U+000A"),
    "a separator of lines": ('"/data"', '"/da\u2028ta"', 3, "contains U+2028"),
    "text that runs the other way": ('"/data"', '"/da\u202eta"', 3, r'target: "/da\u202eta" contains U+202E'),
    "a control character of the second kind": ('"/data"', r'"/da\u0085ta"', 3, "contains U+0085"),
    "a control character in a list": ('"1MiB",\n]', r'"1MiB\u0007",' + "\n]", 12, "contains U+0007"),
    "a control character in a key": ("clients = 2", r'"cli\u0007ents" = 2', 1, "contains U+0007"),
    "a name that is a directory": ('"s"', '"."', 2, "the first a letter or a digit"),
    "a name that is an option": ('"s"', '"-s"', 2, "the first a letter or a digit"),
    "more ranks on a node than there can be": (
        "clients = 2",
        "ranks_per_node = 99999999999",
        4,
        "ranks_per_node: 99999999999 is too large: at most 16777216",
    ),
    "an interval of nothing": (
        "repetitions = 3",
        'repetitions = { min = 2, until = "0%" }',
        5,
        'until: "0%" can never be reached',
    ),
    "an interval that no number holds": (
        "repetitions = 3",
        'repetitions = { min = 2, until = "1e-999999%" }',
        5,
        "until:",
    ),
    "a count beyond all": ("clients = 2", f"seed = 1{'0' * 30}", 4, "is too large: at most"),
    "a size beyond all numbers": ('"4KiB"', f"1{'0' * 30}", 11, "is too large: at most"),
    "no way to share": ("clients = 2", 'sharing = "per-rnk"', 4, 'did you mean "per-rank"?'),
    "no files": ("clients = 2", "sharing = 0", 4, "or a number of files (at least 1)"),
    "fewer at most than at least": (
        "repetitions = 3",
        "repetitions = { min = 5, max = 3 }",
        5,
        "min = 5 is larger than max = 3",
    ),
    "no repetitions": (
        "repetitions = 3",
        "repetitions = 0",
        5,
        "min and max must be whole numbers of at least 1",
    ),
    "a list of repetitions": ("repetitions = 3", "repetitions = [3, 5]", 5, "takes one value, not a list"),
    "an interval that is none": (
        "repetitions = 3",
        'repetitions = { until = "narrow" }',
        5,
        'until: "narrow" is not a share',
    ),
    "an interval that is no number": (
        "repetitions = 3",
        "repetitions = { until = nan }",
        5,
        'until: "nan" is not a share',
    ),
    "an interval without an end": (
        "repetitions = 3",
        'repetitions = { until = "inf%" }',
        5,
        'until: "inf%" is not a share',
    ),
    "more repetitions than there are numbers": (
        "repetitions = 3",
        f"repetitions = 1{'0' * 30}",
        5,
        "is too large: at most",
    ),
    "an interval beyond all": (
        "repetitions = 3",
        'repetitions = { until = "500%" }',
        5,
        'until: "500%" is not a share',
    ),
    "an interval from one sample": (
        "repetitions = 3",
        "repetitions = { min = 1, until = 0.1 }",
        5,
        "until needs at least 2",
    ),
    "an unknown key of repetitions": (
        "repetitions = 3",
        "repetitions = { mim = 1 }",
        5,
        'unknown key "mim": did you mean "min"?',
    ),
    "lists in zip that differ": (
        'block = "1MiB"',
        '[case.zip]\nclients = [1, 2]\nblock = ["1k"]',
        14,
        "clients has 2, block has 1",
    ),
    "no list in zip": ('block = "1MiB"', '[case.zip]\nblock = "1k"', 15, 'zip: "block" must be a list'),
    "a key in zip and outside": (
        'block = "1MiB"',
        '[case.zip]\nclients = [1]\ntransfer = ["1k"]',
        10,
        '"transfer" is also in zip: keep one',
    ),
    "an unknown key in zip": (
        'block = "1MiB"',
        "[case.zip]\nclents = [1]",
        15,
        'unknown key "clents": did you mean "clients"?',
    ),
    "a zip that is no table": ("block =", "zip = 3\nblock =", 14, "zip must be a table of lists"),
    "a case's name of the wrong type": ("block =", "name = 3\nblock =", 14, "name: 3 is not a string"),
}


def mistakes_of(text: str, description: Description) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        build(parse(text, "s.toml"), description, Changes())
    assert caught.value.exit_code == ExitCode.BAD_INPUT
    return caught.value.message.splitlines()


def test_the_suite_without_mistakes_has_none(description: Description) -> None:
    assert len(build(parse(SUITE, "s.toml"), description, Changes()).plan.cases) == 4


@pytest.mark.parametrize("name", MISTAKES)
# proves measuring: runtime-or-deadline
def test_a_mistake_gets_one_message_with_its_line_and_a_remedy(name: str, description: Description) -> None:
    old, new, line, says = MISTAKES[name]
    text = old.sub(new, SUITE) if isinstance(old, re.Pattern) else SUITE.replace(old, new, 1)
    assert text != SUITE
    (message,) = mistakes_of(text, description)
    assert message.startswith(f"s.toml:{line}: ")
    assert says in message


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (r'case.name="a\u0000"', "contains U+0000"),
        (r'suite.target="a\u202e"', "contains U+202E"),
        (f"case.clients=0x{'f' * 6000}", "limited to 40 digits"),
        (f"case.clients={'9' * 6000}", "is not a whole number"),
        (f"case.transfer={'[' * 3000}", "is too long"),
    ],
)
def test_what_is_set_on_the_command_line_is_judged_in_the_same_way(
    setting: str, says: str, description: Description
) -> None:
    with pytest.raises(SuiteError) as caught:
        build(parse(SUITE, "s.toml"), description, Changes([setting]))
    assert says in caught.value.message


def test_several_mistakes_are_all_named_in_the_order_of_the_file(description: Description) -> None:
    text = (
        SUITE.replace("segmented", "stided").replace("clients = 2", "clients = 0").replace("4KiB", "4 pints")
    )
    assert [message.split(" ")[0] for message in mistakes_of(text, description)] == [
        "s.toml:4:",
        "s.toml:8:",
        "s.toml:11:",
    ]


def test_lists_that_cross_to_too_many_cases_are_refused(description: Description) -> None:
    numbers = ", ".join(map(str, range(1, 102)))
    text = SUITE.replace("clients = 2", f"clients = [{numbers}]").replace('"1MiB"\n', f"[{numbers}]\n")
    (message,) = mistakes_of(text, description)
    assert message.startswith("s.toml:6: the lists multiply to 40804 cases")


def test_a_file_that_is_not_there_is_named(description: Description, tmp_path: Path) -> None:
    with pytest.raises(StriderError, match=r"missing.toml: No such file"):
        load(tmp_path / "missing.toml", description)


def test_a_file_that_is_no_text_is_named(description: Description, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(StriderError, match="not a text file in UTF-8"):
        load(tmp_path / "s.toml", description)


def test_the_target_may_be_left_out_where_it_is_not_needed(description: Description) -> None:
    document = parse(SUITE.replace('target = "/data"\n', ""), "s.toml")
    assert build(document, description, Changes(), target="optional").plan.target == ""


def test_an_unknown_table_hides_no_other_mistake(description: Description) -> None:
    text = SUITE.replace('"segmented"', '"segmentd"').replace("[[case]]", "[options]\na = 1\n[[case]]")
    with pytest.raises(SuiteError) as caught:
        build(parse(text, "s.toml"), description, Changes())
    lines = caught.value.message.splitlines()
    assert len(lines) == 2
    assert 'unknown table "options"' in lines[0]
    assert 'unknown pattern "segmentd"' in lines[1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[case]]\n" * 1001, "about 1001 tables exceed the limit of 1000"),
        ("[[case]]\n" + "\n".join(f"k{n} = 1" for n in range(10_001)), "about 10001 keys"),
        (SUITE + f"count = [{'1,' * 50_000}]", "values in lists exceed the limit of 50000"),
    ],
)
def test_a_suite_that_is_too_large_is_refused_before_it_is_parsed(
    text: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "positions", None)
    with pytest.raises(SuiteError, match=says):
        parse(text, "s.toml")


def test_the_cases_of_all_tables_are_counted_before_one_is_formed(
    description: Description, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expand, "_combinations", None)
    case = SUITE[SUITE.index("[[case]]") :] + "warmup = [" + ",".join(map(str, range(2000))) + "]\n"
    text = SUITE[: SUITE.index("[[case]]")] + case * 3
    with pytest.raises(SuiteError, match="24000 cases, the limit is 10000"):
        build(parse(text, "s.toml"), description, Changes(), "needed")


def test_reading_ends_at_so_many_mistakes(description: Description) -> None:
    text = SUITE + "\n".join(f"odd{n} = 1" for n in range(5000))
    with pytest.raises(SuiteError) as error:
        build(parse(text, "s.toml"), description, Changes(), "needed")
    assert len(error.value.found) == MOST_MISTAKES + 1
    assert "the rest of the file was not checked" in error.value.message
