"""Diagnose devices that are missing or fail to start: `python -m sagax doctor`.

`facts` collects facts of the machine. `probe` starts platforms in child processes, since a wrong flag may
end the process. `rules` derives findings from facts alone, and `report` formats them.
"""
