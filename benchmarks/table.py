"""List all rows, in the order of measurement."""

from benchmarks.cases import CASES
from benchmarks.devices import DEVICES
from benchmarks.waiting import WAITING

ROWS = (*CASES, *WAITING, *DEVICES)

# Of each kind one or two that take jax no more than seconds: what `--quick` measures.
SHORT = frozenset(
    "import trace lower jit-call eager-add eager-sin eager-slice normal-10 kernel-sort kernel-dot first-result memory"
    " dispatch-10 put-10 callback unjitted-grad unjitted-vmap unjitted-mlp gpt-lower-grad adam-first"
    " fused-run devices-put-small".split()
)
