"""Changes to the text of a suite: input of the form goes into the TOML, and comments stay.

The text is the one truth. The form is a view of it, made again after every change.
"""

from typing import Annotated, Any, Literal

import tomlkit
from pydantic import BaseModel, Field
from tomlkit.container import OutOfOrderTableProxy
from tomlkit.items import AoT, InlineTable, Item, Key, SingleKey, Table

from strider.engine import Json, Parameter
from strider.errors import StriderError
from strider.suite.changes import selection
from strider.suite.document import check_amount
from strider.suite.keys import example_of, resolve
from strider.suite.vocabulary import SHAPE_KEYS, SUITE_PARAMETERS, ShapeKey, Vocabulary
from strider.web.fields import to_value, written

SEVERAL = ("interface", *SHAPE_KEYS)
"""Keys whose values are names."""


class Set(BaseModel):
    """Gives a key another value, or none.

    Attributes:
        case: Index of the `[[case]]`; None for `[suite]`.
        key: The key, `posix.direct` for an option.
        typed: The input; empty removes the key.
    """

    do: Literal["set"]
    case: int | None = None
    key: str
    typed: str


class Add(BaseModel):
    """Adds a case of a kind at the end."""

    do: Literal["add"]
    shape: ShapeKey


class Copy(BaseModel):
    """Adds a copy of a case at the end."""

    do: Literal["copy"]
    case: int


class Remove(BaseModel):
    """Takes a case away."""

    do: Literal["remove"]
    case: int


Edit = Annotated[Set | Add | Copy | Remove, Field(discriminator="do")]


def apply(text: str, edits: list[Edit], vocabulary: Vocabulary) -> str:
    """The text after some changes.

    Raises:
        StriderError: A change names a case that is not there, or the text is no TOML.
    """
    for edit in edits:
        check_amount(text, "suite.toml")  # the parser that keeps comments is a slow one
        text = _applied(text, edit, vocabulary)
    return text


def _applied(text: str, edit: Edit, vocabulary: Vocabulary) -> str:
    document = _parsed(text)
    match edit:
        case Set():
            if edit.case is None and "suite" not in document:
                document = _parsed(f"[suite]\n\n{text}")
            _set(document, edit, vocabulary)
        case Add():
            return _with_case(text, _new_case(edit.shape, vocabulary))
        case Copy():
            return _with_case(text, _copied(_case(document, edit.case), vocabulary))
        case Remove():
            _case(document, edit.case)
            del _cases(document)[edit.case]
    return document.as_string()


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except (ValueError, RecursionError) as error:
        raise StriderError("the form cannot change invalid TOML: correct the text first") from error


def _with_case(text: str, case: Table) -> str:
    """The text with one more case at its end, where a `[[case]]` may always stand."""
    cases = tomlkit.aot()
    cases.append(case)
    document = tomlkit.document()
    document.add("case", cases)
    return f"{text.rstrip()}\n\n{document.as_string()}".lstrip()


def _cases(document: tomlkit.TOMLDocument) -> AoT:
    cases = document.setdefault("case", tomlkit.aot())
    if not isinstance(cases, AoT):
        raise StriderError("the suite's cases are not [[case]] tables: correct the TOML text first")
    return cases


def _case(document: tomlkit.TOMLDocument, index: int) -> Table:
    cases = _cases(document)
    if not 0 <= index < len(cases):
        raise StriderError(f"the suite has no case {index + 1}")
    return cases[index]


def _set(document: tomlkit.TOMLDocument, edit: Set, vocabulary: Vocabulary) -> None:
    if edit.case is None:
        suite = document["suite"]
        if not isinstance(suite, Table | InlineTable | OutOfOrderTableProxy):
            raise StriderError("suite is not a [suite] table: correct the TOML text first")
        _put(suite, (edit.key,), _suite_value(edit, vocabulary))
        return
    table = _case(document, edit.case)
    if edit.key in SEVERAL:
        names = [name.strip() for name in edit.typed.split(",") if name.strip()]
        _put(table, (edit.key,), names[0] if len(names) == 1 else names or None)
        _drop_orphans(table, vocabulary)
        return
    owner, dot, option = edit.key.partition(".")
    path = (owner, option) if dot else (owner,)
    if edit.key == "name":
        _put(table, path, edit.typed or None)
        return
    parameter = _parameter(table, edit.key, vocabulary)
    # A user may still have typed into a field of a pattern that the case no longer has.
    if parameter is not None:
        _put(table, path, to_value(parameter, edit.typed))


def _suite_value(edit: Set, vocabulary: Vocabulary) -> Json:
    parameter = SUITE_PARAMETERS.get(edit.key)
    for workload in vocabulary.workloads:
        parameter = parameter or workload.common.get(edit.key)
    if parameter is None:
        raise StriderError(f'[suite] has no key "{edit.key}"')
    return to_value(parameter, edit.typed)


def _parameter(table: Table, key: str, vocabulary: Vocabulary) -> Parameter | None:
    """The parameter that a key means in a case; None where it means nothing there."""
    try:
        return resolve(key, selection(table.unwrap(), vocabulary), vocabulary)
    except ValueError:
        return None


def _put(table: Any, path: tuple[str, ...], value: Json) -> None:  # noqa: ANN401 - a table of any kind
    """Writes or removes a value; an option goes into its interface's table."""
    name, *rest = path
    inner = table.get(name)
    if rest and inner is not None:
        if not isinstance(inner, Table | InlineTable | OutOfOrderTableProxy):
            raise StriderError(f'"{name}" is not a table of options: correct the TOML text first')
        _put(inner, tuple(rest), value)
        if not inner:
            del table[name]
    elif value is None:
        table.pop(name, None)
    elif name in table:
        table[name] = _item(value)
    else:
        # Dotted: a table of its own would have to stand behind all other keys.
        _append(table, tomlkit.key([*path] if rest else name), _item(value))


def _append(table: Any, key: Key, item: Item) -> None:  # noqa: ANN401 - a table of any kind
    """Adds a key behind the last one, in front of the comments that lead over to the next table."""
    container = table.value
    plain = [known for known, old in container.body if known is not None and not isinstance(old, Table | AoT)]
    if plain and isinstance(key, SingleKey):
        container._insert_after(plain[-1], key, item)  # what `Table` itself offers appends
    else:
        table.append(key, item)


def _copied(case: Table, vocabulary: Vocabulary) -> Table:
    """A case with the same values."""
    copy, values = tomlkit.table(), case.unwrap()
    for name, value in sorted(values.items(), key=lambda pair: pair[0] in vocabulary.interfaces):
        if name in vocabulary.interfaces and isinstance(value, dict):
            for option, inner in value.items():
                _put(copy, (name, option), inner)
        else:
            copy[name] = value if name == "zip" else _item(value)
    return copy


def _item(value: Json) -> Any:  # noqa: ANN401 - tomlkit has no name for it
    item = tomlkit.value(written(value))
    item.trivia.trail = "\n"
    return item


def _drop_orphans(table: Table, vocabulary: Vocabulary) -> None:
    """Takes away what belongs to interfaces, patterns or trees that the case no longer names."""
    used = selection(table.unwrap(), vocabulary)
    if used.doubtful:
        return
    for name in [key for key in table if key not in ("name", "zip", *SEVERAL)]:
        if name in vocabulary.interfaces:
            if name not in used.interfaces:
                del table[name]
            continue
        try:
            resolve(name, used, vocabulary)
        except ValueError:
            del table[name]


def _new_case(shape: ShapeKey, vocabulary: Vocabulary) -> Table:
    """A case that can be run as it stands, with the first interface that can do it."""
    workload = vocabulary.workload(shape)
    able = [
        name
        for name, interface in vocabulary.interfaces.items()
        if interface.available and (interface.metadata or shape == "pattern")
    ]
    table = tomlkit.table()
    table["interface"] = next(iter(able), "")
    table[shape] = next(iter(workload.shapes), "")
    own = next((one.parameters for one in workload.shapes.values()), [])
    for parameter in [*own, *workload.common.values()]:
        if parameter.required:
            table[parameter.name] = _item(example_of(parameter))
    return table
