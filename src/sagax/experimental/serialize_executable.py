"""Serialize compiled functions to bytes, for processes on the same kind of machine.

`sagax.export` writes programs that last, for other machines and versions; these are machine code.
"""

from sagax._src.api.serialize_executable import load as deserialize_and_load
from sagax._src.api.serialize_executable import save as serialize
