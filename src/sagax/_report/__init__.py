"""Report time and memory of a script's functions: `python -m sagax run --report out.html`.

`costs` estimates the costs of operations, `measured` profiles some runs, `facts` collects the facts of each
compiled function, `page` renders them as one HTML page with the drawings of `drawings`, and `command` runs a
script and writes the page at its end.
"""
