"""Models and graphs for tests of the fusion pass, and the tolerance of a fused model."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

NEAR = {"rtol": 2e-5, "atol": 2e-5}


class UNetBlock(nn.Module):
    """GroupNorm, SiLU and a convolution, twice, with a residual, as in the U-Net of a diffusion model."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(3, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.norm, self.convolution = nn.GroupNorm(2, channels), nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.first(x)
        return x + self.convolution(functional.silu(self.norm(hidden)))


class Gated(nn.Module):
    """The gated layer of a language model, with its residual."""

    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(width, 14), nn.Linear(width, 14), nn.Linear(14, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(functional.silu(self.gate(x)) * self.up(x))


class Transformer(nn.Module):
    """Two blocks of a mixing layer and a gated one, each with its norm before it and its residual; and a last norm."""

    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.mix = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(2))
        self.gated = nn.ModuleList(Gated(width) for _ in range(2))
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(5))

    def forward(self, x: Tensor) -> Tensor:
        for number in range(2):
            x = x + self.mix[number](self.norms[2 * number](x))
            layer, hidden = self.gated[number], self.norms[2 * number + 1](x)
            x = x + layer.down(functional.silu(layer.gate(hidden)) * layer.up(hidden))
        return self.norms[4](x)


class SmallResNet(nn.Module):
    """Two blocks with BatchNorm, each ending in add and ReLU, in place as torchvision writes it."""

    def __init__(self, channels: int = 4) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.first = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))
        self.second = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))
        self.relu = nn.ReLU(inplace=True)
        self.head = nn.Linear(channels, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in (self.first, self.second):
            out = block(x)
            out += x
            x = self.relu(out)
        return self.head(x.mean((2, 3)))


CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], list[str]]] = {
    "u-net": (UNetBlock, (2, 6, 5, 4), ["group_norm_silu", "group_norm_silu"]),
    "gated": (Gated, (3, 7, 10), ["swiglu"]),
    "transformer": (Transformer, (3, 7, 10), ["add_rms_norm"] * 4 + ["swiglu"] * 2),
    "resnet": (SmallResNet, (2, 3, 5, 4), ["add_relu", "add_relu"]),
}


def made(name: str) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(4)
    model, shape, _ = CASES[name]
    built = model()
    for module in built.modules():
        if isinstance(module, nn.BatchNorm2d):  # with its initial statistics, folding would only copy
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 2.0)
            nn.init.uniform_(module.weight, 0.5, 1.5)
    return built, torch.randn(shape) * 1.5 + 0.3


def names(report: object) -> list[str]:
    return sorted(one.fusion for one in report.found)


def traced(function: Callable[..., Tensor]) -> nn.Module:
    """Return a function as a graph, without shapes."""
    return torch.fx.GraphModule(nn.Module(), torch.fx.Tracer().trace(function))


def train_alike(model: nn.Module, fused: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """Train both for twenty steps; assert equal losses and gradients; return the first and the last loss."""
    pairs = [(one, torch.optim.SGD(one.parameters(), lr=0.02, momentum=0.9)) for one in (model, fused)]
    target = torch.randn_like(model(x).detach())
    first = functional.mse_loss(model(x), target).detach()
    for _ in range(20):
        losses = []
        for one, optimiser in pairs:
            optimiser.zero_grad()
            loss = functional.mse_loss(one(x), target)
            loss.backward()
            optimiser.step()
            losses.append(loss.detach())
        torch.testing.assert_close(losses[1], losses[0], **NEAR)
    found = dict(fused.named_parameters())  # in the order of their use
    assert found.keys() == dict(model.named_parameters()).keys()
    for path, right in model.named_parameters():
        torch.testing.assert_close(found[path].grad, right.grad, rtol=2e-4, atol=2e-4)
    return first, losses[0]
