"""Calls of every public function, for the law that none trips over a user's strict settings.

tests/oracle/strict.py finds calls that jax accepts, and records in data/strict_calls.json which of them it refuses
under which setting: that of a user's own operands. `strict_examples` adds calls with options. Both
sides trace the calls, without running them; those that need concrete values are run.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

NAMESPACES = (
    "numpy numpy.linalg numpy.fft lax lax.linalg nn nn.initializers scipy.special scipy.linalg scipy.fft scipy.signal scipy.integrate"
    " scipy.cluster.vq scipy.ndimage scipy.stats scipy.stats.norm scipy.stats.beta scipy.stats.gamma scipy.stats.t scipy.stats.poisson"
    " scipy.stats.truncnorm scipy.stats.multivariate_normal scipy.stats.dirichlet scipy.stats.binom scipy.stats.nbinom scipy.stats.betabinom"
    " scipy.stats.vonmises scipy.stats.wrapcauchy scipy.stats.pareto scipy.stats.logistic scipy.stats.laplace scipy.stats.cauchy"
    " scipy.stats.chi2 scipy.stats.expon scipy.stats.gennorm scipy.stats.geom scipy.stats.gumbel_l scipy.stats.gumbel_r"
    " scipy.stats.uniform scipy.stats.bernoulli scipy.stats.multinomial scipy.sparse.linalg random image ops"
).split()
# what is no function of arrays
SKIPPED = set(
    "save savez load set_printoptions get_printoptions printoptions fromfile frombuffer fromfunction from_dlpack fromstring"
    " array_repr array_str array2string register_jax_array_methods vectorize frompyfunc apply_along_axis apply_over_axes"
    " piecewise einsum_path dtype finfo iinfo issubdtype isdtype can_cast promote_types result_type iterable"
    " scan while_loop fori_loop cond switch map associative_scan custom_root custom_linear_solve reduce reduce_window"
    " scaled_dot approx_max_k approx_min_k rng_uniform rng_bit_generator after_all optimization_barrier composite"
    " psum pmax pmin pmean all_gather all_to_all ppermute pshuffle axis_index axis_size pswapaxes pvary pcast psum_scatter"
    " pbroadcast ragged_all_to_all psend precv pcollectivepermute with_sharding_constraint infeed outfeed create_token"
    " platform_dependent cost_analysis fused scaled_matmul scaled_dot_general get_scaled_dot_general_config"
    " funm gaussian_kde dce_sink empty_ref".split()
)
SETTINGS: dict[str, dict[str, Any]] = {
    "rank": {"jax_numpy_rank_promotion": "raise"},
    "dtype": {"jax_numpy_dtype_promotion": "strict"},
    "x64": {"jax_enable_x64": True},
    "checks": {"jax_enable_checks": True, "jax_check_tracer_leaks": True},
}

REFUSING = ("rank", "dtype")  # the others refuse nothing


def operands(library: Any) -> dict[str, Any]:
    """The operands of the calls, by name."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((4, 4)).astype(np.float32)
    f = rng.uniform(0.1, 0.9, (3, 4)).astype(np.float32)
    arrays = {
        "f": f, "v": f[0], "h": f[0].astype(np.float16), "hm": f.astype(np.float16), "sq": matrix @ matrix.T + 4 * np.eye(4, dtype=np.float32),
        "i": np.arange(12, dtype=np.int32).reshape(3, 4), "iv": np.arange(1, 5, dtype=np.int32), "u8": np.arange(4, dtype=np.uint8),
        "b": f > 0.5, "bv": f[0] > 0.5, "c": (f + 1j * f[::-1]).astype(np.complex64), "cv": (f[0] + 1j).astype(np.complex64),
        "t": rng.standard_normal((2, 3, 4)).astype(np.float32), "s": np.float32(0.5).reshape(()), "n": np.int32(2).reshape(()),
        "csq": (matrix @ matrix.T + 4 * np.eye(4)).astype(np.complex64),
    }  # fmt: skip
    found: dict[str, Any] = {k: library.numpy.asarray(v) for k, v in arrays.items()}
    found["key"] = library.random.key(0)
    return found


def functions(library: Any) -> Iterator[tuple[str, Any]]:
    """The public functions of the namespaces."""
    for name in NAMESPACES:
        module = importlib.import_module(f"{library.__name__}.{name}")
        for function in sorted(dir(module)):
            value = getattr(module, function)
            if function.startswith("_") or function in SKIPPED or not callable(value):
                continue
            if isinstance(value, type) or inspect.ismodule(value) or function.endswith("_p"):
                continue
            if getattr(value, "__module__", "").split(".")[0] in ("numpy", "functools", "builtins"):
                continue
            yield f"{name}.{function}", value


def scope(library: Any) -> dict[str, Any]:
    """What the calls may use."""
    names = {"jax": library, "np": np, "jnp": library.numpy}
    for name in NAMESPACES:
        importlib.import_module(f"{library.__name__}.{name}")
    for name in {n.split(".")[0] for n in NAMESPACES}:
        names[name] = getattr(library, name)
    return names


def run(library: Any, names: dict[str, Any], values: dict[str, Any], call: str) -> list[Any]:
    """Trace a call, or run it if it needs concrete values: its results, or what has their types."""
    used = [k for k in values if k in _words(call)]
    function = eval(f"lambda {', '.join(used)}: {call}", names)

    def results(*xs: Any) -> list[Any]:
        return [x for x in library.tree.leaves(function(*xs)) if hasattr(x, "dtype")]

    arguments = [values[k] for k in used]
    if call.startswith(_CONCRETE):
        return results(*arguments)
    return library.eval_shape(results, *arguments)


def _words(call: str) -> set[str]:
    return {"".join(g) for k, g in itertools.groupby(call, lambda c: c.isalnum() or c == "_") if k}


_CONCRETE = tuple(
    f"numpy.{name}(" for name in "nonzero flatnonzero argwhere unique unique_all unique_counts unique_inverse unique_values union1d"
    " intersect1d setdiff1d setxor1d extract compress bincount where arange linspace logspace geomspace tri repeat packbits histogram histogram_bin_edges poly roots trim_zeros place mask_indices delete insert choose resize round_".split()
)  # fmt: skip


def attempt(library: Any, names: dict[str, Any], values: dict[str, Any], call: str) -> str:
    """`ok`, or the builtin class of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run(library, names, values, call)
        except Exception as error:
            return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    return "ok"


def types(library: Any, names: dict[str, Any], values: dict[str, Any], call: str) -> list[str]:
    """The types of a call's results; a star says that they are weak."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run(library, names, values, call)
    return [
        f"{x.dtype}{'*' * bool(getattr(x, 'weak_type', False))}{list(np.shape(x))}" for x in found
    ]
