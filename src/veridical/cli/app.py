"""All commands in one program, and its error messages and exit status."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand

from veridical.cli import (
    doctor,
    export,
    import_logs,
    judge,
    lm_eval,
    readout,
    report,
    review,
    run,
    suites,
    validity,
    vary,
)
from veridical.cli.console import open_streams
from veridical.errors import LONGEST, UserError, excerpt, printable, shown_path


class Command(TyperCommand):
    """A command that hides Python type names in the help text."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, without the type that Typer would show for arguments."""
        params: list[Any] = super().get_params(ctx)
        for param in params:
            if isinstance(param, TyperArgument):
                param.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        return params


app = typer.Typer(
    name="veridical",
    help="Does a language model's score mean what it claims?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (suites, run, judge, report, readout, vary, validity, doctor):
    app.command(module.__name__.rpartition(".")[2], cls=Command)(module.command)
app.command("import", cls=Command)(import_logs.command)
app.command("lm-eval", cls=Command)(lm_eval.command)
for group in (export, review):
    for grouped in group.app.registered_commands:
        grouped.cls = Command
app.add_typer(export.app, name="export")
app.add_typer(review.app, name="review")

# Typer re-exports BadParameter alone of the parser's exceptions; the base of all of them is above it.
_ParserError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


# What a full disk, an exhausted quota and a limit on the size of files say.
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# The status into which Typer turns Ctrl-C, and the conventional one: 128 and the number of SIGINT.
INTERRUPTED = 130


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("veridical"))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the program itself, before the name of a command."""


def call(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; errors of the user's become one line on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    readable = open_streams()
    try:
        status = app(args=given, prog_name="veridical", standalone_mode=False, obj=given)
        sys.stdout.flush()
    except UserError as error:
        _show_details(error)
        return _fault(str(error))
    except _ParserError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(str(error), file=sys.stderr)
            return 2
        return _fault(_parser_message(error))
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except BrokenPipeError:
        # The reader of our output went away (`| head`): say nothing more to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno in DISK_FULL:
            return _fault(f"cannot write: {error.strerror}{f': {error.filename}' if error.filename else ''}")
        if error.filename is None:
            return _unforeseen(error, given)
        return _fault(f"cannot use {shown_path(error.filename)}: {error.strerror}")
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of Polars does not derive from Exception
        return _unforeseen(error, given)
    if status == INTERRUPTED:
        return _stopped()
    # What was to be printed reached nobody where standard output was closed.
    return status if isinstance(status, int) and status else 0 if readable else 1


def _unforeseen(error: BaseException, given: Sequence[str]) -> int:
    from veridical.cli.unforeseen import report

    return report(error, given)


def _show_details(error: UserError) -> None:
    """What a library said, for who asks for it: messages are in words of our own."""
    from veridical.cli.unforeseen import debugging

    if error.__cause__ is not None and debugging():
        traceback.print_exception(error)


def _stopped() -> int:
    print("veridical: stopped", file=sys.stderr)
    return INTERRUPTED


def _fault(message: str) -> int:
    print(f"veridical: {printable(excerpt(message, LONGEST))}", file=sys.stderr)
    return 2


def _parser_message(error: Exception) -> str:
    message: str = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "veridical")
    # Imported here: validating is not needed to start a command.
    from pydantic import ValidationError

    from veridical.files.decoding import needed

    if isinstance(error.__cause__, ValidationError):
        fault = error.__cause__.errors(include_url=False)[0]
        wanted = needed(fault) or "another value"
        message = message.replace(fault["msg"], f"{wanted} is needed, not {excerpt(str(fault['input']), 60)!r}")
    return " ".join(f"{message.rstrip('.')} (see '{command} --help')".split())
