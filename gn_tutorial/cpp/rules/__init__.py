"""Rules on C++ that CANN does not take, or that runs otherwise on a device: one module for each."""
