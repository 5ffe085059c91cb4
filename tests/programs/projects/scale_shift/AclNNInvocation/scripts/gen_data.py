"""Writes input/input_x.bin and output/golden.bin."""

import os

import numpy as np

x = np.random.default_rng(2).uniform(-4.0, 4.0, (5, 777)).astype(np.float32)
os.makedirs("input", exist_ok=True)
os.makedirs("output", exist_ok=True)
x.tofile("input/input_x.bin")
(x * np.float32(-1.5) + np.float32(3.0)).tofile("output/golden.bin")
