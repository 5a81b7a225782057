"""Sources that are compiled together can be compiled alone, or are named."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_source_that_uses_an_include_of_its_neighbour_is_named(tmp_path: Path) -> None:
    complete, lacking = tmp_path / "a.cpp", tmp_path / "b.cpp"
    complete.write_text("#include <cstdint>\nstd::uint64_t a() { return 1; }\n", encoding="utf-8")
    lacking.write_text("std::uint64_t b() { return 2; }\n", encoding="utf-8")
    unit = tmp_path / "Unity" / "unit.cxx"
    unit.parent.mkdir()
    unit.write_text(f'#include "{complete}"\n#include "{lacking}"\n', encoding="utf-8")
    entry = {"directory": str(tmp_path), "file": str(unit), "command": f"c++ -o unit.o -c {unit}"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
    together = subprocess.run(["c++", "-fsyntax-only", unit], check=False)
    assert together.returncode == 0
    words = [sys.executable, str(ROOT / "tools/compile_commands.py"), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    named, count = done.stdout.splitlines()
    assert named.startswith(f"{lacking}: does not compile by itself")
    assert count == "2 sources, 1 failed"
