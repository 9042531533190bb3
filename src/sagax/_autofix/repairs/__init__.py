"""Propose edits of the user's source: pure functions from facts and source text to candidates.

`source_file` parses a file (positions, names, scopes). `case` holds one mistake with its facts.
`dataflow` and `origins` analyze the source. `registry` maps errors to repairs, and the other modules
hold a family of repairs each. Nothing here runs the user's script: `search` tries the candidates.
"""
