"""The command line: ``carillon``."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import IO, Final

import click

from tasks.config import EX_CONFIG
from tasks.errors import ConfigError, EngineError, InvalidInput

#: Every command and its module; a command's name is its function's in that module.
#: Read only when it is called, so that the worker never imports the console.
COMMANDS: Final = {
    "run": "dashboard.cli.run",
    "web": "dashboard.cli.web",
    "worker": "dashboard.cli.worker",
    "migrate": "dashboard.cli.migrate",
    "create-operator": "dashboard.cli.operators",
    "token": "dashboard.cli.token",
    "sweep": "dashboard.cli.sweep",
    "emit": "dashboard.cli.emit",
    "hold": "dashboard.cli.hold",
    "release": "dashboard.cli.hold",
    "doctor": "dashboard.cli.doctor",
}
#: Commands that other commands and the Makefile call; help does not list them.
HIDDEN: Final = {
    "demo": "dashboard.cli.demo",
    "new-migration": "dashboard.cli.migrate",
    "catalogs": "dashboard.cli.catalogs",
}


class Commands(click.Group):
    """Finds commands in ``COMMANDS``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = COMMANDS.get(cmd_name) or HIDDEN.get(cmd_name)
        if found is None:
            return None
        # All of it stays: looking for garbage meanwhile takes a fifth of the time.
        gc.disable()
        module = import_module(found)
        gc.enable()
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None:
            known = ", ".join(COMMANDS)
            ctx.fail(f"There is no command {args[0]!r}. The commands are: {known}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what is expected to go wrong ends in one sentence."""
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            raise BadSetting(str(error)) from error
        except InvalidInput as error:
            raise Refusal(error.message) from error
        except EngineError as error:
            raise Refusal(str(error)) from error


class Refusal(click.ClickException):
    """A sentence on standard error, and exit status 1."""

    def show(self, file: IO[str] | None = None) -> None:
        click.echo(f"carillon: {self.message}", file=file, err=file is None)


class BadSetting(Refusal):
    """A start that a setting forbids; supervisors must not try again."""

    exit_code = EX_CONFIG


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="carillon")
def cli() -> None:
    """Run an organisation's background work, and see it in one console.

    Settings come from the environment; docs/configuration.md lists them.
    """


def main() -> None:
    """Run the command line and end the process with its status."""
    cli(prog_name="carillon")
