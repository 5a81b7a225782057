"""A launcher of the compiler that takes objects of an earlier build, where that has made the same ones.

    compiled_before.py OBJECTS COMPILER WORDS...

OBJECTS is a file that `write_objects` has made. Other commands are run as they are.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

WITH_FILE = ("-o", "-MF", "-MT", "-c")
"""Options whose next word is a file."""
WITHOUT_EFFECT = ("-MD", "-Werror", "-O")
"""Beginnings of options that do not change the behaviour of a program."""
INCLUDED = re.compile(r'#include "(/[^"]+)"')
"""A generated source includes others by their whole paths."""
JSON_SOURCE, JSON_FOLDER = ".json.cpp", "nlohmann_json/include"
"""The only sources that read the headers of JSON, and where a wheel has these."""


def text_of(source: Path, build: Path) -> str:
    """The path of a source of the tree; the text of a generated one, and of those that it includes."""
    if not source.is_relative_to(build):
        return str(source)
    text = source.read_text(encoding="utf-8")
    return INCLUDED.sub(lambda found: text_of(Path(found[1]), build), text)


def key_of(words: list[str], build: Path) -> str:
    """The source and all that decides how it is compiled, as text; empty if nothing is compiled.

    Args:
        words: The command.
        build: The build folder, whose path does not matter.
    """
    if "-c" not in words:
        return ""
    source = text_of(Path(words[words.index("-c") + 1]), build)
    begin = next(number for number, word in enumerate(words) if word.startswith("-"))
    compiler = shutil.which(words[begin - 1]) or words[begin - 1]  # before it may be a launcher
    kept = [source, os.path.realpath(compiler)]  # c++ and g++ are one
    following = iter(words[begin:])
    for word in following:
        if word in WITH_FILE:
            next(following)
        elif word == "-isystem" and JSON_SOURCE not in source:
            folder = next(following)
            kept += [] if folder.endswith(JSON_FOLDER) else [word, folder]
        elif not word.startswith(WITHOUT_EFFECT):
            kept.append(word)
    return shlex.join(kept)


def write_objects(build: Path, out: Path) -> None:
    """Writes which objects a build folder has, if it is up to date; else that there are none."""
    pretended = subprocess.run(
        ["ninja", "-C", str(build), "-n"], capture_output=True, text=True, check=False
    ).stdout
    commands = build / "compile_commands.json"
    is_current = commands.exists() and "no work to do" in pretended
    objects = {}
    for each in json.loads(commands.read_text(encoding="utf-8")) if is_current else []:
        words = shlex.split(each["command"])
        objects[key_of(words, build)] = str(build / words[words.index("-o") + 1])
    out.write_text(json.dumps(objects), encoding="utf-8")


def main() -> None:
    """Takes the object, or compiles."""
    objects, *words = sys.argv[1:]
    found = json.loads(Path(objects).read_text(encoding="utf-8")).get(key_of(words, Path.cwd()))
    if found is None:
        os.execvp(words[0], words)
    made = Path(words[words.index("-o") + 1])
    shutil.copyfile(found, made)
    if "-MF" in words:
        depends = words[words.index("-MF") + 1]
        Path(depends).write_text(f"{made}: {words[words.index('-c') + 1]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
