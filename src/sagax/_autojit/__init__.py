"""Python control flow of a function, converted to that of a compiled program (`sagax.autojit`).

source.py finds the syntax tree of a function; exits.py nests early exits, variables.py tells which
variables a block changes and which are needed after it, rewrite.py makes blocks functions and control
flow calls, which operators.py carries out.
"""
