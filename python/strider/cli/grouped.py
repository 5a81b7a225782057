"""Verbs that take groups of options."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Annotated, Any, get_args, get_origin

from strider.running.options import Group


class Without:
    """Options of a group that a verb does not have: `Annotated[RankOptions, Without("launcher")]`."""

    def __init__(self, *names: str) -> None:
        self.names = names


def grouped(verb: Callable[..., None]) -> Callable[..., None]:
    """Returns a verb for Typer: each group among its parameters is replaced by the options of the group."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type[Group], list[str]]] = {}
    for parameter in inspect.signature(verb).parameters.values():
        group, left_out = _group_of(parameter.annotation)
        if group is None:
            parameters.append(parameter)
            continue
        options = [each for each in fields(group) if each.name not in left_out]  # type: ignore[arg-type]
        groups[parameter.name] = group, [each.name for each in options]
        parameters += map(_parameter, options)

    @functools.wraps(verb)
    def expanded(**values: object) -> None:
        for name, (group, names) in groups.items():
            own = {each: values.pop(each) for each in names if each in values}
            # Typer has None for an option that is not given and has no default.
            values[name] = group(**{each: value for each, value in own.items() if value is not None})
        verb(**values)

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return expanded


def _group_of(annotation: Any) -> tuple[type[Group] | None, tuple[str, ...]]:  # noqa: ANN401 - of any type
    """Returns the group that an annotation names, and the options that are left out."""
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    if not (isinstance(kind, type) and issubclass(kind, Group)):
        return None, ()
    return kind, tuple(name for note in notes if isinstance(note, Without) for name in note.names)


def _parameter(option: "Field[Any]") -> inspect.Parameter:
    default = None if option.default is MISSING else option.default
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option.type
    )
