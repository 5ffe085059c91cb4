"""A small ResNet, converted in place, trains as before; and a wrong norm would be seen."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from gn_tutorial import nn  # noqa: E402
from gn_tutorial.torch_ops import resnet  # noqa: E402

STEPS = 20
# Both round, in another order; the differences grow a little from step to step.
NEAR = 1e-4


@pytest.fixture(scope="module")
def losses() -> list[float]:
    return resnet.train(resnet.make(0), STEPS)


def test_a_converted_resnet_trains_equally(losses: list[float]) -> None:
    net = resnet.make(0)
    before = [id(one) for one in net.parameters()]
    assert nn.convert(net) is net
    kinds = [type(one) for one in net.modules()]
    assert kinds.count(nn.GroupNorm) == 7
    assert torch.nn.GroupNorm not in kinds
    ours = resnet.train(net, STEPS)
    assert [id(one) for one in net.parameters()] == before
    torch.testing.assert_close(torch.tensor(ours), torch.tensor(losses), rtol=NEAR, atol=0)
    assert min(losses[-5:]) < losses[0], "nothing was learnt, so equal losses would say little"


def test_gradients_that_are_wrong_by_a_percent_are_seen(losses: list[float]) -> None:
    net = nn.convert(resnet.make(0))
    for module in net.modules():
        if isinstance(module, nn.GroupNorm):
            module.register_full_backward_hook(lambda _, grads, __: tuple(one * 1.01 for one in grads))
    ours = resnet.train(net, STEPS)
    worst = max(abs(one - two) / two for one, two in zip(ours, losses, strict=True))
    assert worst > NEAR
