"""Compares output.bin with golden.bin."""

import sys

import numpy as np

output, golden = (np.fromfile(name, np.float16).astype(np.float32) for name in ("output.bin", "golden.bin"))
if output.shape == golden.shape and np.allclose(output, golden, rtol=1e-3, atol=1e-3):
    print("TEST PASSED!")
    sys.exit(0)
print("TEST FAILED!")
sys.exit(1)
