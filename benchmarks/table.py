"""List all rows, in the order of measurement."""

from benchmarks.cases import CASES
from benchmarks.devices import DEVICES
from benchmarks.experimental import EXPERIMENTAL
from benchmarks.kernels import CASES as KERNELS
from benchmarks.operations import ROWS as OPERATIONS
from benchmarks.waiting import WAITING

ROWS = (*CASES, *KERNELS, *OPERATIONS, *WAITING, *EXPERIMENTAL, *DEVICES)

# Of each kind one or two that take jax no more than seconds: what `--quick` measures.
# What a GPU's time is spent on, what runs before it starts, and what the host waits for: four minutes.
GPU = frozenset(
    "jit-call eager-sin dispatch-10 put-10 put-64M callback normal uniform normal-10 permutation kernel-conv kernel-sort"
    " kernel-dot kernel-cholesky kernel-svd kernel-fft kernel-scan kernel-cumsum gpt256-compile gpt256-run cnn-grad-compile"
    " cnn-grad-run mlp-grad-run adam-run draws-dropout-run fused-run pallas-attention".split()
)
SHORT = frozenset(
    "import trace lower jit-call eager-add eager-sin eager-slice normal-10 kernel-sort kernel-dot first-result memory"
    " dispatch-10 put-10 callback unjitted-grad unjitted-vmap unjitted-mlp gpt-lower-grad adam-first"
    " fused-run devices-put-small".split()
)
