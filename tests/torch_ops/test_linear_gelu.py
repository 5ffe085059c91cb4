"""Linear with GELU in PyTorch, what its case does not say: the form, the pre-activation, autocast, no rows."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch_case import data, fault, some_gradient  # noqa: E402

import gn_tutorial.torch_ops  # noqa: E402, F401 - registers the operators

OPS = torch.ops.gn_tutorial
functional = torch.nn.functional
SHAPES = ((6, 9), (21, 9), (21,))


def test_the_tanh_form_against_float64() -> None:
    def builtin(*tensors: torch.Tensor) -> torch.Tensor:
        return functional.gelu(functional.linear(*tensors), approximate="tanh")

    inputs = data(*SHAPES)
    grad = some_gradient(builtin, inputs)
    assert fault(lambda *some: OPS.linear_gelu(*some, "tanh")[0], builtin, inputs, grad) == ""
    assert fault(lambda *some: OPS.linear_gelu(*some, "none")[0], builtin, inputs, grad) != ""


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", ["none", "tanh"])
def test_what_is_not_kept_is_computed_again(form: str, bias: bool) -> None:
    """The pre-activation has the bits of ``linear``; without it the gradients have the same bits."""
    inputs = [*data(*SHAPES)[: 3 if bias else 2], *([] if bias else [None])]
    found = []
    for keep in (True, False):
        leaves = [None if one is None else one.clone().requires_grad_() for one in inputs]
        y, kept = OPS.linear_gelu(*leaves, form, keep)
        assert not kept.requires_grad
        assert torch.equal(kept, OPS.linear(*inputs)) if keep else kept.shape == (0,)
        grads = torch.autograd.grad(
            y, [one for one in leaves if one is not None], torch.linspace(-1, 2, 126).view(6, 21)
        )
        found.append([y.detach(), *grads])
    assert all(map(torch.equal, *found))


def test_vmap_without_the_preactivation() -> None:
    x, weight, bias = data((3, 6, 9), (21, 9), (21,))
    y = torch.vmap(lambda one: OPS.linear_gelu(one, weight, bias, "none", False)[0])(x)
    torch.testing.assert_close(y, functional.gelu(functional.linear(x, weight, bias)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_gelu_takes_what_is_not_rounded_yet(dtype: torch.dtype) -> None:
    """In halves the fused y is nearer to float64 than that of two operators, because the first of these rounds.

    This holds below zero; where the pre-activation is large, y is as large, and both are rounded to the same number.
    """
    inputs = data((40, 9), (30, 9), (30,), dtype=dtype)
    wide = functional.linear(*(one.double() for one in inputs))
    right, below = functional.gelu(wide), (wide < -0.8) & (wide > -3)
    fused, parts = OPS.linear_gelu(*inputs)[0], OPS.gelu(OPS.linear(*inputs))
    errors = [((one.double() - right) / right)[below].abs().mean() for one in (fused, parts)]
    assert below.sum() > 100
    assert errors[0] < 0.7 * errors[1]


def test_under_autocast_it_computes_in_the_type_that_is_set() -> None:
    leaves = [one.requires_grad_() for one in data(*SHAPES)]
    with torch.autocast("cpu", torch.bfloat16):
        y, _ = OPS.linear_gelu(*leaves)
        assert y.dtype == functional.gelu(functional.linear(*leaves)).dtype == torch.bfloat16
    y.sum().backward()
    assert {one.grad.dtype for one in leaves} == {torch.float32}


def test_without_a_row_or_a_column() -> None:
    weight, bias = data((21, 9), (21,))
    x = torch.zeros(0, 9, requires_grad=True)
    weight.requires_grad_()
    y, kept = OPS.linear_gelu(x, weight, bias)
    assert y.shape == kept.shape == (0, 21)
    y.sum().backward()
    assert torch.equal(weight.grad, torch.zeros(21, 9))
    made, _ = OPS.linear_gelu(torch.zeros(2, 0), torch.zeros(21, 0), bias)
    torch.testing.assert_close(made, functional.gelu(bias).expand(2, 21), rtol=1e-5, atol=1e-6)
