"""Primitives that hold a program."""
