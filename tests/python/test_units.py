import pytest
from hypothesis import given
from hypothesis import strategies as st

from strider.units import (
    format_bytes,
    format_bytes_rounded,
    format_rate,
    format_seconds,
    in_bytes,
    parse_bytes,
    parse_seconds,
    parse_share,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("4096", 4096),
        ("47008", 47008),
        ("780_171_000", 780_171_000),
        ("8 192 000 B", 8_192_000),
        ("4k", 4096),
        ("1m", 1 << 20),
        ("1G", 1 << 30),
        ("2t", 2 << 40),
        ("4KiB", 4096),
        ("4 kib", 4096),
        ("1.5MiB", 3 << 19),
        ("1TiB", 1 << 40),
        ("1kB", 1000),
        ("1MB", 1_000_000),
        ("1.5 GB", 1_500_000_000),
    ],
)
def test_sizes_are_powers_of_two_unless_written_with_a_bare_b(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "4 KiBs", "-1", "1e6", "0x10", "1.5.2k", "4 4x", "½k"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write for example"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("value", "planned"), [("4KiB", 4096), ("per-rank", "per-rank"), ("1.5", "1.5"), (True, True), (7, 7)]
)
def test_only_sizes_are_changed_to_bytes(value: object, planned: object) -> None:
    assert in_bytes(value) == planned


def test_a_fraction_of_a_byte_is_refused() -> None:
    with pytest.raises(ValueError, match=r"is 1.5 bytes, which is not a whole number"):
        parse_bytes("1.5")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1 << 20, "1 MiB"),
        (1536, "1.5 KiB"),
        (47008, "47 008 B"),
        (8_192_000, "8 192 000 B"),
        (780_171_000, "780 171 000 B"),
        (24 << 30, "24 GiB"),
        (100 << 20, "100 MiB"),
        (3000 << 50, "3000 PiB"),
    ],
)
def test_sizes_are_shown_exactly(count: int, text: str) -> None:
    assert format_bytes(count) == text


@given(st.integers(min_value=0, max_value=2**63))
def test_what_is_shown_reads_back_as_the_same_size(count: int) -> None:
    assert parse_bytes(format_bytes(count)) == count


@given(st.integers(min_value=0, max_value=2**63))
def test_rounded_sizes_are_off_by_less_than_one_percent(count: int) -> None:
    number, unit = format_bytes_rounded(count).split()
    scale = {"B": 1} | {f"{prefix}iB": 1024 ** (power + 1) for power, prefix in enumerate("KMGTP")}
    assert float(number) * scale[unit] == pytest.approx(count, rel=0.01)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30), ("30s", 30), ("250ms", 0.25), ("2min", 120), ("1.5 h", 5400), ("100us", 1e-4)],
)
def test_times_have_units(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "-1s", "3 weeks"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        parse_seconds(text)


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("100 %", 1.0), ("0", 0.0)])
def test_shares_are_percentages_or_numbers_up_to_one(text: str, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "120%", "-1%", "5", "five"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        parse_share(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "250 ms"),
        (40, "40 s"),
        (125, "2 min 5 s"),
        (4800, "1 h 20 min"),
        (183600, "2 d 3 h"),
        (3600, "1 h"),
    ],
)
def test_durations_are_shown_in_two_units_at_most(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(("rate", "text"), [(812.4, "812 MiB/s"), (45.67, "45.7 MiB/s"), (3.2, "3.20 MiB/s")])
def test_rates_have_three_digits(rate: float, text: str) -> None:
    assert format_rate(rate) == text
