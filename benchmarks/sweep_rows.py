"""Define the rows of the sweep: every public function on natural operands, and every form of call.

The calls come from tests/data/strict_calls.json, which has a call that JAX accepts for each public function. Here
operands of the same names are larger. `NATURAL` replaces calls that would mean little, such as a product of
one row with itself where a matrix is meant.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

CALLS = Path(__file__).resolve().parents[1] / "tests" / "data" / "strict_calls.json"

# elements of a vector, side of a matrix, side of a matrix of linear algebra
LEVELS = {
    "large": (1_000_000, 1000, 256),
    "medium": (16_384, 128, 64),
    "small": (100, 10, 10),
    "tiny": (10, 3, 3),
}

FORMS = ("large", "small", "int", "grad", "eager", "call")
BOUNDS = {"large": 1.1, "small": 1.1, "int": 1.1, "grad": 1.1, "eager": 1.0, "call": 1.0}

# What no call of a few operands measures, or what only inspects types.
SKIPPED = frozenset(
    """numpy.broadcast_shapes numpy.shape numpy.ndim numpy.size numpy.isscalar numpy.iscomplexobj numpy.isrealobj numpy.mask_indices
    numpy.vectorize lax.broadcast_shapes lax.shape_as_value lax.stage random.clone random.key_impl random.Key random.key_data
    nn.identity lax.custom_root jax.vmap jax.grad jax.hessian jax.jacrev jax.jacfwd lax.while_loop""".split()
)

_NATURAL = """\
numpy.arange numpy.arange(N)
numpy.average numpy.average(v, weights=u)
numpy.bartlett numpy.bartlett(N)
numpy.bincount numpy.bincount(p, length=N)
numpy.blackman numpy.blackman(N)
numpy.broadcast_to numpy.broadcast_to(f[0], f.shape)
numpy.clip numpy.clip(v, 0.2, 0.8)
numpy.compress numpy.compress(bv, v, size=N)
numpy.convolve numpy.convolve(v, v[:64])
numpy.correlate numpy.correlate(v, v[:64])
numpy.corrcoef numpy.corrcoef(f)
numpy.cov numpy.cov(f)
numpy.cross numpy.cross(t[..., :3], t[..., 1:4])
numpy.delete numpy.delete(v, 3)
numpy.digitize numpy.digitize(v, o[:64])
numpy.einsum numpy.einsum("ij,jk->ik", sq, sq)
numpy.empty numpy.empty((N,))
numpy.extract numpy.extract(bv, v, size=N)
numpy.eye numpy.eye(M)
numpy.flatnonzero numpy.flatnonzero(bv, size=N)
numpy.full_like numpy.full_like(v, 2.0)
numpy.geomspace numpy.geomspace(1.0, 9.0, N)
numpy.hamming numpy.hamming(N)
numpy.hanning numpy.hanning(N)
numpy.histogram numpy.histogram(v, 64)
numpy.histogram2d numpy.histogram2d(v, u, 16)
numpy.identity numpy.identity(M)
numpy.indices numpy.indices((M, M))
numpy.insert numpy.insert(v, 3, 1.0)
numpy.interp numpy.interp(v, o, u)
numpy.intersect1d numpy.intersect1d(v, u, size=N)
numpy.isin numpy.isin(p, p[:64])
numpy.kaiser numpy.kaiser(N, 2.0)
numpy.linspace numpy.linspace(0.0, 1.0, N)
numpy.logspace numpy.logspace(0.0, 1.0, N)
numpy.matmul numpy.matmul(sq, sq)
numpy.nanpercentile numpy.nanpercentile(v, 30.0)
numpy.nanquantile numpy.nanquantile(v, 0.3)
numpy.nonzero numpy.nonzero(bv, size=N)
numpy.argwhere numpy.argwhere(b, size=N)
numpy.ones numpy.ones((N,))
numpy.percentile numpy.percentile(v, 30.0)
numpy.piecewise numpy.piecewise(f, [b, ~b], [lambda x: x, 0.0])
numpy.polyval numpy.polyval(v[:8], v)
numpy.quantile numpy.quantile(v, 0.3)
numpy.repeat numpy.repeat(v, 3)
numpy.resize numpy.resize(v, (2, N))
numpy.roll numpy.roll(v, 3)
numpy.searchsorted numpy.searchsorted(o, v)
numpy.select numpy.select([bv, v > 0.7], [v, u], 0.5)
numpy.setdiff1d numpy.setdiff1d(v, u, size=N)
numpy.setxor1d numpy.setxor1d(v, u, size=N)
numpy.take numpy.take(v, p)
numpy.take_along_axis numpy.take_along_axis(f, i, 1)
numpy.tri numpy.tri(M)
numpy.tril_indices numpy.tril_indices(M)
numpy.triu_indices numpy.triu_indices(M)
numpy.union1d numpy.union1d(v, u, size=N)
numpy.unique numpy.unique(v, size=N)
numpy.unique_all numpy.unique_all(v, size=N)
numpy.unique_counts numpy.unique_counts(v, size=N)
numpy.unique_inverse numpy.unique_inverse(v, size=N)
numpy.unique_values numpy.unique_values(v, size=N)
numpy.unravel_index numpy.unravel_index(p, (M, M))
numpy.vecdot numpy.vecdot(f, f)
numpy.vdot numpy.vdot(v, v)
numpy.where numpy.where(bv, v, u)
numpy.zeros numpy.zeros((N,))
numpy.put_along_axis numpy.put_along_axis(f, i[:1] % 3, 2.0, 0, inplace=False)
numpy.ravel_multi_index numpy.ravel_multi_index((p % M, p % M), (M, M), mode="wrap")
numpy.fromfunction numpy.fromfunction(lambda i, j: i + j, (M, M))
numpy.linalg.lstsq numpy.linalg.lstsq(sq, sq[0])
numpy.linalg.matmul numpy.linalg.matmul(sq, sq)
numpy.linalg.matrix_rank numpy.linalg.matrix_rank(sq)
numpy.linalg.multi_dot numpy.linalg.multi_dot([sq, sq, sq[0]])
numpy.linalg.pinv numpy.linalg.pinv(sq)
numpy.linalg.qr numpy.linalg.qr(sq)
numpy.linalg.svd numpy.linalg.svd(sq)
numpy.linalg.svdvals numpy.linalg.svdvals(sq)
numpy.linalg.solve numpy.linalg.solve(sq, sq[0])
numpy.fft.fftfreq numpy.fft.fftfreq(N)
numpy.fft.rfftfreq numpy.fft.rfftfreq(N)
lax.broadcast lax.broadcast(v, (4,))
lax.collapse lax.collapse(f, 0, 2)
lax.dot lax.dot(sq, sq)
lax.dynamic_slice lax.dynamic_slice(f, (n, 0), (2, 2))
lax.dynamic_update_slice lax.dynamic_update_slice(f, f[:2], (n, 0))
lax.index_in_dim lax.index_in_dim(f, 2)
lax.dynamic_index_in_dim lax.dynamic_index_in_dim(f, n)
lax.integer_pow lax.integer_pow(v, 3)
lax.full_like lax.full_like(v, 2.0)
lax.polygamma lax.polygamma(v + 1, v)
lax.reduce_precision lax.reduce_precision(v, 8, 7)
lax.reshape lax.reshape(f, (f.size,))
lax.select lax.select(bv, v, u)
lax.select_n lax.select_n(bv, v, u)
lax.shift_left lax.shift_left(iv, iv)
lax.slice_in_dim lax.slice_in_dim(v, 2, 8)
lax.dynamic_slice_in_dim lax.dynamic_slice_in_dim(v, n, 8)
lax.tile lax.tile(f, (2, 2))
lax.sort_key_val lax.sort_key_val(v, u)
lax.zeta lax.zeta(v + 1.5, v)
lax.linalg.cholesky_update lax.linalg.cholesky_update(tri, sq[0])
lax.linalg.householder_product lax.linalg.householder_product(sq, sq[0] / 100)
lax.linalg.lu lax.linalg.lu(sq)
lax.linalg.qr lax.linalg.qr(sq)
lax.linalg.svd lax.linalg.svd(sq)
lax.linalg.ormqr lax.linalg.ormqr(sq, sq[0] / 100, sq)
lax.linalg.triangular_solve lax.linalg.triangular_solve(tri, sq, left_side=True, lower=True)
nn.dot_product_attention nn.dot_product_attention(q, q, q)
nn.glu nn.glu(f)
nn.log_softmax nn.log_softmax(f)
nn.logsumexp nn.logsumexp(f, axis=1)
nn.logmeanexp nn.logmeanexp(f, axis=1)
nn.one_hot nn.one_hot(p % 16, 16)
nn.softmax nn.softmax(f)
nn.standardize nn.standardize(f)
scipy.special.betainc scipy.special.betainc(v + 1, u + 1, v)
scipy.special.comb scipy.special.comb(v + 3, u)
scipy.special.expn scipy.special.expn(2, v)
scipy.special.log_softmax scipy.special.log_softmax(f)
scipy.special.softmax scipy.special.softmax(f)
scipy.special.logsumexp scipy.special.logsumexp(f, axis=1)
scipy.special.multigammaln scipy.special.multigammaln(v + 3, 2)
scipy.special.polygamma scipy.special.polygamma(1, v)
scipy.special.hyp2f1 scipy.special.hyp2f1(v, u, v + 1, v * 0.5)
scipy.special.sph_harm_y scipy.special.sph_harm_y(p % 4, p % 4, v, v, n_max=4)
scipy.linalg.block_diag scipy.linalg.block_diag(sq, sq)
scipy.linalg.lu scipy.linalg.lu(sq)
scipy.linalg.lu_factor scipy.linalg.lu_factor(sq)
scipy.linalg.qr scipy.linalg.qr(sq)
scipy.linalg.svd scipy.linalg.svd(sq)
scipy.linalg.solve scipy.linalg.solve(sq, sq[0])
scipy.linalg.solve_triangular scipy.linalg.solve_triangular(tri, sq[0], lower=True)
scipy.linalg.cho_solve scipy.linalg.cho_solve((tri, True), sq[0])
scipy.linalg.lu_solve scipy.linalg.lu_solve((sq, numpy.arange(sq.shape[0], dtype="int32")), sq[0])
scipy.linalg.hilbert scipy.linalg.hilbert(M)
scipy.linalg.dft scipy.linalg.dft(M)
scipy.linalg.eigh_tridiagonal scipy.linalg.eigh_tridiagonal(sq[0], sq[0, 1:], eigvals_only=True)
scipy.signal.convolve scipy.signal.convolve(v, v[:64])
scipy.signal.correlate scipy.signal.correlate(v, v[:64])
scipy.signal.convolve2d scipy.signal.convolve2d(f, f[:3, :3])
scipy.signal.correlate2d scipy.signal.correlate2d(f, f[:3, :3])
scipy.cluster.vq.vq scipy.cluster.vq.vq(f, f[:16])
scipy.stats.gaussian_kde scipy.stats.gaussian_kde(v[:64]).evaluate(v)
scipy.stats.truncnorm.cdf scipy.stats.truncnorm.cdf(v, -1.0, 2.0)
scipy.stats.multivariate_normal.logpdf scipy.stats.multivariate_normal.logpdf(sq, sq[0], sq)
scipy.stats.multivariate_normal.pdf scipy.stats.multivariate_normal.pdf(sq, sq[0], sq)
scipy.stats.dirichlet.logpdf scipy.stats.dirichlet.logpdf(v / v.sum(), u)
scipy.stats.binom.pmf scipy.stats.binom.pmf(p % 7, 8, v)
scipy.stats.binom.logpmf scipy.stats.binom.logpmf(p % 7, 8, v)
scipy.sparse.linalg.cg scipy.sparse.linalg.cg(sq, sq[0])
scipy.sparse.linalg.bicgstab scipy.sparse.linalg.bicgstab(sq, sq[0])
scipy.sparse.linalg.gmres scipy.sparse.linalg.gmres(sq, sq[0])
random.key random.key(3)
random.PRNGKey random.PRNGKey(3)
random.split random.split(key, N)
random.fold_in random.fold_in(key, n)
random.bernoulli random.bernoulli(key, 0.3, (N,))
random.bits random.bits(key, (N,))
random.cauchy random.cauchy(key, (N,))
random.exponential random.exponential(key, (N,))
random.gumbel random.gumbel(key, (N,))
random.laplace random.laplace(key, (N,))
random.logistic random.logistic(key, (N,))
random.lognormal random.lognormal(key, 1.0, (N,))
random.maxwell random.maxwell(key, (N,))
random.normal random.normal(key, (N,))
random.rademacher random.rademacher(key, (N,))
random.uniform random.uniform(key, (N,))
random.randint random.randint(key, (N,), 0, 1000)
random.truncated_normal random.truncated_normal(key, -1, 1, (N,))
random.beta random.beta(key, 2.0, 3.0, (N,))
random.gamma random.gamma(key, 2.0, (N,))
random.loggamma random.loggamma(key, 0.5, (N,))
random.dirichlet random.dirichlet(key, v[:8] + 0.5, (M,))
random.poisson random.poisson(key, 2.0, (N,))
random.binomial random.binomial(key, 5, 0.5, (N,))
random.multinomial random.multinomial(key, 5, v[:8] / v[:8].sum())
random.categorical random.categorical(key, f)
random.choice random.choice(key, v, (N,))
random.permutation random.permutation(key, v)
random.multivariate_normal random.multivariate_normal(key, sq[0], sq, (64,))
random.orthogonal random.orthogonal(key, 16)
random.ball random.ball(key, 3, 2.0, (N,))
random.rayleigh random.rayleigh(key, 1.0, (N,))
random.pareto random.pareto(key, 2.0, (N,))
random.t random.t(key, 3.0, (N,))
random.chisquare random.chisquare(key, 3.0, shape=(N,))
random.f random.f(key, 3.0, 4.0, (N,))
random.geometric random.geometric(key, 0.5, (N,))
random.triangular random.triangular(key, 0.0, 0.5, 1.0, (N,))
random.wald random.wald(key, 2.0, (N,))
random.weibull_min random.weibull_min(key, 2.0, 3.0, (N,))
random.double_sided_maxwell random.double_sided_maxwell(key, 0.0, 1.0, (N,))
random.generalized_normal random.generalized_normal(key, 2.0, (N,))
image.resize image.resize(f, (2 * M, 2 * M), "bicubic")
image.scale_and_translate image.scale_and_translate(f, (M, M), (0, 1), v[:2] + 1, v[:2], "linear")
ops.segment_sum ops.segment_sum(v, p % 64, num_segments=64)
ops.segment_max ops.segment_max(v, p % 64, num_segments=64)
ops.segment_prod ops.segment_prod(v, p % 64, num_segments=64)
ops.segment_min ops.segment_min(v, p % 64, num_segments=64)
scipy.ndimage.map_coordinates scipy.ndimage.map_coordinates(f, [v * M, v * M], 1)"""
NATURAL: dict[str, str] = {
    name: text for name, _, text in (line.partition(" ") for line in _NATURAL.splitlines())
}
# Initializers are functions that return a function.
_INITIALIZERS = "glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform orthogonal truncated_normal uniform normal"
NATURAL |= {
    f"nn.initializers.{k}": f"nn.initializers.{k}()(key, (M, M))" for k in _INITIALIZERS.split()
}
_NO_INITIALIZER = ("nn.initializers.",)


@dataclass(frozen=True)
class SweepRow:
    """A row: a function, the form in which it is measured, and the text of the call."""

    function: str
    form: str
    text: str

    @property
    def name(self) -> str:
        """Return the name that `--only` takes."""
        return f"{self.function}:{self.form}"

    @property
    def bound(self) -> float:
        """Return the most that the ratio may be."""
        return BOUNDS[self.form]


@functools.cache
def first_calls() -> dict[str, str]:
    """Return a call for each function, natural where the recorded one is not."""
    found: dict[str, str] = {}
    for call in json.loads(CALLS.read_text(encoding="utf-8")):
        if match := re.match(r"((?:[a-z]\w*\.)+\w+)\(", call):
            found.setdefault(match[1], call)
    known = {
        k: v for k, v in found.items() if not k.startswith((*_NO_INITIALIZER, "f.", "c.", "jax."))
    }
    return {k: v for k, v in {**known, **NATURAL}.items() if k not in SKIPPED}


def rows() -> list[SweepRow]:
    """Return all rows: functions by namespace, then forms of calls."""
    found = []
    for function, text in first_calls().items():
        found += [SweepRow(function, form, text) for form in ("large", "small", "grad", "eager")]
        # the recorded calls of integers use integers already
        if (
            function.startswith("numpy.")
            and re.search(r"\b[vf]\b", text)
            and not re.search(r"\b[upob]v?\b", text)
        ):
            integers = re.sub(r"\bf\b", "i", re.sub(r"\bv\b", "iv", text))
            found.append(SweepRow(function, "int", integers))
    return found + [SweepRow(f"call.{name}", "call", name) for name in CALL_FORMS]


def operands(library: Any, level: str) -> dict[str, Any]:
    """Return the operands of the calls, by name, at one of the `LEVELS`."""
    size, side, square = LEVELS[level]
    rng = numpy.random.default_rng(0)
    f32, i32 = numpy.float32, numpy.int32
    f = rng.uniform(0.05, 0.95, (side, side)).astype(f32)
    v = rng.uniform(0.05, 0.95, size).astype(f32)
    a = rng.standard_normal((square, square)).astype(f32)
    depth = {
        "large": (64, 125, 125),
        "medium": (4, 64, 64),
        "small": (2, 5, 10),
        "tiny": (2, 3, 4),
    }[level]
    tokens = {
        "large": (2, 256, 8, 64),
        "medium": (2, 64, 4, 32),
        "small": (1, 8, 2, 4),
        "tiny": (1, 3, 1, 4),
    }[level]
    positive_definite = a @ a.T / square + numpy.eye(square, dtype=f32)
    arrays: dict[str, Any] = {
        "f": f, "v": v, "u": v[::-1].copy(), "o": numpy.sort(v), "h": v.astype(numpy.float16), "hm": f.astype(numpy.float16),
        "i": rng.integers(0, side, (side, side)).astype(i32), "iv": rng.integers(1, 20, size).astype(i32), "p": rng.permutation(size).astype(i32),
        "u8": rng.integers(0, 200, size).astype(numpy.uint8), "b": f > 0.5, "bv": v > 0.5, "c": (f + 1j * f[::-1]).astype(numpy.complex64),
        "cv": (v + 1j).astype(numpy.complex64), "t": rng.standard_normal(depth).astype(f32), "q": rng.standard_normal(tokens).astype(f32),
        "s": f32(0.5), "n": i32(2), "sq": positive_definite, "tri": numpy.tril(positive_definite).astype(f32), "csq": positive_definite.astype(numpy.complex64),
    }  # fmt: skip
    found = {k: library.np.asarray(x) for k, x in arrays.items()}
    found["key"] = library.lib.random.key(0)
    return found


NAMESPACES = (
    "numpy numpy.linalg numpy.fft lax lax.linalg nn nn.initializers scipy.special scipy.linalg scipy.fft scipy.signal"
    " scipy.integrate scipy.cluster.vq scipy.ndimage scipy.stats scipy.sparse.linalg random image ops"
).split()


def scope(library: Any, level: str) -> dict[str, Any]:
    """Return what the text of a call may use besides operands."""
    size, side, _ = LEVELS[level]
    names: dict[str, Any] = {"N": size, "M": side, "jnp": library.np, "np": numpy}
    for name in NAMESPACES:
        importlib.import_module(f"{library.name}.{name}")
        names[name.split(".")[0]] = getattr(library.lib, name.split(".")[0])
    return names


# ------------------------------------------------------------------------------- forms of calls

_HUNDRED = 100


def _call_forms(library: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each form of a call of a jitted function, with the call."""
    jit, snp = library.lib.jit, library.np
    x, y = snp.arange(10.0), snp.ones(10)
    host, other = numpy.arange(10, dtype=numpy.float32), numpy.ones(10, numpy.float32)
    add = jit(lambda a, b: a + b)
    yield "device arrays", lambda: add(x, y)
    yield "NumPy arrays", lambda: add(host, other)
    yield "Python float", lambda: add(x, 2.0)
    yield "Python int", lambda: add(x, 2)
    yield "Python bool", lambda: add(x, True)
    yield "NumPy scalar", lambda: add(x, numpy.float32(2))
    yield "keyword arguments", lambda: add(a=x, b=y)
    static = jit(lambda a, k: a * k, static_argnums=1)
    yield "static by position", lambda: static(x, 3)
    named = jit(lambda a, *, k: a * k, static_argnames="k")
    yield "static by name", lambda: named(x, k=3)
    tree = {"w": x, "b": [y, y]}
    total = jit(lambda t: t["w"] + t["b"][0] + t["b"][1])
    yield "pytree of device arrays", lambda: total(tree)
    host_tree = {"w": host, "b": [other, other]}
    yield "pytree of NumPy arrays", lambda: total(host_tree)
    number_tree = {"w": x, "b": [1.0, 2]}
    yield "pytree of numbers", lambda: total(number_tree)
    step = jit(lambda a: a + 1, donate_argnums=0)
    state = [snp.zeros(10)]

    def donated() -> Any:
        state[0] = step(state[0])
        return state[0]

    yield "donated", donated
    scaled_step = jit(lambda a, k: a * k, donate_argnums=0)

    def donated_with_number() -> Any:
        state[0] = scaled_step(state[0], 1.0)
        return state[0]

    yield "donated, and a number", donated_with_number
    closed = jit(lambda a: a + y)
    yield "closure", lambda: closed(x)

    class Model:
        scale = 2.0

        def __init__(self) -> None:
            self.apply = jit(self.forward)

        def forward(self, a: Any) -> Any:
            return a * self.scale

    model = Model()
    yield "method", lambda: model.apply(x)
    part = jit(functools.partial(lambda b, a: a * b, 2.0))
    yield "partial", lambda: part(x)
    many = [snp.ones(3) for _ in range(_HUNDRED)]
    first = jit(lambda xs: xs[0] + xs[-1])
    yield "list of 100 arrays", lambda: first(many)
    scaled = jit(lambda xs: [a * 2 for a in xs])
    yield "100 results", lambda: scaled(many)
    big = numpy.ones(1_000_001, numpy.float32)
    double = jit(lambda a: a * 2)
    aligned = big[(-(big.ctypes.data // 4)) % 16 :][:1_000_000]
    yield "big aligned NumPy array", lambda: double(aligned)
    odd = aligned[1:]
    yield "big unaligned NumPy array", lambda: double(odd)
    wide = numpy.ones(1000)
    yield "float64 NumPy array", lambda: double(wide)
    nested = jit(lambda a: add(a, double(a)))
    yield "nested jit", lambda: nested(x)
    matrix = snp.ones((10, 10))
    product = jit(lambda a: a @ a)
    yield "10 x 10 product", lambda: product(matrix)


def call_forms(library: Any) -> dict[str, Callable[[], Any]]:
    """Return the calls of all forms."""
    return dict(_call_forms(library))


CALL_FORMS = (
    "device arrays|NumPy arrays|Python float|Python int|Python bool|NumPy scalar|keyword arguments|static by position|static by name"
    "|pytree of device arrays|pytree of NumPy arrays|pytree of numbers|donated|donated, and a number|closure|method|partial|list of 100 arrays|100 results"
    "|big aligned NumPy array|big unaligned NumPy array|float64 NumPy array|nested jit|10 x 10 product"
).split("|")
