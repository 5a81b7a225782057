"""Readers of the output of IOR and mdtest, as in users' scripts and checks."""

import csv
import io
import re
import subprocess

FLOAT = r"[0-9]+(?:\.[0-9]+)?"


def reframe_rates(output: str) -> dict[str, float]:
    """The rates of a check that looks for `Max Write:` and `Max Read:`."""
    return {
        name: float(rate)
        for name in ("Write", "Read")
        for rate in re.findall(rf"^Max {name}:\s+(\S+) MiB/sec \({FLOAT} MB/sec\)", output, re.M)
    }


def table_rows(output: str) -> list[dict[str, str]]:
    """Rows of repetitions, their columns by the words of the heading above them."""
    lines = output.splitlines()
    at = next(number for number, line in enumerate(lines) if re.match(r"access\s+bw\(MiB/s\)", line))
    names = lines[at].split()
    rows = []
    for line in lines[at + 2 :]:
        if not re.match(r"(write|read)\s", line):
            break
        rows.append(dict(zip(names, line.split(), strict=True)))
    return rows


def summary_rows(output: str) -> list[dict[str, str]]:
    """The summary as a table of columns separated by blanks, up to the word `Finished`."""
    found = re.search(r"Summary of all tests:\n(.*?)Finished", output, re.DOTALL)
    assert found is not None
    text = re.sub(" +", " ", found[1])
    return list(csv.DictReader(io.StringIO(text), delimiter=" "))


def head(output: str) -> dict[str, str]:
    """Pairs of name and value, as `xfersize            : 64 KiB`."""
    return {name.strip(): value for name, value in re.findall(r"^([^:\n]{20}): (.*)$", output, re.M)}


def version(output: str) -> str | None:
    """The version of IOR."""
    found = re.match(r"IOR-([3-9]\.[0-9]+\.[0-9]+\S*): MPI Coordinated Test of Parallel I/O\n", output)
    return found[1] if found else None


def mdtest_rates(output: str) -> dict[str, tuple[float, ...]]:
    """Max, min, mean and deviation of each row; a line has no further word."""
    pattern = rf"^\s+((?:Directory|File|Tree) \w+)\s+({FLOAT})\s+({FLOAT})\s+({FLOAT})\s+({FLOAT})$"
    return {name: tuple(map(float, numbers)) for name, *numbers in re.findall(pattern, output, re.M)}


def shell(script: str, output: str) -> str:
    """The output of a shell script that prints an output."""
    done = subprocess.run(["sh", "-c", script], input=output, capture_output=True, text=True, check=True)
    return done.stdout.strip()
