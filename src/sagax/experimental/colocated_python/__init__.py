"""Run Python functions on the processors beside accelerators, on arrays that lie there.

sagax runs them in the process that calls, on its CPU devices.

>>> from sagax.experimental.colocated_python import colocated_python
>>> @colocated_python
... def double(x):
...     return x * 2
>>> double(snp.arange(3))
Array([0, 2, 4], dtype=int32)
"""

from sagax.experimental.colocated_python import serialization
from sagax.experimental.colocated_python.api import (
    colocated_cpu_devices,
    colocated_python,
    colocated_python_class,
)

__all__ = ["colocated_cpu_devices", "colocated_python", "colocated_python_class", "serialization"]
