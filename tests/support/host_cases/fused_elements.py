"""AddRelu, SwiGlu and their gradients."""

from __future__ import annotations

from host_api_support import HALF, INT32, NULL, View, far_views
from host_case import HostCase, Numbers

from gn_tutorial import host, reference
from gn_tutorial.host import Code
from host_cases.gelu import elements

NULLPTR, INVALID = Code.PARAM_NULLPTR, Code.PARAM_INVALID
SHAPE = (2, 6, 5, 7)
SMALL = View((3, 5, 7))


def refusals(*names: str, outputs: int = 1) -> list:
    """Return the refusals that all elementwise operators share; names: of its tensors, inputs first."""
    first, *others = names
    inputs, made = names[: len(names) - outputs], names[len(names) - outputs :]
    rows = [(f"{name}-null", {name: NULL}, NULLPTR, f"{name} is null") for name in names]
    rows += [(f"{first}-type", {first: View((3, 5, 7), INT32)}, INVALID, f"{first} is int32")]
    for name in others:
        what = f"{name} is float16; it must be float32, the type of {first}"
        rows.append((f"{name}-type", {name: View((3, 5, 7), HALF)}, INVALID, what))
        what = f"{name} has shape (3, 7, 5); it must be (3, 5, 7), the shape of {first}"
        rows.append((f"{name}-shape", {name: View((3, 7, 5))}, INVALID, what))
    for name in made:
        both = far_views(inputs[-1], dims=(3, 5, 7)) | far_views(name, dims=(3, 5, 7))
        rows.append((f"{name}-in-place", both, INVALID, f"{name} shares memory with {inputs[-1]}"))
        alone = {name: View((3, 5, 7), strides=(7, 7, 1))}
        rows.append((f"{name}-on-itself", alone, INVALID, f"two elements of {name} share memory"))
    if outputs == 2:
        both = far_views(made[0], dims=(3, 5, 7)) | far_views(made[1], dims=(3, 5, 7))
        rows.append(("outputs-shared", both, INVALID, "share"))
    rows.append(("too-many", far_views(*names, dims=(1 << 16, 1 << 15)), INVALID, "more than 2147483647 elements"))
    return rows


CASES = [
    HostCase(
        name="AddRelu",
        call={"self": SMALL, "other": SMALL, "out": SMALL},
        refusals=refusals("self", "other", "out"),
        fuzz=elements("AddRelu", ("self", "other"), ("out",), reference.add_relu),
        numbers=Numbers(function=host.add_relu, reference=reference.add_relu, inputs=(SHAPE, SHAPE), out=SHAPE),
    ),
    HostCase(
        name="AddReluBackward",
        call={"gradOut": SMALL, "result": SMALL, "gradInput": SMALL},
        refusals=refusals("gradOut", "result", "gradInput"),
        fuzz=elements("AddReluBackward", ("gradOut", "result"), ("gradInput",), reference.add_relu_backward),
        numbers=Numbers(
            function=host.add_relu_backward, reference=reference.add_relu_backward, inputs=(SHAPE, SHAPE), out=SHAPE
        ),
    ),
    HostCase(
        name="SwiGlu",
        call={"gate": SMALL, "up": SMALL, "out": SMALL},
        refusals=refusals("gate", "up", "out"),
        fuzz=elements("SwiGlu", ("gate", "up"), ("out",), reference.swiglu),
        numbers=Numbers(function=host.swiglu, reference=reference.swiglu, inputs=(SHAPE, SHAPE), out=SHAPE),
    ),
    HostCase(
        name="SwiGluBackward",
        call={"gradOut": SMALL, "gate": SMALL, "up": SMALL, "gradGate": SMALL, "gradUp": SMALL},
        refusals=refusals("gradOut", "gate", "up", "gradGate", "gradUp", outputs=2),
        fuzz=elements("SwiGluBackward", ("gradOut", "gate", "up"), ("gradGate", "gradUp"), reference.swiglu_backward),
        numbers=Numbers(
            function=host.swiglu_backward,
            reference=reference.swiglu_backward,
            inputs=(SHAPE,) * 3,
            out=SHAPE,
            outs=2,
        ),
    ),
]
