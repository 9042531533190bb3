"""Implement `sagax.autojit`: convert Python control flow of a function to that of lax.

source.py finds the syntax tree of a function. exits.py nests early exits. variables.py analyzes which
variables a block assigns and which are live after it. rewrite.py turns blocks into functions and control
flow into calls, which operators.py executes.
"""
