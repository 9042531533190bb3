"""All rows, in the order in which they are measured."""

from benchmarks.cases import CASES
from benchmarks.devices import DEVICES
from benchmarks.waiting import WAITING

ROWS = (*CASES, *WAITING, *DEVICES)
