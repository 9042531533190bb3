"""Check source files without running them: `python -m sagax check FILE...`.

`files` finds and reads sources, `interpreter` runs each abstractly over `abstract_values`, `formats` prints the
findings. Only the standard library is imported here, and what words findings in the user's language, so that the
command starts at once.
"""
