"""The host API in two calls from Python, its library, and a real NPU as its device."""
