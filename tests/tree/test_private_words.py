"""Private words in comments and names are counted, and their numbers only fall."""

import json
from pathlib import Path

import pytest

import private_words
from private_words import CLAUSES, COMMENTS, NAMES


def found(path: str, text: str) -> list[tuple[str, int, str]]:
    return list(private_words.occurrences(path, text))


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("engine/x.cpp", "int a;  ///< for nobody\n", [(COMMENTS, 1, "nobody")]),
        ("engine/x.cpp", "/// Of what\n/// it takes.\nint a;\n", [(CLAUSES, 1, "what it")]),
        ("engine/x.hpp", "/* whoever\n * who waits */\n", [(COMMENTS, 1, "whoever"), (CLAUSES, 2, "who")]),
        ("engine/x.cpp", "int tellAll(Seat, Seat s);\n", [(NAMES, 1, "Seat"), (NAMES, 1, "tellAll")]),
        ("x.py", 'def tell():\n    """Anew."""\n', [(COMMENTS, 2, "Anew"), (NAMES, 1, "tell")]),
        ("x.py", "X = 1\n'''In vain.'''\n#: anew\n", [(COMMENTS, 2, "In vain"), (COMMENTS, 3, "anew")]),
        ("x.sh", "# Who\necho '#' nobody  # nobody\n", [(COMMENTS, 2, "nobody"), (CLAUSES, 1, "Who")]),
        ("x.toml", "# for\n# nobody\n", [(COMMENTS, 2, "nobody")]),
    ],
)  # fmt: skip
def test_private_words_are_found_in_comments_and_names(
    path: str, text: str, expected: list[tuple[str, int, str]]
) -> None:
    assert found(path, text) == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine/x.cpp", 'say("nobody", \'"\', R"(// nobody)", 1\'000, "// anew");\n'),
        ("engine/x.cpp", '#include "nobody/tell.hpp"\n// `nobody` is a user\n'),
        ("engine/x.cpp", "// what\nint a;\n// it\n"),
        ("engine/x.cpp", "TEST_F(Seats, AreTold) { std::visit(f, a); }\n"),
        ("x.py", 'def test_who_waits_is_told() -> None:\n    say(\'nobody\', """anew""")\n'),
        ("x.sh", "#!/bin/nobody\necho ${#nobody}\n"),
    ],
)
def test_strings_names_of_tests_and_other_files_do_not_count(path: str, text: str) -> None:
    assert found(path, text) == []


def tree(root: Path, numbers: dict[str, int]) -> list[str]:
    (root / "x.cpp").write_text("int told;  // anew, what it is, nobody\n")
    (root / "tools").mkdir()
    (root / private_words.NUMBERS).write_text(json.dumps(numbers))
    return private_words.check(root, ["x.cpp", private_words.NUMBERS])


def test_the_numbers_of_a_tree_are_kept(tmp_path: Path) -> None:
    assert tree(tmp_path, {COMMENTS: 2, CLAUSES: 1, NAMES: 1}) == []


def test_more_private_words_than_the_number_are_a_breach(tmp_path: Path) -> None:
    (finding,) = tree(tmp_path, {COMMENTS: 1, CLAUSES: 1, NAMES: 1})
    assert finding.startswith("2 private words in comments, more than 1: ")


def test_fewer_private_words_lower_the_number(tmp_path: Path) -> None:
    (finding,) = tree(tmp_path, {COMMENTS: 2, CLAUSES: 1, NAMES: 2})
    assert finding.startswith(
        "1 private words in identifiers, fewer than 2: run tools/private_words.py --lower"
    )


def test_the_committed_file_has_a_number_for_each_kind() -> None:
    file = Path(__file__).resolve().parents[2] / private_words.NUMBERS
    assert set(json.loads(file.read_text())) == {COMMENTS, CLAUSES, NAMES}
