"""Choose how kernels are interpreted: `InterpretParams`, and a setting for kernels that say nothing."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.frozen_class import record


@record
class InterpretParams:
    """Ask for the checking interpreter: programs run one by one, and each read and write is checked.

    Args:
      detect_races: whether to look for programs that write what others read or write, along axes of the grid
        that `dimension_semantics` calls parallel, and for writes that later ones overwrite unread.
      on_race: "raise" or "warn".
      out_of_bounds_reads: "raise", or "uninitialized" to read NaN there.
      uninitialized_memory: "nan" or "zero": what memory holds before the first write.
      others: accepted as in jax, for TPUs.

    >>> InterpretParams(detect_races=True).on_race
    'raise'
    """

    detect_races: bool = False
    on_race: str = "raise"
    out_of_bounds_reads: str = "raise"
    skip_floating_point_ops: bool = False
    uninitialized_memory: str = "nan"
    num_cores_or_threads: int = 1
    vector_clock_size: int | None = None
    logging_mode: Any = None
    dma_execution_mode: str = "on_wait"
    random_seed: int | None = None
    grid_point_recorder: Any = None
    allow_hbm_allocation_in_run_scoped: bool = False
    buffer_bounds: str = "logical"

    def __post_init__(self) -> None:
        for name, choices in (
            ("on_race", ("raise", "warn")),
            ("out_of_bounds_reads", ("raise", "uninitialized")),
            ("uninitialized_memory", ("nan", "zero")),
        ):
            if getattr(self, name) not in choices:
                raise ArgumentValueError.about(
                    "InterpretParams",
                    name,
                    repr(getattr(self, name)),
                    " or ".join(map(repr, choices)),
                )


class _Mode(threading.local):
    params: Any = None


_mode = _Mode()


def set_tpu_interpret_mode(params: Any = InterpretParams()) -> None:  # noqa: B008
    """Let kernels that do not choose run in the checking interpreter; None ends that."""
    _mode.params = params


@contextlib.contextmanager
def force_tpu_interpret_mode(params: Any = InterpretParams()) -> Iterator[None]:  # noqa: B008
    """Let kernels that do not choose run in the checking interpreter, within a `with` block."""
    before = _mode.params
    _mode.params = params
    try:
        yield
    finally:
        _mode.params = before


def reset_tpu_interpret_mode_state() -> None:
    """Forget memory of earlier interpretations: there is none, as each call has its own."""


def chosen(interpret: Any) -> Any:
    """Return how a kernel is to be interpreted."""
    return _mode.params if interpret is False and _mode.params is not None else interpret
