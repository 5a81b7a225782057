"""Puts the pictures of the manual into docs/images: some that the browser tests have taken, made small."""

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
TAKEN = ("configure", "run")
"""Names of the pictures that the manual shows."""
COLOURS = 64
"""The pages have few colours; so many keep the edges of letters smooth."""


def main() -> None:
    """Reads, reduces and writes them; names the missing ones."""
    folder = ROOT / "build" / "screenshots"
    missing = [name for name in TAKEN if not (folder / f"{name}.png").is_file()]
    if missing:
        sys.exit(f"{folder} lacks {', '.join(missing)}: run pytest tests/browser first")
    for name in TAKEN:
        target = ROOT / "docs" / "images" / f"{name}.png"
        with Image.open(folder / f"{name}.png") as picture:
            picture.convert("RGB").quantize(COLOURS).save(target, optimize=True)
        print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
