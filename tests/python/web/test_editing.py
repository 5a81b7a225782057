"""Changes of the form in the text of a suite."""

import tomllib
from pathlib import Path

import pytest

from strider.engine import Engine
from strider.errors import StriderError
from strider.suite import Changes, ready_made
from strider.suite.document import parse
from strider.suite.load import build
from strider.suite.vocabulary import Vocabulary
from strider.web.checking import form_of
from strider.web.editing import Add, Copy, Edit, Remove, Set, apply

SUITE = """\
# what it is for
[suite]
name = "x" # short

# the first
[[case]]
interface = ["posix", "mpiio"] # both
pattern = "strided"
transfer = "1MiB"
mpiio.access = "collective"

# the second
[[case]]
interface = "posix"
pattern = "random"
size = "1GiB"
"""


@pytest.fixture(scope="module")
def vocabulary(engine: Engine) -> Vocabulary:
    return Vocabulary.of(engine.description)


def change(case: int | None, key: str, typed: str) -> Set:
    return Set(do="set", case=case, key=key, typed=typed)


def test_a_value_is_replaced_and_everything_else_stays(vocabulary: Vocabulary) -> None:
    text = apply(SUITE, [change(0, "transfer", "4KiB, 1MiB")], vocabulary)
    assert text == SUITE.replace('transfer = "1MiB"', 'transfer = ["4KiB", "1MiB"]')


def test_a_new_key_stands_behind_the_others_of_its_table(vocabulary: Vocabulary) -> None:
    text = apply(SUITE, [change(None, "clients", "2")], vocabulary)
    assert text == SUITE.replace("# short\n", "# short\nclients = 2\n")


def test_an_empty_field_takes_the_key_away(vocabulary: Vocabulary) -> None:
    text = apply(
        SUITE, [change(0, "transfer", ""), change(0, "mpiio.access", ""), change(0, "count", "")], vocabulary
    )
    assert text == SUITE.replace('transfer = "1MiB"\nmpiio.access = "collective"\n', "")


def test_an_option_belongs_to_its_interface(vocabulary: Vocabulary) -> None:
    text = apply(
        SUITE,
        [change(0, "posix.direct", "true, false"), change(0, "mpiio.access", "independent")],
        vocabulary,
    )
    case = tomllib.loads(text)["case"][0]
    assert (case["posix"], case["mpiio"]) == ({"direct": [True, False]}, {"access": "independent"})


def test_another_interface_or_pattern_drops_what_belonged_to_the_first(vocabulary: Vocabulary) -> None:
    edits: list[Edit] = [change(0, "interface", "posix"), change(1, "pattern", "strided")]
    cases = tomllib.loads(apply(SUITE, edits, vocabulary))["case"]
    assert cases == [
        {"interface": "posix", "pattern": "strided", "transfer": "1MiB"},
        {"interface": "posix", "pattern": "strided"},
    ]


def test_cases_are_added_copied_and_removed(vocabulary: Vocabulary) -> None:
    edits: list[Edit] = [Copy(do="copy", case=0), Add(do="add", shape="tree"), Remove(do="remove", case=1)]
    text = apply(SUITE, edits, vocabulary)
    cases = tomllib.loads(text)["case"]
    assert cases[0] == cases[1]
    assert "tree" in cases[2]
    assert "# what it is for" in text


def test_what_is_still_typed_into_a_field_that_is_gone_harms_nothing(vocabulary: Vocabulary) -> None:
    edits: list[Edit] = [change(1, "pattern", "strided"), change(1, "size", "2GiB"), change(1, "count", "4")]
    case = tomllib.loads(apply(SUITE, edits, vocabulary))["case"][1]
    assert case == {"interface": "posix", "pattern": "strided", "count": 4}


@pytest.mark.parametrize("shape", ["pattern", "tree"])
def test_a_new_case_can_be_run_as_it_stands(shape: str, engine: Engine, vocabulary: Vocabulary) -> None:
    added = Add.model_validate({"do": "add", "shape": shape})
    text = apply('[suite]\nname = "x"\ntarget = "/t"\n', [added], vocabulary)
    plan = build(parse(text, "x"), engine.description, Changes()).plan
    assert not engine.check(plan.to_json()).errors


def test_a_suite_without_a_head_gets_one(vocabulary: Vocabulary) -> None:
    assert apply("[[case]]\n", [change(None, "name", "x")], vocabulary) == '[suite]\nname = "x"\n\n[[case]]\n'


@pytest.mark.parametrize(
    "edit",
    [
        Remove(do="remove", case=2),
        Copy(do="copy", case=-1),
        change(7, "name", "x"),
        change(None, "nothing", "x"),
    ],
)
def test_what_is_not_there_cannot_be_changed(edit: Edit, vocabulary: Vocabulary) -> None:
    with pytest.raises(StriderError):
        apply(SUITE, [edit], vocabulary)


def test_a_text_that_is_no_toml_is_left_to_its_author(vocabulary: Vocabulary) -> None:
    with pytest.raises(StriderError, match="invalid TOML"):
        apply("x =", [change(None, "name", "x")], vocabulary)


@pytest.mark.parametrize("file", ready_made().values(), ids=lambda file: file.stem)
def test_a_form_that_is_typed_into_itself_is_the_same_plan(
    file: Path, engine: Engine, vocabulary: Vocabulary
) -> None:
    text = file.read_text(encoding="utf-8")
    document = parse(text, file.name)
    form = form_of(document, vocabulary)
    edits: list[Edit] = [change(None, key, typed) for key, typed in form["suite"].items()]
    for case in form["cases"]:
        edits += [change(case["index"], "interface", ", ".join(case["interfaces"]))]
        edits += [change(case["index"], case["shape"], ", ".join(case["shapes"]))]
        edits += [change(case["index"], key, typed) for key, typed in case["values"].items()]
        edits += [change(case["index"], "name", case["name"])]
    once = apply(text, edits, vocabulary)
    plans = [
        build(parse(each, "x"), engine.description, Changes(), "optional").plan.to_json()
        for each in (text, once)
    ]
    assert plans[0] == plans[1]
    assert once.count("#") == text.count("#")


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        (SUITE.replace("mpiio.access", "posix = 3\nmpiio.access"), change(0, "posix.direct", "true")),
        ("suite = 3\n", change(None, "name", "x")),
        ("[[suite]]\n", change(None, "name", "x")),
        ("case = 3\n", change(0, "transfer", "1MiB")),
        ("[[case]]\n" * 100_000, change(0, "transfer", "1MiB")),
    ],
)
def test_an_edit_of_what_is_no_table_is_a_message(text: str, edit: Edit, vocabulary: Vocabulary) -> None:
    with pytest.raises(StriderError):
        apply(text, [edit], vocabulary)


def test_digits_without_an_end_stay_a_text(vocabulary: Vocabulary) -> None:
    text = apply(SUITE, [change(0, "count", "9" * 6000), change(0, "repetitions", "9" * 6000)], vocabulary)
    assert tomllib.loads(text)["case"][0]["count"] == "9" * 6000
