"""A training on real data: a small convolutional net with GroupNorm learns the handwritten digits of scikit-learn.

The training serves to compare two implementations of GroupNorm. With the same seed both start from the same weights and
see the same batches, so their losses can differ only by rounding. After a few hundred steps both must recognise the
digits.

The data come with scikit-learn: 1797 images of 8 x 8 pixels of digits that 13 people wrote (Alpaydin and Kaynak, 1998).
Every fourth image is held out. The same people wrote the held-out digits, so the accuracy is for new digits, not for
new people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from gn_tutorial.errors import ArgumentError, GntError

#: A function or class that makes a layer from (groups, channels), such as ``torch.nn.GroupNorm``.
Norm = Callable[[int, int], torch.nn.Module]

BATCH = 64  # images in each step; 21 steps are one pass over the training images, of which 3 fill no batch
HELD_OUT = 4  # every fourth image is held out
# These are for gradient descent, whose step is proportional to the gradient. Adam divides by the gradient's size, so
# where the gradient is almost 0, Adam would turn a rounding error into a whole step.
RATE, MOMENTUM = 0.05, 0.9


class Curve(NamedTuple):
    """The losses and the accuracy of a training."""

    #: Cross-entropy in nats of each step's batch, before the step.
    losses: list[float]
    #: Share of the held-out digits that the trained net recognises, 0 to 1.
    accuracy: float


class Digits(NamedTuple):
    """Images, float32 of shape (N, 1, 8, 8), from 0 to 1. Their labels, int64 of shape (N,), are the digits 0 to 9."""

    images: Tensor
    labels: Tensor


class DigitsNet(torch.nn.Module):
    """Two convolutions, each with a norm, ReLU and pooling, and then a linear layer.

    The net maps images (N, 1, 8, 8) to scores (N, 10). ``norm(groups, channels)`` makes the norms. The norms are made
    last, so the other layers have the same initial weights whether or not the norms draw random numbers.
    """

    def __init__(self, norm: Norm) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.second = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.scores = torch.nn.Linear(32 * 2 * 2, 10)
        self.first_norm = norm(4, 16)
        self.second_norm = norm(8, 32)

    def forward(self, images: Tensor) -> Tensor:
        """Return the scores (N, 10), one for each digit."""
        x = torch.relu(self.first_norm(self.first(images)))
        x = torch.nn.functional.max_pool2d(x, 2)
        x = torch.relu(self.second_norm(self.second(x)))
        return self.scores(torch.nn.functional.max_pool2d(x, 2).flatten(1))


def train_digits(norm: Norm, *, steps: int, seed: int = 0) -> Curve:
    """Train ``DigitsNet`` with norms that ``norm(groups, channels)`` makes, on ``steps`` batches of 64 images.

    The same seed gives the same initial weights and the same batches; the caller's random state does not change.
    PyTorch works on one thread meanwhile (``one_thread``), because the images are small.
    Raises ArgumentError if steps is below 1 or ``norm`` cannot make layers, GntError without scikit-learn, and any
    exception of the layers.
    """
    if steps < 1:
        raise ArgumentError(f"steps is {steps}; it must be at least 1", where="train_digits", hint="150 are enough")
    seen, held_out = load_digits()
    net = make_net(norm, seed)
    optimizer = make_optimizer(net)
    batches = endless_batches(seen, seed)
    with one_thread():
        losses = [train_step(net, optimizer, next(batches)) for _ in range(steps)]
        net.eval()
        with torch.no_grad():
            right = net(held_out.images).argmax(1) == held_out.labels
    return Curve(losses, right.double().mean().item())


def load_digits() -> tuple[Digits, Digits]:
    """Return the training digits and the held-out digits, always the same. Raises GntError without scikit-learn."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise GntError(
            "scikit-learn has the digits, and it is not installed",
            where="gn_tutorial.torch_ops.training",
            hint="./gnt torch installs it, or: pip install scikit-learn",
        ) from error
    loaded = datasets.load_digits()
    images = torch.from_numpy(loaded.images).float()[:, None] / 16
    labels = torch.from_numpy(loaded.target).long()
    held_out = torch.arange(len(labels)) % HELD_OUT == 0
    return Digits(images[~held_out], labels[~held_out]), Digits(images[held_out], labels[held_out])


def make_net(norm: Norm, seed: int) -> DigitsNet:
    """Return the net with the initial weights of this seed. Raises ArgumentError if ``norm`` cannot make layers."""
    if isinstance(norm, torch.nn.Module) or not callable(norm):
        what = f"norm is {type(norm).__name__}: it must make layers, not be one"
        hint = "pass the class itself, torch.nn.GroupNorm, or a function of (groups, channels)"
        raise ArgumentError(what, where="norm", hint=hint)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return DigitsNet(norm)


def make_optimizer(net: torch.nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer: gradient descent with momentum, on all parameters."""
    return torch.optim.SGD(net.parameters(), lr=RATE, momentum=MOMENTUM)


def endless_batches(digits: Digits, seed: int) -> Iterator[Digits]:
    """Yield batches of ``BATCH`` images without end, in a new order for each pass; the seed chooses the orders."""
    made = torch.Generator().manual_seed(seed)
    while True:
        order = torch.randperm(len(digits.labels), generator=made)
        for some in order.split(BATCH)[: len(order) // BATCH]:  # the rest fills no batch and is dropped
            yield Digits(digits.images[some], digits.labels[some])


def train_step(net: torch.nn.Module, optimizer: torch.optim.Optimizer, batch: Digits) -> float:
    """Run forward, backward and one step of the optimizer; return the loss before the step, in nats."""
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(batch.images), batch.labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@contextmanager
def one_thread() -> Iterator[None]:
    """Make PyTorch's CPU operators use one thread inside the context, and as many as before afterwards.

    PyTorch divides an operator among threads, one for each core, and waits for the slowest. A small operator is then no
    faster, and much slower if a core has other work: a hundred steps of ``train_digits`` took 21 s on two busy cores,
    and 0.9 s on one thread. The number of threads belongs to the process, so other Python threads get it too.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
