"""Options of another benchmark that are typed before `--`."""

import pytest

from strider.cli import main


@pytest.mark.parametrize(
    ("words", "option", "program"),
    [
        (["ior", "-a", "POSIX"], "-a", "IOR"),
        (["ior", "-n", "2", "-wr"], "-w", "IOR"),
        (["ior", "--posix.odirect", "--", "-w"], "--posix.odirect", "IOR"),
        (["mdtest", "-n", "100", "-d", "/tmp"], "-d", "mdtest"),
    ],
)
def test_an_option_of_the_other_benchmark_is_refused_with_its_place(
    words: list[str], option: str, program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = " ".join(capfd.readouterr().err.split())
    assert f"No such option: {option}" in shown
    assert f"Put the options of {program} after --: strider {words[0]} [OPTIONS] -- {option} …" in shown


def test_other_verbs_have_no_such_hint(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["quick", "-a", "POSIX"]) == 2
    assert "after --" not in capfd.readouterr().err
