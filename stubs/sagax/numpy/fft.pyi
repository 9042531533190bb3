"""Compute discrete Fourier transforms, their frequencies and shifts."""

from collections.abc import Sequence
from typing import Any, Literal

from sagax._src.core.value import Array
from sagax.typing import ArrayLike, DTypeLike

def fft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def fft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = ...,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def fftfreq(
    n: int, d: Any = 1.0, *, dtype: DTypeLike | None = None, device: Any = None
) -> Array: ...
def fftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array: ...
def hfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def ifft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def ifft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = ...,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def ifftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array: ...
def ihfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def irfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def irfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = ...,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def irfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def rfft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def rfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = ...,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def rfftfreq(
    n: int, d: Any = 1.0, *, dtype: DTypeLike | None = None, device: Any = None
) -> Array: ...
def rfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
