"""What a launch would cost on the chip, and why: profiles, comparisons, exports, calibration."""
