"""Define elementwise special functions of floats; modules are imported on first use."""
