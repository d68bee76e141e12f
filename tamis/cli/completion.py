"""`tamis completion`: print the script by which a shell completes tamis commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_EXAMPLE = """\b
Examples:
  tamis completion bash > ~/.local/share/bash-completion/completions/tamis
  tamis completion zsh > ~/.zfunc/_tamis
  tamis completion fish > ~/.config/fish/completions/tamis.fish
"""


@click.command("completion", epilog=_EXAMPLE)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for SHELL."""
    completion = get_completion_class(shell)
    if completion is None:
        raise click.ClickException(f"this version of click completes nothing in {shell}")
    click.echo(completion(ctx.find_root().command, {}, "tamis", "_TAMIS_COMPLETE").source())
    return 0
