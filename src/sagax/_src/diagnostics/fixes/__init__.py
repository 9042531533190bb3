"""Repairs of the user's source: pure functions from facts and source text to candidate edits.

`source` reads a file (positions, names, scopes), `case` is one mistake with all that is known of
it, the other modules hold a family of repairs each, `table` says which of them to ask for which
error. Nothing here runs the user's program: whoever offers a candidate has tried it elsewhere.
"""
