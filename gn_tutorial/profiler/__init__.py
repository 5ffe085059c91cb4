"""Profiles of the timing model: what a launch would cost on the chip; comparisons, exports, calibration."""
