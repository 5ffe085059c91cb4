"""Compares two files that the command line names."""

import sys

import numpy as np

output, golden = (np.fromfile(name, np.float32) for name in sys.argv[1:3])
if output.shape != golden.shape or not np.allclose(output, golden, rtol=1e-5, atol=1e-5):
    print("[ERROR] result error")
    sys.exit(1)
print("test pass")
