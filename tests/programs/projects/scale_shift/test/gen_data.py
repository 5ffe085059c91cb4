"""Writes input.bin and golden.bin."""

import numpy as np

x = np.random.default_rng(1).uniform(-4.0, 4.0, (3, 1001)).astype(np.float16)
x.tofile("input.bin")
(x * np.float16(2.0) + np.float16(0.5)).astype(np.float16).tofile("golden.bin")
