"""Implement the public transformations: argument handling and caches."""
