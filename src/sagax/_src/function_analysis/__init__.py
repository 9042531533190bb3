"""Analyze Python functions: purity, identity and free variables."""
