"""Draws figures in a process of its own: an abort of the drawing library costs a figure and no run.

A program, started by its path so that nothing of Strider is imported. It reads requests from its input and
writes answers to its output, a JSON text a line. Its argument is the search path of Python as a JSON list.

    {"to": "svg", "specification": VEGA-LITE}    {"svg": TEXT}
    {"to": "png" | "pdf", "svg": TEXT}           {"base64": TEXT}
                                                 {"error": TEXT}
"""

import base64
import json
import sys
from typing import Any

#: Pixels for each unit of a figure: legible on paper and on dense screens.
_PNG_SCALE = 2.0


def answer(request: dict[str, Any]) -> dict[str, str]:
    """Draws one figure, or converts it."""
    import vl_convert

    if request["to"] == "svg":
        return {"svg": vl_convert.vegalite_to_svg(request["specification"])}
    if request["to"] == "png":
        content = vl_convert.svg_to_png(request["svg"], scale=_PNG_SCALE)
    else:
        content = vl_convert.svg_to_pdf(request["svg"])
    return {"base64": base64.b64encode(bytes(content)).decode("ascii")}


def main() -> None:
    """Answers requests until there are no more."""
    sys.path[:] = json.loads(sys.argv[1])
    for line in sys.stdin:
        try:
            said = answer(json.loads(line))
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
