"""The modules: a drop-in for ``torch.nn.GroupNorm``, converted models, copies, threads, processes, a reloaded cell."""

from __future__ import annotations

import copy
import io
import subprocess
import sys
import textwrap
import threading

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch_support import DTYPES, data, fault  # noqa: E402

from gn_tutorial import nn, torch_ops  # noqa: E402
from gn_tutorial.cli import machine_report  # noqa: E402
from gn_tutorial.errors import ArgumentError, GntError  # noqa: E402
from gn_tutorial.torch_ops import devices, registered  # noqa: E402

SHAPE, GROUPS = (2, 6, 5, 7), 3


def filled(module: torch.nn.GroupNorm) -> torch.nn.GroupNorm:
    """With parameters that are no ones and zeros."""
    _, weight, bias, _ = data(SHAPE)
    with torch.no_grad():
        module.weight.copy_(weight)
        module.bias.copy_(bias)
    return module


@pytest.mark.parametrize(
    "how",
    [{}, {"eps": 1e-3}, {"affine": False}, {"bias": False}, {"dtype": torch.float16}, {"dtype": torch.bfloat16}],
    ids=str,
)
def test_arguments_text_and_state_dict_are_those_of_torch(how: dict) -> None:
    mine, right = nn.GroupNorm(GROUPS, 6, **how), torch.nn.GroupNorm(GROUPS, 6, **how)
    assert repr(mine) == repr(right)
    assert mine.state_dict().keys() == right.state_dict().keys()
    if "weight" in right.state_dict():
        torch.nn.init.uniform_(right.weight)
    mine.load_state_dict(right.state_dict())
    x = data(SHAPE, how.get("dtype", torch.float32))[0]
    torch.testing.assert_close(mine(x), right(x))
    torch.testing.assert_close(mine(input=x), mine(x), rtol=0, atol=0)


def test_wrong_arguments_of_the_module_are_torch_s_own_errors() -> None:
    with pytest.raises(ValueError, match="must be divisible by num_groups"):
        nn.GroupNorm(4, 6)
    with pytest.raises(ArgumentError, match=r"weight has shape \(6,\); it must be \(9,\)"):
        nn.GroupNorm(3, 6)(torch.randn(2, 9, 4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_module_meets_the_accuracy_standard(dtype: str) -> None:
    x, weight, bias, grad = data((3, 8, 9, 5), DTYPES[dtype])

    def module_of(kind: type, silu: bool) -> object:
        def call(x: Tensor, weight: Tensor, bias: Tensor, groups: int, eps: float) -> Tensor:
            module = kind(groups, 8, eps=eps)
            y = torch.func.functional_call(module, {"weight": weight, "bias": bias}, (x,))
            return torch.nn.functional.silu(y) if silu else y

        return call

    for kind, silu in ((nn.GroupNorm, False), (nn.GroupNormSiLU, True)):
        assert fault(module_of(kind, False), module_of(torch.nn.GroupNorm, silu), (x, weight, bias), grad, 4) == ""


def small_net() -> torch.nn.Sequential:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.GroupNorm(4, 8), torch.nn.ReLU(),
        torch.nn.Sequential(torch.nn.Conv2d(8, 6, 3), torch.nn.GroupNorm(2, 6, affine=False)),
    )  # fmt: skip


def test_a_converted_model_trains_on_with_its_optimizer_and_hooks() -> None:
    usual, mine = small_net(), small_net()
    steps = [torch.optim.Adam(net.parameters(), lr=0.05) for net in (usual, mine)]
    seen: list[object] = []
    mine[1].register_forward_hook(lambda module, _, y: seen.append((type(module), y.shape)))
    assert nn.convert(mine) is mine
    assert [type(one) for one in mine.modules() if isinstance(one, torch.nn.GroupNorm)] == [nn.GroupNorm] * 2
    x = data((4, 3, 6, 6))[0].to(memory_format=torch.channels_last)
    for _ in range(4):
        losses = []
        for net, step in zip((usual, mine), steps, strict=True):
            step.zero_grad()
            loss = (net(x) - 0.3).abs().mean()
            loss.backward()
            step.step()
            losses.append(loss.item())
        assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    assert seen == [(nn.GroupNorm, (4, 8, 6, 6))] * 4
    assert usual.state_dict().keys() == mine.state_dict().keys()


def test_convert_takes_the_model_itself_and_leaves_other_classes() -> None:
    class Own(torch.nn.GroupNorm):
        pass

    assert type(nn.convert(torch.nn.GroupNorm(2, 4))) is nn.GroupNorm
    assert type(nn.convert(torch.nn.GELU())) is nn.GELU
    kept = torch.nn.Sequential(Own(2, 4), torch.nn.LayerNorm(4), nn.GroupNormSiLU(2, 4))
    assert [type(one) for one in nn.convert(kept)] == [Own, torch.nn.LayerNorm, nn.GroupNormSiLU]


@pytest.mark.parametrize("form", ["none", "tanh"])
def test_convert_keeps_the_form_of_gelu(form: str) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.GELU(form), torch.nn.Linear(5, 4), torch.nn.GELU(form))
    x = torch.randn(7, 6, generator=torch.Generator().manual_seed(4)) - 0.4
    right = model(x)
    right.sum().backward()
    before = [one.grad.clone() for one in model.parameters()]
    model.zero_grad()
    text = repr(model)
    assert repr(nn.convert(model)) == text
    assert [type(one) for one in model] == [torch.nn.Linear, nn.GELU] * 2
    found = model(x)
    torch.testing.assert_close(found, right, rtol=2e-6, atol=5e-7)
    found.sum().backward()
    for mine, other in zip(model.parameters(), before, strict=True):
        torch.testing.assert_close(mine.grad, other, rtol=1e-5, atol=1e-6)
    model = torch.nn.Sequential(torch.nn.GroupNorm(2, 4), torch.nn.GELU("erf"))
    with pytest.raises(ArgumentError, match="approximate is 'erf'") as caught:
        nn.convert(model)
    assert caught.value.where == "approximate of the module '1'"
    assert type(model[0]) is torch.nn.GroupNorm, "the model is as it was"


@pytest.mark.parametrize("eps", [0, 0.0, -1e-5, 1e-50, float("nan"), float("inf")])
def test_an_eps_that_no_kernel_takes_is_refused_at_once(eps: float) -> None:
    """By the modules, by ``convert``, which leaves the model as it was, and by the call, all in the same words."""
    text = "it must be positive and finite as float32"
    for kind in (nn.GroupNorm, nn.GroupNormSiLU):
        with pytest.raises(ArgumentError, match=text) as caught:
            kind(2, 4, eps=eps)
        assert caught.value.where == f"argument eps of gn_tutorial.nn.{kind.__name__}"
        with pytest.raises(ArgumentError, match=text):
            kind(2, 4, eps)
    right, wrong = torch.nn.GroupNorm(2, 4), torch.nn.GroupNorm(2, 4, eps=eps)
    model = torch.nn.ModuleDict({"first": right, "inner": torch.nn.Sequential(torch.nn.ReLU(), wrong)})
    with pytest.raises(ArgumentError, match=text) as caught:
        nn.convert(model)
    assert caught.value.where == "eps of the module 'inner.1'"
    assert [type(one) for one in (right, wrong)] == [torch.nn.GroupNorm] * 2
    with pytest.raises(ArgumentError, match=text) as caught:
        nn.convert(wrong)
    assert caught.value.where == "eps of the model itself"
    changed = nn.GroupNorm(2, 4)
    changed.eps = eps
    with pytest.raises(ArgumentError, match=text):
        changed(torch.ones(1, 4, 2))


def test_copies_and_pickles_compute_the_same() -> None:
    module = filled(nn.GroupNormSiLU(GROUPS, 6))
    x = data(SHAPE)[0]
    buffer = io.BytesIO()
    torch.save(module, buffer)
    buffer.seek(0)
    for other in (copy.deepcopy(module), torch.load(buffer, weights_only=False)):
        assert type(other) is nn.GroupNormSiLU
        torch.testing.assert_close(other(x), module(x), rtol=0, atol=0)
        assert other.weight is not module.weight


def test_empty_batches_and_meta_modules() -> None:
    module = nn.GroupNorm(GROUPS, 6)
    y = module(torch.empty(0, 6, 4))
    y.sum().backward()
    assert y.shape == (0, 6, 4)
    assert module.weight.grad.tolist() == [0.0] * 6
    with torch.device("meta"):
        assert nn.GroupNorm(GROUPS, 6)(torch.empty(2, 6, 4)).device.type == "meta"


# --- threads and processes -------------------------------------------------------------------------------------------


def test_threads_compute_beside_each_other() -> None:
    module = filled(nn.GroupNorm(GROUPS, 6))
    inputs = [data(SHAPE, seed=seed)[0] for seed in range(4)]
    right = [module(x) for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(10):
            x = inputs[number].clone().requires_grad_()
            y = module(x)
            torch.autograd.grad(y.sum(), x)
            if not torch.equal(y, right[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def child(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.thorough
def test_a_forked_child_computes_and_the_process_ends() -> None:
    done = child("""
        import os, warnings
        import torch
        from gn_tutorial import nn
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, from Python 3.12 on
        torch.set_num_threads(1)
        module, x = nn.GroupNorm(2, 4), torch.arange(24.0).reshape(2, 4, 3) ** 2
        y = module(x)
        pid = os.fork()
        if pid == 0:
            os._exit(0 if torch.equal(module(x), y) else 3)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), torch.equal(module(x), y))
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 True\n", "")


# --- registration ----------------------------------------------------------------------------------------------------


def test_every_registration_is_there_and_the_doctor_says_so() -> None:
    assert registered.missing() == []
    row = machine_report.check_torch_operators()
    assert (row.status, row.advice) == (machine_report.OK, "")
    assert f"{len(torch_ops.__all__)} operators" in row.found


def test_a_registration_that_is_missing_is_named() -> None:
    done = child("""
        import torch
        from torch.library import custom_op
        from gn_tutorial.torch_ops import registered

        @custom_op("gn_tutorial::group_norm", mutates_args=(), device_types="cpu")
        def lonely(x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        print(registered.missing())
    """)
    assert "group_norm has no kernel for PrivateUse1" in done.stdout, done
    assert "group_norm_backward" not in done.stdout


def test_the_kernel_of_the_npu_s_key_is_the_same_function() -> None:
    """There is no NPU; the function behind its key takes the device from the tensors, so those of the CPU reach it."""
    x, weight, bias, _ = data(SHAPE)
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.PrivateUse1)
    op = torch.ops.gn_tutorial.group_norm.default
    made = op.redispatch(keys, x, weight, bias, GROUPS, 1e-5)
    for one, other in zip(made, op(x, weight, bias, GROUPS, 1e-5), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_without_an_npu_the_reason_is_said() -> None:
    npu = pytest.importorskip("gn_tutorial.host.npu")
    reason = npu.why_not()
    if reason is None:
        pytest.skip("this machine has an NPU")
    with pytest.raises(GntError) as caught:
        devices.Npu(0).library()
    assert reason in caught.value.what


def test_the_npu_s_name_is_followed_when_torch_npu_has_renamed_it() -> None:
    done = child("""
        import torch
        torch.utils.rename_privateuse1_backend("npu")
        from gn_tutorial.torch_ops import devices, registered
        print(devices.NPU, registered.missing())
    """)
    assert (done.stdout, done.stderr) == ("npu []\n", "")


@pytest.mark.thorough
def test_a_cell_that_is_run_twice_registers_again() -> None:
    done = child("""
        import importlib, torch
        from gn_tutorial import nn
        from gn_tutorial.torch_ops import registered
        x = (torch.arange(24.0).reshape(2, 4, 3) ** 2).requires_grad_()
        first = nn.GroupNorm(2, 4)(x).detach()
        for name in ("group_norm_backward", "group_norm", "group_norm_silu"):
            importlib.reload(importlib.import_module(f"gn_tutorial.torch_ops.operators.{name}"))
        y = nn.GroupNormSiLU(2, 4)(x) + nn.GroupNorm(2, 4)(x)
        y.sin().sum().backward()
        print(torch.equal(nn.GroupNorm(2, 4)(x), first), bool(x.grad.abs().sum() > 0), registered.missing())
        again = torch.func.grad(lambda x: torch.ops.gn_tutorial.group_norm(x, None, None, 2)[0].sin().sum())(x.detach())
        print(bool(again.abs().sum() > 0))
    """)
    assert (done.stdout, done.stderr) == ("True True []\nTrue\n", "")
