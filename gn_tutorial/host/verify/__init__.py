"""``gnt npu verify``: runs everything that can run on an NPU once, compares it with the twin, and writes a report.

``steps`` has the steps, and ``report`` stores their results. ``kernels`` verifies one kernel, and ``pytorch`` PyTorch's
operators, in a separate process. Nothing here was run on an NPU; it is tested with a stand-in for CANN's runtime.
"""
