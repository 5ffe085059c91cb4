"""The functions behind an operator's ``aclnn_<op>.h``, in C++ for a program on the twin.

Each first call lists its arguments to ``gn_twin/host/aclnn_call.h``, which hands them to ``test_runner/aclnn_calls``.
"""

from __future__ import annotations

from gn_tutorial.projects.aclnn import AclnnFunction, functions
from gn_tutorial.projects.definition import OpDefinition


def call_source(op: OpDefinition) -> str:
    """The translation unit of one operator's aclnn functions. Raises as ``aclnn.functions``."""
    lines = [
        f"// The calls of {op.type} on the twin. Made from its definition.",
        '#include "gn_twin/host/aclnn_call.h"',
    ]
    for one in functions(op):
        lines += ["", f'extern "C" {one} {{', *_body(op, one), "}"]
    return "\n".join([*lines, ""])


def _body(op: OpDefinition, one: AclnnFunction) -> list[str]:
    if not one.first:
        names = ", ".join(argument.name for argument in one.arguments)
        return [f'  return gn_twin::host::SecondCall("{one.name}", {names});']
    lines = [f'  gn_twin::host::FirstCall gntCall("{one.name}");']
    for argument in one.arguments[:-2]:
        read = argument.role == "input" and op.reads_values(argument.index) and "Array" not in argument.ctype
        lines.append(f'  gntCall.Add("{argument.name}", {argument.name}{", true" if read else ""});')
    workspace, executor = one.arguments[-2:]
    return [*lines, f"  return gntCall.Ask({workspace.name}, {executor.name});"]
