"""The data that files of `strider ior` hold when they stay."""

import shlex
import time
from pathlib import Path

import pytest

from strider.engine import Json
from strider.importers.imported import Imported
from strider.importers.ior import read_command
from strider.importers.options import Surroundings


def read(arguments: str, folder: Path) -> Imported:
    words = [*shlex.split(arguments), "-o", str(folder / "file")]
    return read_command(words, Surroundings(3, keeps_files=True))


def packet(arguments: str, folder: Path) -> Json:
    """The packet of the only case."""
    (manifest,) = read(arguments, folder).manifests.values()
    return manifest.get("packet")


@pytest.mark.parametrize(
    ("letter", "kind"),
    [
        ("", "timestamp"),
        ("-O dataPacketType=t", "timestamp"),
        ("-l t", "timestamp"),
        ("-l offset", "offset"),
        ("-l i", "incompressible"),
        ("-l random", "random"),
        ("-O dataPacketType=o", "offset"),
    ],
)
def test_the_first_letter_is_the_type(tmp_path: Path, letter: str, kind: str) -> None:
    assert packet(f"-w -k -G 27 {letter}", tmp_path)["type"] == kind


def test_it_has_the_geometry_of_the_writer(tmp_path: Path) -> None:
    shared = {"type": "timestamp", "signature": 27, "transfer": 1 << 16, "block": 1 << 18, "tasks": 3}
    geometry = "-w -k -G 27 -t 64k -b 256k"
    assert packet(geometry, tmp_path) == shared
    assert packet(f"{geometry} -F", tmp_path) == {**shared, "tasks": 1}
    assert packet(f"{geometry} -F -z", tmp_path) == {**shared, "tasks": 1}


def test_a_negative_signature_has_32_bits_too(tmp_path: Path) -> None:
    assert packet("-w -k -O setTimeStampSignature=-5", tmp_path)["signature"] == 2**32 - 5


def test_without_a_signature_it_is_the_time_which_a_note_names(tmp_path: Path) -> None:
    imported = read("-w -k -l o", tmp_path)
    (manifest,) = imported.manifests.values()
    signature = manifest["packet"]["signature"]
    assert abs(signature - time.time()) < 3600
    assert any(f"to check the data with IOR, give -G {signature}" in note for note in imported.notes)


def test_random_data_without_a_signature_has_0_as_in_ior(tmp_path: Path) -> None:
    assert packet("-w -k -l r", tmp_path)["signature"] == 0


def test_random_offsets_in_a_shared_file_have_the_data_of_strider(tmp_path: Path) -> None:
    assert packet("-w -k -z -G 27 -l o", tmp_path) is None


def test_files_without_both_options_have_the_data_of_strider(tmp_path: Path) -> None:
    assert packet("-w -k", tmp_path) is None
