"""Compute with arrays: NumPy's functions, traceable, compiled and differentiable."""

import builtins
import os
from collections.abc import Callable, Collection, Sequence
from typing import IO, Any, Literal, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from sagax._shapes import Shape
from sagax._src.core.value import Array
from sagax.numpy import fft as fft
from sagax.numpy import linalg as linalg
from sagax.numpy._indexing.grids import c_ as c_
from sagax.numpy._indexing.grids import index_exp as index_exp
from sagax.numpy._indexing.grids import mgrid as mgrid
from sagax.numpy._indexing.grids import ogrid as ogrid
from sagax.numpy._indexing.grids import r_ as r_
from sagax.numpy._indexing.grids import s_ as s_
from sagax.numpy._sets import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from sagax.numpy._types import ComplexWarning as ComplexWarning
from sagax.numpy._types import character as character
from sagax.numpy._types import complexfloating as complexfloating
from sagax.numpy._types import dtype as dtype
from sagax.numpy._types import flexible as flexible
from sagax.numpy._types import floating as floating
from sagax.numpy._types import generic as generic
from sagax.numpy._types import inexact as inexact
from sagax.numpy._types import integer as integer
from sagax.numpy._types import ndarray as ndarray
from sagax.numpy._types import number as number
from sagax.numpy._types import object_ as object_
from sagax.numpy._types import signedinteger as signedinteger
from sagax.numpy._types import unsignedinteger as unsignedinteger
from sagax.numpy._ufunc import negative as negative
from sagax.numpy._ufunc import ufunc as ufunc
from sagax.typing import ArrayLike, DTypeLike

_P = ParamSpec("_P")
_R = TypeVar("_R")

class _Ufunc(ufunc):
    """A function of two operands, with `reduce` and the like."""

    def __call__(
        self, x: ArrayLike, y: ArrayLike, /, out: None = None, where: None = None
    ) -> Array: ...

class _FloatLimits:
    bits: int
    dtype: np.dtype
    eps: float
    epsneg: float
    max: float
    maxexp: int
    min: float
    minexp: int
    nexp: int
    nmant: int
    precision: int
    resolution: float
    smallest_normal: float
    smallest_subnormal: float
    tiny: float

class _IntegerLimits:
    bits: int
    dtype: np.dtype
    max: int
    min: int

class _ScalarType(type):
    """A dtype that makes arrays when called, as `snp.float32(1)` does."""

    dtype: np.dtype

    def __call__(cls, x: Any = 0, /) -> Array: ...

def abs(x: ArrayLike, /) -> Array: ...
def absolute(x: ArrayLike, /) -> Array: ...
def acos(x: ArrayLike, /) -> Array: ...
def acosh(x: ArrayLike, /) -> Array: ...

add: _Ufunc

def all(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array: ...
def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: Any = 1e-05,
    atol: Any = 1e-08,
    equal_nan: builtins.bool = False,
) -> Array: ...
def amax(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...
def amin(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...
def angle(z: ArrayLike, deg: builtins.bool = False) -> Array: ...
def any(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array: ...
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array: ...
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Array: ...
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Sequence[int]) -> Array: ...
def arange(
    start: ArrayLike,
    stop: ArrayLike | None = None,
    step: Any = None,
    dtype: DTypeLike | None = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def arccos(x: ArrayLike, /) -> Array: ...
def arccosh(x: ArrayLike, /) -> Array: ...
def arcsin(x: ArrayLike, /) -> Array: ...
def arcsinh(x: ArrayLike, /) -> Array: ...
def arctan(x: ArrayLike, /) -> Array: ...
def arctan2(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def arctanh(x: ArrayLike, /) -> Array: ...
def argmax(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array: ...
def argmin(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array: ...
def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array: ...
def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: builtins.bool = True,
    descending: builtins.bool = False,
    dtype: DTypeLike | None = None,
) -> Array: ...
def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array: ...
def around(a: ArrayLike, decimals: int = 0, out: None = None) -> Array: ...
def array(
    object: Any,
    dtype: DTypeLike | None = None,
    copy: builtins.bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: builtins.bool = False) -> Array: ...
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array: ...
def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: builtins.bool | None = None,
) -> str: ...
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]: ...
def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: builtins.bool | None = None,
) -> str: ...
def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: builtins.bool | None = None,
    device: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def asin(x: ArrayLike, /) -> Array: ...
def asinh(x: ArrayLike, /) -> Array: ...
def astype(
    x: ArrayLike, dtype: DTypeLike | None, /, *, copy: builtins.bool = False, device: Any = None
) -> Array: ...
def atan(x: ArrayLike, /) -> Array: ...
def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def atanh(x: ArrayLike, /) -> Array: ...
def bartlett(M: int) -> Array: ...

bfloat16: _ScalarType

def bincount(
    x: ArrayLike,
    weights: ArrayLike | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Array: ...

bitwise_and: _Ufunc

def bitwise_count(x: ArrayLike, /) -> Array: ...
def bitwise_invert(x: ArrayLike, /) -> Array: ...
def bitwise_left_shift(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def bitwise_not(x: ArrayLike, /) -> Array: ...

bitwise_or: _Ufunc

def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...

bitwise_xor: _Ufunc

def blackman(M: int) -> Array: ...
def block(arrays: Any) -> Array: ...

bool: _ScalarType
bool_: _ScalarType

def broadcast_arrays(*args: Any) -> tuple[Array, ...]: ...
def broadcast_to(array: ArrayLike, shape: Shape, *, out_sharding: Any = None) -> Array: ...
def can_cast(from_: Any, to: Any, casting: str = "safe") -> builtins.bool: ...
def cbrt(x: ArrayLike, /) -> Array: ...

cdouble: _ScalarType

def ceil(x: ArrayLike, /) -> Array: ...
def choose(a: ArrayLike, choices: Any, out: None = None, mode: str = "raise") -> Array: ...
def clip(
    arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None
) -> Array: ...
def column_stack(tup: Array | np.ndarray | Sequence[ArrayLike]) -> Array: ...

complex128: _ScalarType
complex64: _ScalarType
complex_: _ScalarType

def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
    out: None = None,
) -> Array: ...
def concat(arrays: Array | np.ndarray | Sequence[ArrayLike], *, axis: int | None = 0) -> Array: ...
def concatenate(
    arrays: Array | np.ndarray | Sequence[ArrayLike],
    axis: int | None = 0,
    dtype: DTypeLike | None = None,
) -> Array: ...
def conj(x: ArrayLike, /) -> Array: ...
def conjugate(x: ArrayLike, /) -> Array: ...
def convolve(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "full",
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def copy(a: ArrayLike, order: str | None = None) -> Array: ...
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def corrcoef(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: builtins.bool = True,
    dtype: DTypeLike | None = None,
) -> Array: ...
def correlate(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def cos(x: ArrayLike, /) -> Array: ...
def cosh(x: ArrayLike, /) -> Array: ...
def count_nonzero(
    a: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: builtins.bool = False
) -> Array: ...
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: builtins.bool = True,
    bias: builtins.bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: DTypeLike | None = None,
) -> Array: ...
def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array: ...

csingle: _ScalarType

def cumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array: ...
def cumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array: ...
def cumulative_prod(
    x: ArrayLike,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: builtins.bool = False,
) -> Array: ...
def cumulative_sum(
    x: ArrayLike,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: builtins.bool = False,
) -> Array: ...
def deg2rad(x: ArrayLike, /) -> Array: ...
def degrees(x: ArrayLike, /) -> Array: ...
def delete(
    arr: ArrayLike,
    obj: Any,
    axis: int | None = None,
    *,
    assume_unique_indices: builtins.bool = False,
) -> Array: ...
def diag(v: ArrayLike, k: int = 0) -> Array: ...
def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]: ...
def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]: ...
def diagflat(v: ArrayLike, k: int = 0) -> Array: ...
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array: ...
def diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Array: ...
def digitize(
    x: ArrayLike, bins: Any, right: builtins.bool = False, *, method: str | None = None
) -> Array: ...
def divide(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]: ...
def dot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array: ...

double: _ScalarType

def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]: ...
def dstack(
    tup: Array | np.ndarray | Sequence[ArrayLike], dtype: DTypeLike | None = None
) -> Array: ...
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array: ...
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array: ...
def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto"
) -> tuple[list[Any], Any]: ...
def empty(
    shape: Shape, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None
) -> Array: ...
def empty_like(
    prototype: Any,
    dtype: DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: Any = None,
) -> Array: ...
def equal(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def exp(x: ArrayLike, /) -> Array: ...
def exp2(x: ArrayLike, /) -> Array: ...
def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array: ...
def expm1(x: ArrayLike, /) -> Array: ...
def extract(
    condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0
) -> Array: ...
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: DTypeLike | None = None, *, device: Any = None
) -> Array: ...
def fabs(x: ArrayLike, /) -> Array: ...
def fill_diagonal(
    a: ArrayLike, val: ArrayLike, wrap: builtins.bool = False, *, inplace: builtins.bool = True
) -> Array: ...
def flatnonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> Array: ...
def flip(m: ArrayLike, axis: int | Sequence[int] | None = None) -> Array: ...
def fliplr(m: ArrayLike) -> Array: ...
def flipud(m: ArrayLike) -> Array: ...

float16: _ScalarType
float32: _ScalarType
float4_e2m1fn: _ScalarType
float64: _ScalarType
float8_e3m4: _ScalarType
float8_e4m3: _ScalarType
float8_e4m3b11fnuz: _ScalarType
float8_e4m3fn: _ScalarType
float8_e4m3fnuz: _ScalarType
float8_e5m2: _ScalarType
float8_e5m2fnuz: _ScalarType
float8_e8m0fnu: _ScalarType
float_: _ScalarType

def float_power(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def floor(x: ArrayLike, /) -> Array: ...
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array: ...
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array: ...
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def frexp(x: ArrayLike, /) -> tuple[Array, Array]: ...
def from_dlpack(x: Any, /, *, device: Any = None, copy: builtins.bool | None = None) -> Array: ...
def frombuffer(
    buffer: Any, dtype: DTypeLike | None = ..., count: int = -1, offset: int = 0
) -> Array: ...
def fromfile(*args: Any, **kwargs: Any) -> Array: ...
def fromfunction(
    function: Callable[..., Any], shape: Shape, *, dtype: DTypeLike | None = ..., **kwargs: Any
) -> Any: ...
def fromiter(*args: Any, **kwargs: Any) -> Array: ...
def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None
) -> ufunc: ...
def fromstring(
    string: str, dtype: DTypeLike | None = ..., count: int = -1, *, sep: str
) -> Array: ...
def full(
    shape: Shape,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def full_like(
    a: Any,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def gcd(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: builtins.bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array: ...
def get_printoptions() -> Any: ...
def gradient(
    f: Any, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int | None = None
) -> Array | list[Array]: ...
def greater(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def greater_equal(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def hamming(M: int) -> Array: ...
def hanning(M: int) -> Array: ...
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def histogram(
    a: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: builtins.bool | None = None,
    out_sharding: Any = None,
) -> tuple[Array, Array]: ...
def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: builtins.bool | None = None,
) -> tuple[Array, Array, Array]: ...
def histogram_bin_edges(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None
) -> Array: ...
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: builtins.bool | None = None,
) -> tuple[Array, list[Array]]: ...
def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]: ...
def hstack(
    tup: Array | np.ndarray | Sequence[ArrayLike], dtype: DTypeLike | None = None
) -> Array: ...
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def i0(x: ArrayLike, /) -> Array: ...
def identity(n: Any, dtype: DTypeLike | None = None) -> Array: ...
def imag(val: ArrayLike, /) -> Array: ...
def inner(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> Array: ...

int16: _ScalarType
int2: _ScalarType
int32: _ScalarType
int4: _ScalarType
int64: _ScalarType
int8: _ScalarType
int_: _ScalarType

def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: Any = None,
) -> Array: ...
def invert(x: ArrayLike, /) -> Array: ...
def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: Any = 1e-05,
    atol: Any = 1e-08,
    equal_nan: builtins.bool = False,
) -> Array: ...
def iscomplex(x: ArrayLike, /) -> Array: ...
def isdtype(dtype: DTypeLike | None, kind: Any) -> builtins.bool: ...
def isfinite(x: ArrayLike, /) -> Array: ...
def isin(
    element: ArrayLike,
    test_elements: Any,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    *,
    method: str = "auto",
) -> Array: ...
def isinf(x: ArrayLike, /) -> Array: ...
def isnan(x: ArrayLike, /) -> Array: ...
def isneginf(x: ArrayLike, /, out: None = None) -> Array: ...
def isposinf(x: ArrayLike, /, out: None = None) -> Array: ...
def isreal(x: ArrayLike, /) -> Array: ...
def issubdtype(a: Any, b: Any) -> builtins.bool: ...
def iterable(y: Any) -> Any: ...
def ix_(*args: Any) -> tuple[Array, ...]: ...
def kaiser(M: int, beta: Any) -> Array: ...
def kron(a: ArrayLike, b: ArrayLike) -> Array: ...
def lcm(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def left_shift(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def less(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def less_equal(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def lexsort(keys: Array, axis: int = -1, *, batch_size: int = 16) -> Array: ...
def load(file: str | os.PathLike | IO[bytes], *args: Any, **kwargs: Any) -> Any: ...
def log(x: ArrayLike, /) -> Array: ...
def log10(x: ArrayLike, /) -> Array: ...
def log1p(x: ArrayLike, /) -> Array: ...
def log2(x: ArrayLike, /) -> Array: ...

logaddexp: _Ufunc
logaddexp2: _Ufunc
logical_and: _Ufunc

def logical_not(x: ArrayLike, /) -> Array: ...

logical_or: _Ufunc
logical_xor: _Ufunc

def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: builtins.bool = True,
    base: Any = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array: ...
def mask_indices(
    n: int, mask_func: Callable[..., Any], k: int = 0, *, size: int | None = None
) -> tuple[Array, Array]: ...
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array: ...
def matrix_transpose(x: ArrayLike) -> Array: ...
def matvec(x1: ArrayLike, x2: ArrayLike) -> Array: ...
def max(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...

maximum: _Ufunc

def mean(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    *,
    where: ArrayLike | None = None,
) -> Array: ...
def median(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    keepdims: builtins.bool = False,
) -> Array: ...
def min(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...

minimum: _Ufunc

def minmax(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> tuple[Array, Array]: ...
def mod(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]: ...
def moveaxis(
    a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Array: ...

multiply: _Ufunc

def nan_to_num(
    x: ArrayLike, copy: builtins.bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array: ...
def nanargmax(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array: ...
def nanargmin(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None
) -> Array: ...
def nancumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array: ...
def nancumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
) -> Array: ...
def nanmax(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...
def nanmean(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    where: ArrayLike | None = None,
) -> Array: ...
def nanmedian(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    keepdims: builtins.bool = False,
) -> Array: ...
def nanmin(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...
def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array: ...
def nanprod(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...
def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array: ...
def nanstd(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: builtins.bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array: ...
def nansum(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array: ...
def nanvar(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: builtins.bool = False,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array: ...
def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def nonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]: ...
def not_equal(x: ArrayLike, y: ArrayLike, /) -> Array: ...
def ones(
    shape: Shape, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None
) -> Array: ...
def ones_like(
    a: Any,
    dtype: DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array: ...
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array: ...
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array: ...
def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array: ...
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array: ...
def permute_dims(a: ArrayLike, axes: Sequence[int]) -> Array: ...
def piecewise(
    x: ArrayLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any
) -> Array: ...
def place(arr: ArrayLike, mask: Any, vals: Any, *, inplace: builtins.bool = True) -> Array: ...
def poly(seq_of_zeros: Any) -> Array: ...
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array: ...
def polyder(p: ArrayLike, m: int = 1) -> Array: ...
def polydiv(
    u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: builtins.bool = False
) -> tuple[Array, Array]: ...
def polyint(p: ArrayLike, m: int = 1, k: Any = None) -> Array: ...
def polymul(
    a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: builtins.bool = False
) -> Array: ...
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array: ...
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int | None = None) -> Array: ...
def positive(x: ArrayLike, /) -> Array: ...
def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def power(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def printoptions(*args: Any, **kwargs: Any) -> Any: ...
def prod(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: builtins.bool = True,
) -> Array: ...
def ptp(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
) -> Array: ...
def put(
    a: ArrayLike, ind: Any, v: ArrayLike, mode: str | None = None, *, inplace: builtins.bool = True
) -> Array: ...
def put_along_axis(
    arr: ArrayLike,
    indices: Any,
    values: ArrayLike,
    axis: int | None,
    inplace: builtins.bool = True,
    *,
    mode: Any = None,
) -> Array: ...
def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: int | Sequence[int] | None = None,
    out: None = None,
    overwrite_input: builtins.bool = False,
    method: str = "linear",
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array: ...
def rad2deg(x: ArrayLike, /) -> Array: ...
def radians(x: ArrayLike, /) -> Array: ...
def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Any = None) -> Array: ...
def ravel_multi_index(
    multi_index: Sequence[Any],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike | None = None,
) -> Array: ...
def real(val: ArrayLike, /) -> Array: ...
def reciprocal(x: ArrayLike, /) -> Array: ...
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def repeat(
    a: ArrayLike,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array: ...
def reshape(
    a: ArrayLike,
    shape: Shape,
    order: str = "C",
    *,
    copy: builtins.bool | None = None,
    out_sharding: Any = None,
) -> Array: ...
def resize(a: ArrayLike, new_shape: int | Sequence[int]) -> Array: ...
def right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def rint(x: ArrayLike, /) -> Array: ...
def roll(
    a: ArrayLike, shift: ArrayLike | Sequence[int], axis: int | Sequence[int] | None = None
) -> Array: ...
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array: ...
def roots(p: ArrayLike, *, strip_zeros: builtins.bool = True) -> Array: ...
def rot90(m: ArrayLike, k: int = 1, axes: Sequence[int] = ...) -> Array: ...
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array: ...
def save(
    file: str | os.PathLike | IO[bytes], arr: ArrayLike, allow_pickle: builtins.bool = True
) -> None: ...
def savez(
    file: str | os.PathLike | IO[bytes], *args: Any, allow_pickle: builtins.bool = True, **kwds: Any
) -> None: ...
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array: ...
def set_printoptions(*args: Any, **kwargs: Any) -> None: ...
def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: builtins.bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array: ...
def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: builtins.bool = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array: ...
def sign(x: ArrayLike, /) -> Array: ...
def signbit(x: ArrayLike, /) -> Array: ...
def sin(x: ArrayLike, /) -> Array: ...
def sinc(x: ArrayLike, /) -> Array: ...

single: _ScalarType

def sinh(x: ArrayLike, /) -> Array: ...
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: builtins.bool = True,
    descending: builtins.bool = False,
) -> Array: ...
def sort_complex(a: ArrayLike) -> Array: ...
def spacing(x: ArrayLike, /) -> Array: ...
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]: ...
def sqrt(x: ArrayLike, /) -> Array: ...
def square(x: ArrayLike, /) -> Array: ...
def squeeze(a: ArrayLike, axis: int | Sequence[int] | None = None) -> Array: ...
def stack(
    arrays: Array | np.ndarray | Sequence[ArrayLike],
    axis: int = 0,
    out: None = None,
    dtype: DTypeLike | None = None,
) -> Array: ...
def std(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: builtins.bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> Array: ...

subtract: _Ufunc

def sum(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: builtins.bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: builtins.bool = True,
) -> Array: ...
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array: ...
def take(
    a: ArrayLike,
    indices: ArrayLike | Sequence[int],
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: builtins.bool = False,
    indices_are_sorted: builtins.bool = False,
    fill_value: ArrayLike | None = None,
) -> Array: ...
def take_along_axis(
    arr: ArrayLike,
    indices: Any,
    axis: int | None = -1,
    mode: Any = None,
    fill_value: ArrayLike | None = None,
    *,
    wrap_negative_indices: builtins.bool = True,
) -> Array: ...
def tan(x: ArrayLike, /) -> Array: ...
def tanh(x: ArrayLike, /) -> Array: ...
def tensordot(
    a: ArrayLike,
    b: ArrayLike,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array: ...
def tile(A: ArrayLike, reps: Any) -> Array: ...
def top_k(
    a: ArrayLike, k: int, *, axis: int = -1, mode: str = "largest", sorted: builtins.bool = True
) -> tuple[Array, Array]: ...
def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array: ...
def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array: ...
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: Any = 1.0, axis: int = -1) -> Array: ...
def tri(N: Any, M: Any = None, k: Any = 0, dtype: DTypeLike | None = None) -> Array: ...
def tril(m: ArrayLike, k: Any = 0) -> Array: ...
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]: ...
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]: ...
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Any = None) -> Array: ...
def triu(m: ArrayLike, k: Any = 0) -> Array: ...
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]: ...
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]: ...
def true_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def trunc(x: ArrayLike, /) -> Array: ...

uint: _ScalarType
uint16: _ScalarType
uint2: _ScalarType
uint32: _ScalarType
uint4: _ScalarType
uint64: _ScalarType
uint8: _ScalarType

def union1d(
    ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> Array: ...
def unique_all(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueAllResult: ...
def unique_counts(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueCountsResult: ...
def unique_inverse(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> UniqueInverseResult: ...
def unique_values(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None
) -> Array: ...
def unpackbits(
    a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array: ...
def unravel_index(indices: Any, shape: Shape) -> tuple[Array, ...]: ...
def unstack(x: ArrayLike, *, axis: int = 0) -> tuple[Array, ...]: ...
def unwrap(
    p: ArrayLike, discont: Any = None, axis: int = -1, period: Any = 6.283185307179586
) -> Array: ...
def vander(x: ArrayLike, N: int | None = None, increasing: builtins.bool = False) -> Array: ...
def var(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: builtins.bool = False,
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> Array: ...
def vdot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array: ...
def vecmat(x1: ArrayLike, x2: ArrayLike) -> Array: ...
def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]: ...
def vstack(
    tup: Array | np.ndarray | Sequence[ArrayLike], dtype: DTypeLike | None = None
) -> Array: ...
def zeros(
    shape: Shape, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None
) -> Array: ...
def zeros_like(
    a: Any,
    dtype: DTypeLike | None = None,
    shape: Shape | None = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array: ...
@overload
def atleast_1d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_1d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@overload
def atleast_2d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_2d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@overload
def atleast_3d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_3d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@overload
def average(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    weights: ArrayLike | None = None,
    returned: Literal[False] = False,
    keepdims: builtins.bool = False,
) -> Array: ...
@overload
def average(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    weights: ArrayLike | None = None,
    *,
    returned: Literal[True],
    keepdims: builtins.bool = False,
) -> tuple[Array, Array]: ...
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]: ...

e: float
euler_gamma: float

def finfo(dtype: DTypeLike) -> _FloatLimits: ...
def iinfo(dtype: DTypeLike) -> _IntegerLimits: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: Literal[False] = False
) -> Array: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, *, sparse: Literal[True]
) -> tuple[Array, ...]: ...

inf: float

@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: builtins.bool = False,
    return_indices: Literal[False] = False,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: builtins.bool = False,
    *,
    return_indices: Literal[True],
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> tuple[Array, Array, Array]: ...
def iscomplexobj(x: Any) -> builtins.bool: ...
def isrealobj(x: Any) -> builtins.bool: ...
def isscalar(element: Any) -> builtins.bool: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: builtins.bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Array: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: builtins.bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = None,
    axis: int = 0,
    device: Any = None,
) -> tuple[Array, Array]: ...
def meshgrid(
    *xi: ArrayLike,
    copy: builtins.bool = True,
    sparse: builtins.bool = False,
    indexing: Literal["xy", "ij"] = "xy",
) -> tuple[Array, ...]: ...

nan: float

def ndim(a: Any) -> int: ...

newaxis: None

def pad(
    array: ArrayLike,
    pad_width: Any,
    mode: Literal[
        "constant",
        "edge",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
        "empty",
    ]
    | Callable[..., Any] = "constant",
    **kwargs: Any,
) -> Array: ...

pi: float

@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: ArrayLike | None = None,
    cov: Literal[False] = False,
) -> Array: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: ArrayLike | None = None,
    *,
    cov: Literal[True, "unscaled"],
) -> tuple[Array, Array]: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    *,
    full: Literal[True],
    w: ArrayLike | None = None,
    cov: Any = False,
) -> tuple[Array, Array, Array, Array, Array]: ...
def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype: ...
@overload
def result_type(*args: Any, return_weak_type_flag: Literal[False] = False) -> np.dtype: ...
@overload
def result_type(
    *args: Any, return_weak_type_flag: Literal[True]
) -> tuple[np.dtype, builtins.bool]: ...
def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: Literal["left", "right"] = "left",
    sorter: ArrayLike | None = None,
    *,
    method: Literal["scan", "scan_unrolled", "sort", "compare_all"] = "scan",
) -> Array: ...
def shape(a: Any) -> tuple[int, ...]: ...
def size(a: Any, axis: int | Sequence[int] | None = None) -> int: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> Array: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> Array: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[False] = False,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[False] = False,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array, Array]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    *,
    equal_nan: builtins.bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: builtins.bool = True,
) -> tuple[Array, Array, Array, Array]: ...
def vectorize(
    pyfunc: Callable[_P, _R], *, excluded: Collection[int | str] = ..., signature: str | None = None
) -> Callable[_P, _R]: ...
@overload
def where(
    condition: ArrayLike, /, *, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]: ...
@overload
def where(
    condition: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array: ...
