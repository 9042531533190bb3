"""`python -m sagax doctor`: why a device is missing or fails to start, and what to do.

`facts` looks at the machine, `probe` tries things in processes of their own (a wrong flag ends the
process that meets it), `rules` turn facts into findings without looking at anything, `report` words
them.
"""
