"""`python -m sagax explain`: run a program with every check on, find repairs, try them, show them.

`execution` runs a script in this process and says what happened, `children` does that in a process
of its own, `watching` holds the checks, `plainly` runs a program without transformations to have a
result to compare with, `search` tries candidates, `command` is what a user calls.
"""
