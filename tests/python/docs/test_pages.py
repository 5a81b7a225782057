"""The manual's pages describe patterns and interfaces as the engine does."""

import pytest

import pages
from reference_pages import parameter_table
from strider.engine import Engine, Parameter


def test_pages_and_pictures_are_those_of_the_engine(engine: Engine) -> None:
    stale = [
        str(path.relative_to(pages.ROOT))
        for path, content in pages.expected_files(engine).items()
        if not path.exists() or path.read_text(encoding="utf-8") != content
    ]
    assert not stale, "run `python tools/pages.py`, and write what a new page needs by hand"


def test_every_page_says_more_than_the_engine(engine: Engine) -> None:
    for path in pages.expected_files(engine):
        if path.suffix == ".md" and path.parent.name != "reference":
            _, _, by_hand = path.read_text(encoding="utf-8").partition(pages.END)
            assert by_hand.count("\n## ") >= 2, f"{path} says too little"


def test_every_page_belongs_to_something_the_engine_has(engine: Engine) -> None:
    modules = {pages.ROOT / f"docs/interfaces/{each.name}.md" for each in engine.description.interfaces}
    known = set(pages.expected_files(engine)) | modules
    for folder in ("patterns", "interfaces"):
        for page in (pages.ROOT / "docs" / folder).iterdir():
            assert page in known, f"{page} describes what is not there"


@pytest.mark.parametrize(
    ("parameter", "row"),
    [
        (
            Parameter(name="transfer", kind="bytes", default=4096, doc="Bytes.", minimum=1),
            "| `transfer` | bytes, at least 1 | `4 KiB` | Bytes. |",
        ),
        (
            Parameter(name="block", kind="bytes", doc="As transfer.", minimum=1),
            '| `block` | bytes, at least 1, `"auto"`, `"beyond-memory"` | — | As transfer. |',
        ),
        (
            Parameter(name="access", kind="choice", default="a", doc="Which.", choices=["a", "b"]),
            '| `access` | `a`, `b` | `"a"` | Which. |',
        ),
        (
            Parameter(name="size", kind="bytes", doc="Either | or.", required=True),
            '| `size` | bytes, `"auto"`, `"beyond-memory"` | required | Either \\| or. |',
        ),
        (
            Parameter(name="direct", kind="flag", default=False, doc="No cache."),
            "| `direct` | flag | `false` | No cache. |",
        ),
    ],
)
def test_a_parameter_is_a_row(parameter: Parameter, row: str) -> None:
    assert parameter_table([parameter], "")[2] == row


def test_rows_have_the_names_that_suites_use() -> None:
    table = parameter_table([Parameter(name="direct", kind="flag", default=False)], "posix.")
    assert "`posix.direct`" in table[2]


def test_what_is_written_by_hand_stays() -> None:
    head = f"# new\n{pages.END}\n"
    assert pages.with_head(f"# old\n{pages.END}\n\n## Mine\n", head) == f"{head}\n## Mine\n"
    assert pages.with_head("", head) == head


def test_a_page_that_was_begun_by_hand_gets_its_head() -> None:
    head = f"# new\n{pages.END}\n"
    assert pages.with_head("# mine\n\n## Mine\n", head) == f"{head}\n## Mine\n"
    assert pages.with_head("\n## Mine\n", head) == f"{head}\n## Mine\n"


def test_a_picture_has_a_box_for_each_extent_at_its_place() -> None:
    boxes = [
        pages.Box(rank=0, request=0, offset=0, length=2),
        pages.Box(rank=1, request=7, offset=2, length=1),
    ]
    drawn = pages.draw(boxes, 2, "a < b")
    assert drawn.count("rx=") == 2
    assert f'x="{pages.LEFT + 2 * pages.CELL + 1}" y="{pages.TOP + pages.LANE}"' in drawn
    assert ">7</text>" in drawn
    assert "a &lt; b" in drawn


def test_pictures_show_what_the_formulas_say(engine: Engine) -> None:
    strided = pages.boxes_of(engine, "strided", pages.PICTURES["strided"])
    assert {(box.rank, box.request): box.offset for box in strided} == {
        (rank, k): 4 * k + rank for rank in range(4) for k in range(4)
    }
