"""``gnt ide``: writes settings with which clangd and VS Code read kernels as the twin's compiler does."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.terminal import print_table
from gn_tutorial.errors import ArgumentError

WRITTEN, SAME, KEPT = "written", "as it should be", "kept"


def ide(
    folder: Annotated[Path, typer.Argument(help="The folder of your kernels.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Write settings for clangd and VS Code, so that they complete code and show the twin's comments in kernels.

    An existing file with other text is replaced only after asking, or with --force; otherwise it is kept, exit code 1.
    """

    def may_replace(path: Path) -> bool:
        return force or (sys.stdin.isatty() and typer.confirm(f"{path} already exists: replace it?"))

    done = write(folder, may_replace)
    print_table(("file", "status"), done)
    if any(status == KEPT for _, status in done):
        raise typer.Exit(1)


def settings() -> dict[str, str]:
    """Return the text of each file of settings, by its path in the folder of the kernels."""
    from gn_tutorial.compiler.build_request import TWIN_INCLUDE

    # Each flag is in quotes, because a folder's name may have spaces. YAML reads JSON's quotes.
    flags = json.dumps(["-xc++", "-std=c++20", f"-I{TWIN_INCLUDE}"], ensure_ascii=False)
    clangd = f"# Written by `gnt ide`: kernels are C++20 with the twin's headers.\nCompileFlags:\n  Add: {flags}\n"
    code = {
        "files.associations": {"*.asc": "cpp", "*.cce": "cpp"},
        # Otherwise Microsoft's own engine, which does not read .clangd, answers beside clangd.
        "C_Cpp.intelliSenseEngine": "disabled",
    }
    recommended = {"recommendations": ["llvm-vs-code-extensions.vscode-clangd"]}
    return {
        ".clangd": clangd,
        ".vscode/settings.json": json.dumps(code, indent=2) + "\n",
        ".vscode/extensions.json": json.dumps(recommended, indent=2) + "\n",
    }


def write(folder: Path, may_replace: Callable[[Path], bool]) -> list[tuple[Path, str]]:
    """Write the settings into ``folder``; return each file with WRITTEN, SAME (unchanged) or KEPT (not replaced).

    ``may_replace`` decides about a file that has another text. Raises ArgumentError if the folder does not exist, or a
    file cannot be written.
    """
    if not folder.is_dir():
        raise ArgumentError(f"there is no folder {folder}")
    done = []
    for name, text in settings().items():
        path = folder / name
        try:
            if path.is_file() and path.read_text("utf-8", "replace") == text:
                done.append((path, SAME))
            elif path.exists() and not may_replace(path):
                done.append((path, KEPT))
            else:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, "utf-8")
                done.append((path, WRITTEN))
        except OSError as error:
            raise ArgumentError(f"cannot write {path}: {error.strerror}") from error
    return done


COMMAND = Command("ide", ide, Panel.TOOLS, 30)
