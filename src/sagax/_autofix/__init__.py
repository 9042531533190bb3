"""Explain failing scripts: run them with every check on, find fixes, try them, show them.

`run_script` runs a script in this process and reports the outcome; `subprocess_runs` does so in a child
process. `runtime_checks` and `numeric_checks` hold the checks. `reference_run` runs a script without
transformations, for a reference result. `repairs` proposes candidates, `search` tries them, and
`command` is the user interface.
"""
