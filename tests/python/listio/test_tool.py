"""Output of the list-I/O service's programs is parsed."""

from __future__ import annotations

import pytest

from strider.listio.tool import ready_address

READY = 'ready {"number": 1, "address": "[::1]:4096", "pid": 7}\n'


@pytest.mark.parametrize(
    ("output", "address"),
    [
        (READY, "[::1]:4096"),
        (f"a site's greeting\n{READY}", "[::1]:4096"),
        ("already running\n", ""),
        ("", ""),
    ],
)
# proves listio: ready-line
def test_a_server_says_where_it_serves(output: str, address: str) -> None:
    assert ready_address(output) == address
