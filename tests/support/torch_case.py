"""An operator of PyTorch for the tests, the type of the entries of ``torch_cases``; comparisons with PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError
from torch_support import array

from gn_tutorial.compare.accuracy import accuracy

Function = Callable[..., Tensor]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A right call: an operator's name, the shapes of its tensors (None: left out), and the arguments after them.

    single: the numbers of tensors that are always float32.
    """

    op: str
    tensors: tuple[Shape | None, ...]
    behind: tuple[Any, ...] = ()
    single: tuple[int, ...] = ()

    def arguments(self, device: str = "cpu", dtype: torch.dtype = torch.float32) -> list[Any]:
        """Return tensors of these shapes, and the arguments after them."""
        made = iter(data(*(one for one in self.tensors if one is not None), dtype=dtype))
        given = [None if one is None else next(made).to(device) for one in self.tensors]
        return [*(one.float() if number in self.single else one for number, one in enumerate(given)), *self.behind]


@dataclass(frozen=True)
class Refusal:
    """A call, the changes to it by the argument's number, and a part of the error's text."""

    call: Call
    change: Mapping[int, Callable[[Any], Any]]
    text: str


@dataclass(frozen=True, kw_only=True)
class TorchCase:
    """An operator ``name`` whose gradient is ``<name>_backward``, in both namespaces.

    builtin: PyTorch's own function of the same tensors. inputs: for each compared call, the shapes of its tensors;
    options: the arguments after them, as a function of the tensors. several: whether it returns more than y, which is
    then the first result. calls: right calls of both operators for opcheck, with optional arguments left out and with
    each kind of mask. refusals: of both. in_cpp: whether ``kernels/torch_cpp`` registers it too. smooth: whether
    gradcheck's steps of 1e-2 cross no kink. eighths: whether its definition rounds a sum of its inputs; the inputs are
    then multiples of 1/8, whose sums no type rounds.
    """

    name: str
    builtin: Function
    inputs: tuple[tuple[Shape, ...], ...]
    calls: tuple[Call, ...]
    refusals: tuple[Refusal, ...]
    options: Callable[..., tuple[Any, ...]] = lambda *_: ()
    several: bool = False
    in_cpp: bool = True
    smooth: bool = True
    eighths: bool = False

    def of(self, ops: Any) -> Function:
        """Return y as a function of the tensors alone; ops: the namespace, such as ``torch.ops.gn_tutorial``."""
        op, options, several = getattr(ops, self.name), self.options, self.several

        def y(*tensors: Tensor) -> Tensor:
            made = op(*tensors, *options(*tensors))
            return made[0] if several else made

        return y


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "channels_last": lambda x: x.to(memory_format=torch.channels_last),
    "transposed": lambda x: x.transpose(2, 3).contiguous().transpose(2, 3),
    "every_second": lambda x: x.repeat_interleave(2, 3)[..., ::2],
    "repeated": lambda x: x[:1].expand(x.shape),
    "offset": lambda x: torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape),
}


def data(*shapes: Shape, dtype: torch.dtype = torch.float32, seed: int = 3) -> list[Tensor]:
    """Return a tensor for each shape; no two slices are alike, and nothing is symmetric about 0."""
    made = torch.Generator().manual_seed(seed)
    found = []
    for shape in shapes:
        scale = torch.rand(shape[:1], generator=made).reshape(-1, *[1] * (len(shape) - 1)) + 0.5
        found.append((torch.randn(shape, generator=made) * scale + scale - 0.9).to(dtype))
    return found


def some_gradient(builtin: Function, inputs: Sequence[Tensor]) -> Tensor:
    """Return a gradient with the shape of PyTorch's own result for these inputs."""
    return data(tuple(builtin(*inputs).shape), dtype=inputs[0].dtype, seed=8)[0]


def results(function: Function, inputs: Sequence[Tensor], grad: Tensor) -> list[Tensor]:
    """Return y and the gradient of each input."""
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    y = function(*leaves)
    return [y.detach(), *torch.autograd.grad(y, leaves, grad)]


def fault(function: Function, builtin: Function, inputs: Sequence[Tensor], grad: Tensor) -> str:
    """Return the first result of ``function`` that misses the standard against ``builtin`` in float64, or ""."""
    golden = results(builtin, [one.double() for one in inputs], grad.double())
    single = results(builtin, [one.float() for one in inputs], grad.float())
    found = results(function, inputs, grad)
    for number, (mine, right, other) in enumerate(zip(found, golden, single, strict=True)):
        judged = accuracy(array(mine), array(right), array(other.to(mine.dtype)))
        if not judged.ok:
            return f"{'y' if number == 0 else f'gradient of input {number - 1}'}: {judged}"
    return ""


def gradient_fault(function: Function, inputs: Sequence[Tensor]) -> str:
    """Return the float32 gradcheck's error, or "". The kernels have no float64, so the step is 1e-2."""
    leaves = [one.clone().requires_grad_() for one in inputs]
    try:
        torch.autograd.gradcheck(function, leaves, eps=1e-2, atol=1e-2, rtol=1e-2)
    except GradcheckError as error:
        return str(error)
    return ""
