"""Explain failing scripts: run them with every check on, find fixes, try them, show them.

`run_script` runs a script in this process and reports what happened, `subprocess_runs` does that in a
process of its own. `runtime_checks` and `numeric_checks` hold the checks. `reference_run` runs a script
without transformations, to have a result to compare with. `repairs` proposes candidates, `search` tries
them, and `command` is what a user calls.
"""
