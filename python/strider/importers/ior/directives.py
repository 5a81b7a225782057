"""Directives of IOR: `transferSize=4k, blockSize=1m`."""

from strider.importers.ior.options import BY_NAME, OPTIONS
from strider.importers.options import Settings
from strider.suite.mistakes import Mistakes, Place, unknown


def add_directives(settings: Settings, text: str, line: int, where: str, mistakes: Mistakes) -> None:
    """Adds directives such as `transferSize=4k, blockSize=1m` from a script or from `-O`.

    Args:
        settings: Where they are added.
        text: The directives, separated by commas.
        line: Line of the script; 0 on a command line.
        where: What comes before a directive in messages: `-O `, or the script's line.
        mistakes: Where wrong ones are noted.
    """
    for part in text.partition("#")[0].split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        option = BY_NAME.get(name.removeprefix("--").lower())
        place = Place(line, f"{where}{name}={value}" if line == 0 else where)
        if not equals or not name or not value:
            mistakes.add(place, f'"{part.strip()}" is not a directive: write for instance transferSize=1m')
        elif option is None:
            mistakes.add(place, unknown("directive", name, (o.name for o in OPTIONS)))
        else:
            try:
                settings.add(option, value, place)
            except ValueError as error:
                mistakes.add(place, f"{name}: {error}")
