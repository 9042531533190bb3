"""Detect random keys that are used twice, under `debug_key_reuse`."""
