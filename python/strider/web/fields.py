"""A value between a field of the form, where it is a short text, and the suite, where it is TOML.

In a field, commas separate the values of an axis: `4KiB, 1MiB`. More complex values, such as a table or a
list of lists, is typed as in TOML. Nothing is judged here: a text that fits no value goes into the suite as a
text, and the suite reader reports the error.
"""

import re
import tomllib
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from strider.engine import NAMED_PLACES, Json, Parameter, ParameterKind
from strider.units import MOST_DIGITS

TEXTS: tuple[ParameterKind, ...] = ("text", *NAMED_PLACES)
"""Kinds whose values are taken as they are typed."""
PLAIN: tuple[ParameterKind, ...] = (
    "bytes",
    "count",
    "port",
    "seconds",
    "flag",
    "choice",
    "sharing",
    "operations",
)
"""Kinds whose values are words and numbers, and which commas may separate."""
_INTEGER = re.compile(r"[+-]?\d+")
_FLOAT = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")


def to_value(parameter: Parameter, typed: str) -> Json:
    """The value for the suite from the input of a field; None if the field is empty."""
    text = typed.strip()
    if not text:
        return None
    if text[0] in "[{\"'" or parameter.kind not in (*PLAIN, *TEXTS):
        return _toml(text)
    if parameter.kind in TEXTS:
        return text
    parts = [part.strip() for part in text.split(",")]
    values = [_scalar(part, parameter) for part in parts if part]
    return values[0] if len(values) == 1 else values or None


def to_text(parameter: Parameter | None, value: Json) -> str:
    """How a value of the suite stands in a field; `to_value` reads it back."""
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, list | dict) for one in values):
        return written(value)
    text = ", ".join(written(one) if isinstance(one, bool) else str(one) for one in values)
    # Only where nothing is lost: a text may hold commas, or look like a number.
    return text if parameter is None or to_value(parameter, text) == value else written(value)


def written(value: Json) -> str:
    """A value as TOML has it, on one line."""
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, dict):
        inner = ", ".join(f"{tomlkit.key(key).as_string()} = {written(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return str(tomlkit.item(value).as_string())


def _scalar(text: str, parameter: Parameter) -> Json:
    if parameter.kind == "flag" and text in ("true", "false"):
        return text == "true"
    if parameter.kind in ("choice", "operations"):
        return text
    if len(text) > MOST_DIGITS:  # no number is as long
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _toml(text: str) -> Json:
    """The value of a text as TOML, otherwise the text itself."""
    try:
        document: dict[str, Any] = tomllib.loads(f"value = {text}")
        tomlkit.parse(f"value = {text}")
    except (ValueError, TOMLKitError, RecursionError):  # also a number of thousands of digits
        return text
    return document["value"] if document.keys() == {"value"} else text
