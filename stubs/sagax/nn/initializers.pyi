"""Initialize weights: make functions `init(key, shape, dtype)`."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from sagax._shapes import Shape
from sagax._src.core.value import Array
from sagax.typing import ArrayLike, DTypeLike

Axes: Any

class Initializer(Protocol):
    """A function that makes an array of initial weights, sharded as `out_sharding` says.

    >>> init: nn.initializers.Initializer = nn.initializers.zeros
    >>> init(random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """

    def __call__(
        self, key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None
    ) -> Array: ...

def constant(value: Any, dtype: DTypeLike | None = None) -> Initializer: ...
def delta_orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer: ...
def glorot_normal(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def glorot_uniform(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def he_normal(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def he_uniform(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def kaiming_normal(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def kaiming_uniform(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def lecun_normal(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def lecun_uniform(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def normal(stddev: Any = 0.01, dtype: DTypeLike | None = None) -> Initializer: ...
def ones(
    key: Array, shape: Shape, dtype: DTypeLike | None = None, out_sharding: Any = None
) -> Array: ...
def orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer: ...
def truncated_normal(
    stddev: Any = 0.01,
    dtype: DTypeLike | None = None,
    lower: ArrayLike = -2.0,
    upper: ArrayLike = 2.0,
) -> Initializer: ...
def uniform(scale: ArrayLike = 0.01, dtype: DTypeLike | None = None) -> Initializer: ...
def variance_scaling(
    scale: ArrayLike,
    mode: Literal["fan_in", "fan_out", "fan_avg", "fan_geo_avg"],
    distribution: Literal["truncated_normal", "normal", "uniform"],
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def xavier_normal(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def xavier_uniform(
    in_axis: int | Sequence[int] | None = -2,
    out_axis: int | Sequence[int] | None = -1,
    batch_axis: int | Sequence[int] | None = (),
    dtype: DTypeLike | None = None,
) -> Initializer: ...
def zeros(
    key: Array, shape: Shape, dtype: DTypeLike | None = None, out_sharding: Any = None
) -> Array: ...
