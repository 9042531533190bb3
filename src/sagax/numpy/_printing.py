"""Format arrays as text, with NumPy's print options."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._base as _base


def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Format an array as `repr` does, with other options.

    >>> snp.array_repr(snp.array([1.23456, 2.0]), precision=2)
    'Array([1.23, 2.  ], dtype=float32)'
    """
    x = _base.as_array("array_repr", arr)
    options = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    with np.printoptions(**{k: v for k, v in options.items() if v is not None}):
        return repr(x)


def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Format an array as `str` does, with other options.

    >>> snp.array_str(snp.array([1.23456, 2.0]), precision=2)
    '[1.23 2.  ]'
    """
    x = _base.as_array("array_str", a)
    options = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    with np.printoptions(**{k: v for k, v in options.items() if v is not None}):
        return str(x)


def get_printoptions() -> Any:
    """Return the options with which arrays are shown, a dict: NumPy's.

    >>> snp.get_printoptions()["precision"]
    8
    """
    return np.get_printoptions()


def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """Set options with which arrays are shown, such as precision=3: NumPy's, for its arrays too.

    >>> snp.set_printoptions(precision=8)
    """
    np.set_printoptions(*args, **kwargs)


def printoptions(*args: Any, **kwargs: Any) -> Any:
    """Set the options of printing arrays in a context manager.

    >>> with snp.printoptions(precision=2):
    ...     print(snp.array([1.23456]))
    [1.23]
    """
    return np.printoptions(*args, **kwargs)
