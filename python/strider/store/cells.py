"""Cells of CSV files: text that a spreadsheet would take for a formula is kept from being one."""

import re

_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?( ?%)?"
_HARMLESS = re.compile(rf"{_NUMBER}( – {_NUMBER})?")
"""A number, a percentage, or the range between two of them: these are read as numbers."""


def defused(text: str) -> str:
    """A cell with an apostrophe in front, if it begins as a formula does and is no number."""
    return f"'{text}" if _FORMULA.match(text) and not _HARMLESS.fullmatch(text) else text


def defused_sql(column: str) -> str:
    """The same in SQL, of a column of texts.

    Args:
        column: Its name, quoted.
    """
    formula = f"regexp_matches({column}, '^{_FORMULA.pattern}')"
    harmless = f"regexp_full_match({column}, '{_HARMLESS.pattern}')"
    return f"CASE WHEN {formula} AND NOT {harmless} THEN '''' || {column} ELSE {column} END"
