"""Transformations of programs: one rewrite a file."""
