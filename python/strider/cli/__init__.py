"""The command line: one file per verb, registered below.

Each verb imports slow modules itself, so that `strider --help` starts without delay.
"""

import sys
from typing import Annotated

import typer

from strider import __version__
from strider.cli.aliases import note, prune
from strider.cli.cancel import cancel
from strider.cli.clean import clean
from strider.cli.compare import compare
from strider.cli.convert import convert
from strider.cli.damaged import showing_runs
from strider.cli.data import data
from strider.cli.describe import describe
from strider.cli.doctor import doctor
from strider.cli.export import export
from strider.cli.foreign import IorCommand, MdtestCommand
from strider.cli.ior import ior
from strider.cli.lab import lab
from strider.cli.list_ import list_
from strider.cli.listio import listio
from strider.cli.mdtest import mdtest
from strider.cli.observe import observe
from strider.cli.piobench import piobench
from strider.cli.plan import plan
from strider.cli.quick import quick
from strider.cli.report import report
from strider.cli.resume import resume
from strider.cli.rm import rm
from strider.cli.run import run
from strider.cli.serve import serve
from strider.cli.setup import setup
from strider.cli.show import show
from strider.cli.submit import submit
from strider.cli.tag import tag
from strider.cli.watch import watch
from strider.console import discard_output, echo
from strider.errors import ExitCode, StriderError, in_words
from strider.text import forbidden, shortened

__all__ = ["app", "main"]

_INTERRUPTED = 130
"""Exit code that Typer silently returns after a KeyboardInterrupt."""

SUMMARY = "Benchmark parallel file systems: access patterns, operations, interfaces and client counts."

app = typer.Typer(
    name="strider",
    epilog="To start: strider quick DIR. Exit codes: 0 success; 1 measured, but a check failed; 2 invalid "
    "input; 3 cannot run.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("quick")(quick)
app.command("run")(run)
app.command("resume")(resume)
app.command("submit")(submit)
app.command("watch")(watch)
app.command("cancel")(cancel)
app.command("plan")(plan)
app.command("list")(showing_runs(list_))
app.command("show")(showing_runs(show))
app.command("report")(showing_runs(report))
app.command("compare")(showing_runs(compare))
app.command("export")(showing_runs(export))
app.command("serve")(serve)
app.command("observe")(observe)
app.command("describe")(describe)
app.command("ior", cls=IorCommand)(ior)
app.command("mdtest", cls=MdtestCommand)(mdtest)
app.command("piobench")(piobench)
app.command("convert")(convert)
app.command("tag", context_settings={"ignore_unknown_options": True})(tag)
app.command("rm")(showing_runs(rm))
app.command("clean")(clean)
app.command("doctor")(doctor)
app.command("setup")(setup)
app.command("note", hidden=True)(note)
app.command("prune", hidden=True)(showing_runs(prune))
app.add_typer(data, name="data")
app.add_typer(lab, name="lab")
app.add_typer(listio, name="listio")


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"strider {__version__}")
        raise typer.Exit


@app.callback(help=SUMMARY)
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Defines the global options."""


def _require_readable(arguments: list[str]) -> None:
    """Rejects arguments that contain control characters.

    Raises:
        StriderError: An argument contains one.
    """
    for argument in arguments:
        found = forbidden(argument)
        if found:
            raise StriderError(
                f'the argument "{shortened(argument)}" contains {found}: remove control characters, line '
                "separators and bidirectional formatting characters"
            )


def main(arguments: list[str] | None = None) -> int:
    """Runs a command line, reports its errors and returns its exit code."""
    try:
        _require_readable(sys.argv[1:] if arguments is None else arguments)
        app(arguments, prog_name="strider")
    except StriderError as error:
        for line in error.message.split("\n"):
            echo(f"strider: {line}", stream=sys.stderr)
        return int(error.exit_code)
    except (MemoryError, ImportError) as error:
        echo(f"strider: error: {in_words(error)}", stream=sys.stderr)
        return int(ExitCode.CANNOT_RUN)
    except BrokenPipeError:
        return discard_output()
    except OSError as error:
        # Fallback for errors that no verb reports itself.
        echo(f"strider: {in_words(error)}", stream=sys.stderr)
        return int(ExitCode.CANNOT_RUN)
    except SystemExit as exit_:
        if isinstance(exit_.__context__, BrokenPipeError):  # click makes it an exit with 1
            return discard_output()
        if exit_.code == _INTERRUPTED:
            echo("strider: interrupted", stream=sys.stderr)
            return int(ExitCode.CANNOT_RUN)
        return exit_.code if isinstance(exit_.code, int) else 0
    return 0
