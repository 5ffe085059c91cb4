"""``gnt cache``: shows where compiled kernels are kept and how large they are, and removes them."""

from __future__ import annotations

from pathlib import Path

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table

cache_app = typer.Typer(help="The folder of compiled kernels.", no_args_is_help=True)


@cache_app.command("info")
def cache_info(json: Json = False) -> None:
    """Say where the cache is, and how large it is."""
    from gn_tutorial.compiler.cache import default_cache

    cache = default_cache()
    info, base = cache.info(), cache.base and {"path": cache.base, "refused": _why_not(cache.base)}
    if json:
        emit_json(
            {
                "path": info.root,
                "base": base,
                "entries": info.entries,
                "bytes": info.bytes,
                "limit_bytes": info.limit_bytes,
            }
        )
        return
    size = f"{info.bytes / 2**20:.1f} of {info.limit_bytes / 2**20:.0f} MiB"
    rows = [("folder", info.root), ("entries", info.entries), ("size", size)]
    if base:
        rows.append(("base", f"{base['path']}{', not used: ' * bool(base['refused'])}{base['refused']}"))
    print_table((), rows)


def _why_not(base: Path) -> str:
    from gn_tutorial.compiler.cache import who_may_write

    try:
        return who_may_write(base)
    except OSError as error:
        return error.strerror or str(error)


@cache_app.command("clear")
def cache_clear(json: Json = False) -> None:
    """Remove every compiled kernel; the next run compiles again."""
    from gn_tutorial.compiler.cache import default_cache

    cache = default_cache()
    freed = cache.clear()
    if json:
        emit_json({"path": cache.root, "freed_bytes": freed})
    else:
        print(f"cleared {cache.root}: {freed / 2**20:.1f} MiB freed")


@cache_app.command("path")
def cache_path() -> None:
    """Print the cache folder."""
    from gn_tutorial.compiler.cache import default_cache

    print(default_cache().root)


COMMAND = Command("cache", cache_app, Panel.TOOLS, 40)
