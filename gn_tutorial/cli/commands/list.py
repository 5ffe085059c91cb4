"""``gnt list``: lists the registered kernels."""

from __future__ import annotations

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table


def list_kernels(json: Json = False) -> None:
    """List the registered kernels."""
    from gn_tutorial.operators.registry import all_kernels, load_registry

    pairs = all_kernels(load_registry())
    if json:
        emit_json(
            [
                {
                    "kernel": spec.id,
                    "title": spec.title,
                    "operator": op.title,
                    "direction": op.direction,
                    "step": spec.step,
                    "dtypes": spec.dtypes,
                    "file": spec.file,
                    "tolerance": vars(spec.tolerance) | {"narrow": dict(spec.tolerance.narrow)},
                }
                for op, spec in pairs
            ]
        )
        return
    rows = [(s.id, f"{op.title}: {s.title}", ", ".join(s.dtypes), s.file.name) for op, s in pairs]
    print_table(("kernel", "what it is", "dtypes", "file"), rows)


COMMAND = Command("list", list_kernels, Panel.LEARN, 90)
