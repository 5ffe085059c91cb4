"""A small ResNet with ``torch.nn.GroupNorm``, and a short training of it on random images.

The tests convert the net in place (``gn_tutorial.nn.convert``) and check that it trains as before. The net has residual
blocks, one of which halves the image's height and width, and norms of two sizes. The images are random, so nothing is
downloaded. The labels depend on the images, so the net can learn them.
"""

from __future__ import annotations

import torch
from torch import Tensor

CLASSES, CHANNELS, IMAGE = 4, 3, 12
_BATCH, _RATE, _MOMENTUM = 16, 0.05, 0.9


class Block(torch.nn.Module):
    """Two convolutions, each with a norm, and a shortcut, which adds the block's input to their result.

    The block maps (N, before, H, W) to (N, after, H/stride, W/stride), rounded up.
    """

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(before, after, 3, stride, 1, bias=False),
            torch.nn.GroupNorm(4, after),
            torch.nn.ReLU(),
            torch.nn.Conv2d(after, after, 3, 1, 1, bias=False),
            torch.nn.GroupNorm(4, after),
        )
        same = before == after and stride == 1
        self.past = torch.nn.Identity() if same else torch.nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the ReLU of the sum of both convolutions' result and the shortcut."""
        return torch.relu(self.body(x) + self.past(x))


def make(seed: int) -> torch.nn.Sequential:
    """Return the net with this seed's initial weights. It maps images (N, 3, 12, 12) to scores (N, 4).

    The net has seven norms, of 8 and 16 channels. The caller's random state does not change.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return torch.nn.Sequential(
            torch.nn.Conv2d(CHANNELS, 8, 3, padding=1, bias=False),
            torch.nn.GroupNorm(2, 8),
            torch.nn.ReLU(),
            Block(8, 8, 1),
            Block(8, 16, 2),
            Block(16, 16, 1),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
            torch.nn.Linear(16, CLASSES),
        )


def train(net: torch.nn.Module, steps: int, seed: int = 0) -> list[float]:
    """Train the net with ``steps`` steps of gradient descent with momentum; return the loss in nats before each step.

    The same seed gives the same batches, on every device.
    """
    device = next(net.parameters()).device
    made = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(net.parameters(), lr=_RATE, momentum=_MOMENTUM)
    losses = []
    for _ in range(steps):
        images = torch.randn(_BATCH, CHANNELS, IMAGE, IMAGE, generator=made)
        # The label, 0 to 3, says whether the left or the right half of the image is brighter, and whether the upper or
        # the lower half is.
        across, down = (images.mean((1, axis)).unflatten(1, (2, IMAGE // 2)).mean(2).argmax(1) for axis in (2, 3))
        loss = torch.nn.functional.cross_entropy(net(images.to(device)), (2 * down + across).to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
