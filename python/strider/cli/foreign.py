"""Verbs whose options after `--` are those of another benchmark."""

from typer import Context
from typer.core import TyperCommand


class _Foreign(TyperCommand):
    """A verb that says where the options of another benchmark belong."""

    program = ""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Reads the options of the verb.

        Args:
            ctx: Context of the command line.
            args: Words after the verb.

        Raises:
            UsageError: An option is not one of Strider's.
        """
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # Typer exports no class for this error.
            if type(error).__name__ == "NoSuchOption" and hasattr(error, "message"):
                error.message += (
                    f". Put the options of {self.program} after --: {ctx.command_path} [OPTIONS] -- "
                    f"{getattr(error, 'option_name', '')} …"
                )
            raise


class IorCommand(_Foreign):
    """The verb `ior`."""

    program = "IOR"


class MdtestCommand(_Foreign):
    """The verb `mdtest`."""

    program = "mdtest"
