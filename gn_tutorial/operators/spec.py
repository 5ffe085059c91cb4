"""What an operator, its arguments and its kernels are, as ``kernels/<op>/op.toml`` says it (``registry``)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from gn_tutorial.compare.tolerance import Tolerance

Role = Literal["in", "out", "inout", "workspace", "tiling", "value"]
AttributeType = Literal["int64", "float32", "mask", "choice"]
#: helper: what the host API launches around an operator. case: an operator besides GroupNorm, worked out like it. Both
#: are no steps of the course, and the tour leaves them out.
Direction = Literal["forward", "backward", "helper", "case"]
#: In ``dtype``: the dtype of the operator's data inputs, which the kernel's own ``dtypes`` limit.
DATA_DTYPE = "T"


class Attribute(Struct, frozen=True, forbid_unknown_fields=True):
    """What an operator takes besides arrays, such as ``num_groups``; shapes and tiling call it ``symbol``.

    A ``mask`` says by one boolean for each output, in their order, which of them the caller wants; the others come back
    empty, of shape (0,). Its symbol is a whole number whose bit i is set if output i is wanted. A ``choice`` is one of
    the words ``choices``; its symbol is the word's place among them.
    """

    name: str
    symbol: str
    type: AttributeType
    default: float | int | str | tuple[Any, ...] | None = None
    choices: tuple[str, ...] = ()


class Argument(Struct, frozen=True, forbid_unknown_fields=True):
    """One kernel parameter, in the order of the kernel's signature.

    ``shape`` is a tuple of symbols; one may end in ``...`` and then stands for all axes that the others leave, their
    product being the symbol without the dots. An output with ``like`` has the shape and dtype of that input. ``fill``
    is the value that an input left out is filled with; None means that it must be given. ``symbol`` is what a by-value
    parameter receives. ``bytes`` is the size of a workspace: a number, or the name of a field of the tiling struct.
    ``saved_by``: the reference of another operator whose output of this name this input is, computed from the other
    inputs: mean and rstd of a backward pass belong to its x, and random numbers would not.
    """

    name: str
    role: Role
    dtype: str = DATA_DTYPE
    shape: tuple[str, ...] | None = None
    like: str = ""
    fill: float | int | None = None
    symbol: str = ""
    bytes: int | str = 0
    saved_by: str = ""


class TilingSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The C++ header, struct and function that split the work. The field ``blocks`` says how many to launch.

    ``arguments`` are symbols of the inputs' shapes and of attributes; ``cores``; and ``dtype``, which is that of the
    data inputs as CANN numbers it (ge::DataType: 0 float32, 1 float16, 27 bfloat16). ``group``: the field with the
    elements of a group that must be read whole before any of it is written; "": each element stands alone.
    """

    header: Path
    struct: str
    function: str
    arguments: tuple[str, ...]
    blocks: str
    group: str = ""


class KernelSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rung of an operator's ladder. ``id`` is ``"<operator>/<short name>"``; ``file`` is absolute.

    ``tiling``: the tiling function of this rung, where it is not the operator's; of the same header and struct, and of
    the same arguments unless ``tiling_arguments`` names others.
    """

    id: str
    title: str
    file: Path
    entry: str
    step: int
    dtypes: tuple[str, ...]
    tolerance: Tolerance
    tiling: str = ""
    tiling_arguments: tuple[str, ...] = ()


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """One of the launches that a fused operator makes unnecessary.

    kernel: its id. arrays: of each of its inputs and outputs, what that is here: an array of ours, or a name that only
    the parts know, which is what passes from one to the next.
    """

    kernel: str
    arrays: dict[str, str]


class OpSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """One operator: its arguments, attributes, reference and kernels (ordered by ``step``).

    ``file``: the registry file that it was read from. ``replaces``: the launches that give what a fused operator gives.
    ``capstone``: of a learner's operator, which one of the course's last task it is; its grade is then held to the
    shapes, the reference and the tolerance of that one.
    """

    name: str
    title: str
    summary: str
    order: int
    reference: str
    direction: Direction
    file: Path
    attributes: tuple[Attribute, ...]
    arguments: tuple[Argument, ...]
    tiling: TilingSpec | None
    kernels: tuple[KernelSpec, ...]
    example: dict[str, Any]
    replaces: tuple[Part, ...] = ()
    capstone: str = ""

    @property
    def in_tour(self) -> bool:
        """Whether the tour runs its kernels."""
        return self.direction in ("forward", "backward")

    @property
    def group(self) -> str:
        """The tiling field with the elements of a group (``TilingSpec``); "" where no elements belong together."""
        return self.tiling.group if self.tiling else ""

    @functools.cached_property
    def mask(self) -> Attribute | None:
        """The attribute that says which outputs are wanted; None: always all."""
        return next((a for a in self.attributes if a.type == "mask"), None)

    @property
    def folder(self) -> Path:
        """Where the operator's file, kernels and headers are."""
        return self.file.parent

    @functools.cached_property
    def inputs(self) -> tuple[Argument, ...]:
        """The arrays that the caller gives, in order."""
        return tuple(a for a in self.arguments if a.role in ("in", "inout"))

    @functools.cached_property
    def outputs(self) -> tuple[Argument, ...]:
        """The arrays that come back, in order: also the order of what the reference returns."""
        return tuple(a for a in self.arguments if a.role in ("out", "inout"))

    def tiling_of(self, kernel: KernelSpec) -> TilingSpec | None:
        """What splits the work of one rung: the operator's tiling, with what the rung has instead."""
        if self.tiling is None:
            return None
        return replace(
            self.tiling,
            function=kernel.tiling or self.tiling.function,
            arguments=kernel.tiling_arguments or self.tiling.arguments,
        )
