"""Name the categories of the API pages: for each page titles in reading order, and the modules whose names they hold.

A module that holds names of several categories stands in `SINGLE`, name by name. Names of no category fail the build.
"""

from __future__ import annotations

from typing import Any

PAGES: dict[str, dict[str, str]] = {
    "sagax": {
        "Compile": "jit ShapeDtypeStruct hlo option_enums live_arrays effect_tokens",
        "Differentiate": "derivatives jacobians custom_derivatives closures remat",
        "Vectorize and parallelize": "vmap pmap shard_map",
        "Convert Python control flow": "convert",
        "Explain and measure": "interactive compile_log environment public",
        "Trace without running": "tracing_utils",
        "Arrays and references": "value array references windows device_put",
        "Devices and sharding": "devices shardings meshes resharding _jax",
        "Callbacks": "callbacks",
        "Options": "config user_contexts",
    },
    "sagax.numpy": {
        "Create arrays": "_creation _grids _conversion _interchange",
        "Shapes": "_shaping _joining _repeating _padding",
        "Index and select": "_indexing grids taking _nonzero _flat_indices _choosing _selection",
        "Arithmetic": "_arithmetic _ufunc",
        "Elementary functions": "_elementary",
        "Rounding and floating point": "_floats",
        "Compare and combine truth values": "_comparing _logic _types",
        "Bits": "_bits",
        "Sums and other reductions": "_reductions _nan_reductions _cumulative",
        "Statistics": "_statistics _histograms",
        "Sort and search": "_sorting",
        "Sets": "_sets",
        "Products of matrices": "_contraction _einsum",
        "Calculus and interpolation": "_calculus _interpolation",
        "Polynomials": "_polynomials",
        "Signals and windows": "_signals _windows",
        "Apply functions": "_applying _vectorize",
        "Print": "_printing",
        "Types": "numpy dtypes exceptions value",
    },
    "sagax.lax": {
        "Control flow": "cond while_loop scan loops platform_dependent",
        "Derivatives and solvers": "custom_root identities",
        "Arithmetic": "arithmetic power complex_numbers",
        "Elementary functions": "transcendental accuracy",
        "Special functions": "bessel beta erf gamma incomplete",
        "Rounding": "rounding",
        "Compare and select": "comparison selection",
        "Bits": "bitwise",
        "Types": "casting dtypes",
        "Shapes": "shaping structural",
        "Slices": "slicing",
        "Gather and scatter": "gathering scattering",
        "Reductions": "reductions cumulative generic_windows window_geometry",
        "Sort": "sorting",
        "Products of matrices": "dot_general dot_algorithms ragged DotDimensionNumbers",
        "Convolutions": "convolution convolution_layouts convolution_variants",
        "Fourier transforms": "fourier",
        "Random bits": "random_bits",
        "Collectives and shardings": "collectives ragged_all_to_all unsupported resharding",
        "Compiler": "compiler_hints composite staging tokens",
    },
    "sagax.random": {
        "Keys": "_keys",
        "Uniform, normal and bits": "_basic",
        "Continuous distributions": "_continuous _gamma",
        "Counts": "_counts",
        "Vectors and matrices": "_vectors",
        "Choose and permute": "_selection",
    },
    "sagax.scipy.special": {
        "Gamma and beta functions": "_gamma",
        "Error functions and the normal distribution": "_normal",
        "Logarithms and information": "_logs",
        "Exponential and trigonometric integrals": "_integrals",
        "Hypergeometric functions": "_hypergeometric",
        "Bessel functions": "_bessel",
        "Legendre functions and spherical harmonics": "_harmonics",
    },
    "sagax.scipy.linalg": {
        "Solve and invert": "_systems",
        "Factorize": "_factors",
        "Functions of matrices": "_functions",
        "Special matrices": "_matrices",
    },
}

# Names whose module belongs elsewhere, or to no category as a whole.
SINGLE: dict[str, dict[str, str]] = {
    "sagax": {
        "Array": "Arrays and references",
        "ShapeDtypeStruct": "Trace without running",
        "copy_to_host_async": "Arrays and references",
        "live_arrays": "Arrays and references",
        "block_until_ready": "Arrays and references",
        "device_put": "Arrays and references",
        "device_get": "Arrays and references",
        "clear_caches": "Compile",
        "linear_call": "Differentiate",
        "named_call": "Explain and measure",
        "named_scope": "Explain and measure",
        "plan": "Devices and sharding",
        "device_put_replicated": "Devices and sharding",
        "device_put_sharded": "Devices and sharding",
    },
    "sagax.numpy": {
        "bitwise_and": "Bits",
        "bitwise_or": "Bits",
        "bitwise_xor": "Bits",
        "bitwise_count": "Bits",
        "bitwise_invert": "Bits",
        "bitwise_left_shift": "Bits",
        "bitwise_not": "Bits",
        "bitwise_right_shift": "Bits",
        "invert": "Bits",
        "left_shift": "Bits",
        "right_shift": "Bits",
        "logical_and": "Compare and combine truth values",
        "logical_or": "Compare and combine truth values",
        "logical_xor": "Compare and combine truth values",
        "frompyfunc": "Apply functions",
        "ufunc": "Apply functions",
        "ndarray": "Types",
        "gcd": "Arithmetic",
        "lcm": "Arithmetic",
        "diagonal": "Index and select",
        "trace": "Products of matrices",
    },
    "sagax.lax": {
        "map": "Control flow",
        "associative_scan": "Control flow",
        "bitcast_convert_type": "Types",
        "convert_element_type": "Types",
        "reduce_sum": "Reductions",
        "DotDimensionNumbers": "Products of matrices",
        "optimization_barrier": "Compiler",
    },
    "sagax.random": {"ball": "Vectors and matrices", "dirichlet": "Vectors and matrices"},
    "sagax.scipy.special": dict.fromkeys(("i0", "i0e", "i1", "i1e"), "Bessel functions"),
}


def category(page: str, name: str, value: Any) -> str:
    """Return the title under which a page lists a name; "" if the page is one list."""
    titles = PAGES.get(page)
    if titles is None:
        return ""
    if title := SINGLE.get(page, {}).get(name):
        return title
    stem = (getattr(value, "__module__", None) or "").rpartition(".")[2]
    if page == "sagax.numpy" and (isinstance(value, type) or stem == "numpy"):
        return "Types"
    for title, stems in titles.items():
        if stem in stems.split():
            return title
    raise LookupError(
        f"{page}.{name} has no category: name the module {stem!r} in scripts/docs_categories.py"
    )
