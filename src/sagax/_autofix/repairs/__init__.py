"""Propose edits of the user's source: pure functions from facts and source text to candidates.

`source_file` reads a file (positions, names, scopes). `case` is one mistake with all that is known of
it. `registry` maps errors to repairs, and the other modules hold a family of repairs each. Nothing here
runs the user's script: `search` tries each candidate before it is offered.
"""
