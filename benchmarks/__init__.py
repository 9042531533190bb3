"""sagax beside JAX: the same functions on both, measured in turns in one run. See `--help`."""
