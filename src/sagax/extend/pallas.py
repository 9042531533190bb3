"""Extend kernels from libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.primitives.unsupported import UnsupportedError
from sagax.experimental.pallas._call import Kernel as GridMapping

__all__ = ["GridMapping", "register_lowering_rule"]


def register_lowering_rule(params_cls: type, rule: Callable[..., Any], platform: str) -> None:
    """Raise an error: kernels are lowered through XLA, not by rules for their compiler parameters."""
    raise UnsupportedError(
        "a kernel is lowered with the program around it, not by a rule of its own",
        function="register_lowering_rule",
        fix="write a primitive with sagax.extend.core, and lower that",
    )
