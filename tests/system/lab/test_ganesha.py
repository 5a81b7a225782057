"""NFS-Ganesha: it serves what it was given. There is no mount; see python/strider/lab/ganesha.py."""

import os
import subprocess
from pathlib import Path
from shutil import which

import pytest

from strider.lab import Record


def test_a_file_comes_back_as_it_went(ganesha: Record, tmp_path: Path) -> None:
    if which("nfs-cp") is None:
        pytest.skip("needs nfs-cp (Debian package libnfs-utils)")
    (endpoint,) = ganesha.endpoints
    folder, _, options = endpoint.native["url"].partition("?")
    url = f"{folder}/file?{options}"
    sent = tmp_path / "sent"
    sent.write_bytes(os.urandom(3_000_001))

    subprocess.run(["nfs-cp", sent, url], check=True, timeout=60)

    received = subprocess.run(["nfs-cat", url], check=True, timeout=60, stdout=subprocess.PIPE).stdout
    assert received == sent.read_bytes()
