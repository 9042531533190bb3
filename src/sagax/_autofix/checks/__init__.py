"""Check a running script for mistakes that raise nothing; only `explain` turns these checks on."""
