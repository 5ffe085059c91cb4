"""RMSNorm of a sum in PyTorch, what its case does not say: the sum and its gradient, halves, other devices' rules."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch_case import data  # noqa: E402

import gn_tutorial.torch_ops  # noqa: E402, F401 - registers the operators

OPS = torch.ops.gn_tutorial
rms_norm = torch.nn.functional.rms_norm


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_both_results_and_the_gradients_that_reach_them(dtype: torch.dtype) -> None:
    """The sum has the bits of x + residual, y those of our RMSNorm of it; both ways back meet in one gradient."""
    x, residual, weight, grad_y, grad_sum = data((4, 33), (4, 33), (33,), (4, 33), (4, 33), dtype=dtype)
    ours = [one.clone().requires_grad_() for one in (x, residual, weight)]
    y, total, rstd = OPS.add_rms_norm(*ours, 1e-5)
    assert torch.equal(total, x + residual)
    assert torch.equal(y, OPS.rms_norm(total, weight, [33], 1e-5)[0])
    assert not rstd.requires_grad
    found = torch.autograd.grad([y, total], ours, [grad_y, grad_sum])
    assert torch.equal(found[0], found[1])
    at, its = total.detach().double().requires_grad_(), weight.double().requires_grad_()
    right = torch.autograd.grad([rms_norm(at, (33,), its, 1e-5), at], [at, its], [grad_y.double(), grad_sum.double()])
    unit = {torch.float32: 2e-6, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}[dtype]
    for mine, one in ((found[1], right[0]), (found[2], right[1])):
        torch.testing.assert_close(mine.double(), one, rtol=unit, atol=unit)


def test_a_sum_that_nothing_uses_has_no_gradient_of_its_own() -> None:
    x, residual, weight, grad = data((4, 33), (4, 33), (33,), (4, 33))
    x.requires_grad_()
    (found,) = torch.autograd.grad(OPS.add_rms_norm(x, residual, weight, 1e-5)[0], x, grad)
    (right,) = torch.autograd.grad(rms_norm(x + residual, (33,), weight, 1e-5), x, grad)
    torch.testing.assert_close(found, right, rtol=1e-5, atol=1e-5)
