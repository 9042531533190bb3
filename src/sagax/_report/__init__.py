"""`python -m sagax run --report out.html`: where the time and the memory of a program's functions go.

`costs` estimates what operations cost, `facts` gathers what is known of each compiled function,
`page` writes it down as one HTML page, `command` runs a program and writes the page at its end.
"""
