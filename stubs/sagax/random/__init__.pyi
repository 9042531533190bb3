"""Draw random numbers from explicit PRNG keys; a key gives the same numbers on every device."""

from typing import Any

from sagax._shapes import Shape
from sagax._src.core.value import Array
from sagax._src.primitives.random_bits import KeyDType
from sagax.random._keys import Key as Key
from sagax.typing import ArrayLike, DTypeLike

def PRNGKey(seed: int | Array, *, impl: Any = None) -> Array: ...
def ball(
    key: Array,
    d: int,
    p: ArrayLike = 2,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def bernoulli(
    key: Array,
    p: ArrayLike = 0.5,
    shape: Shape | None = None,
    mode: str = "low",
    *,
    out_sharding: Any = None,
) -> Array: ...
def beta(
    key: Array,
    a: ArrayLike,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array: ...
def binomial(
    key: Array,
    n: ArrayLike,
    p: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Array: ...
def bits(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def categorical(
    key: Array,
    logits: ArrayLike,
    axis: int = -1,
    shape: Shape | None = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def cauchy(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def chisquare(
    key: Array,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array: ...
def choice(
    key: Array,
    a: ArrayLike,
    shape: Shape = (),
    replace: bool = True,
    p: ArrayLike | None = None,
    axis: int = 0,
    mode: Any = None,
) -> Array: ...
def clone(key: Array) -> Array: ...
def dirichlet(
    key: Array,
    alpha: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def double_sided_maxwell(
    key: Array, loc: ArrayLike, scale: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> Array: ...
def exponential(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def f(
    key: Array,
    dfnum: ArrayLike,
    dfden: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def fold_in(key: Array, data: ArrayLike) -> Array: ...
def gamma(
    key: Array,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array: ...
def generalized_normal(
    key: Array,
    p: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def geometric(
    key: Array,
    p: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def gumbel(
    key: Array,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def key(seed: int | Array, *, impl: Any = None, dtype: DTypeLike | None = None) -> Array: ...
def key_data(keys: Array) -> Array: ...
def key_dtype(impl_spec: Any = None) -> KeyDType: ...
def key_impl(keys: Array) -> Any: ...
def laplace(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def loggamma(
    key: Array,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array: ...
def logistic(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def lognormal(
    key: Array,
    sigma: ArrayLike = 1.0,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def maxwell(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def multinomial(
    key: Array,
    n: ArrayLike,
    p: ArrayLike,
    *,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    unroll: int = 1,
) -> Array: ...
def multivariate_normal(
    key: Array,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array: ...
def normal(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def orthogonal(
    key: Array,
    n: int,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def pareto(
    key: Array,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def permutation(
    key: Array, x: ArrayLike, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Array: ...
def poisson(
    key: Array,
    lam: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array: ...
def rademacher(
    key: Array, shape: Shape = (), dtype: DTypeLike | None = None, *, out_sharding: Any = None
) -> Array: ...
def randint(
    key: Array,
    shape: Shape,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def rayleigh(
    key: Array,
    scale: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def split(key: Array, num: int | tuple[int, ...] = 2) -> Array: ...
def t(
    key: Array,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def triangular(
    key: Array,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def truncated_normal(
    key: Array,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def uniform(
    key: Array,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
    *,
    out_sharding: Any = None,
) -> Array: ...
def wald(
    key: Array,
    mean: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array: ...
def weibull_min(
    key: Array,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
) -> Array: ...
def wrap_key_data(
    key_bits_array: Any, *, impl: Any = None, dtype: DTypeLike | None = None
) -> Array: ...
