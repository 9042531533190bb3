"""List what is known of functions by their dotted names: results, purity, arguments, clocks."""

from __future__ import annotations

import functools

__all__ = [
    "ARRAY_METHODS", "BOOLEAN_RESULTS", "CLOCKS", "CONSUMERS", "DATA_SIZED", "FLAG_ARGUMENTS", "IMPURE", "KEY_MAKERS", "LIST_METHODS",
    "METADATA", "NUMPY_CREATORS", "NUMPY_STATIC", "OPTIMIZERS", "PLAIN_DECORATORS", "PURE_TRANSFORMS", "SHAPE_ARGUMENTS", "STORING", "TREE_RESULTS",
    "UPDATES", "canonical", "is_impure", "is_pure", "result_kind",
]  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALIASES = {
    "jax.experimental.pjit.pjit": "jax.jit",
    "jax.pjit": "jax.jit",
    "jax.remat": "jax.checkpoint",
    "jax.ad_checkpoint.checkpoint": "jax.checkpoint",
    "jax.experimental.shard_map.shard_map": "jax.shard_map",
    "jax.tree_map": "jax.tree.map",
    "jax.tree_multimap": "jax.tree.map",
    "jax.tree_util.Partial": "functools.partial",
    "jax.custom_derivatives.custom_jvp": "jax.custom_jvp",
    "jax.custom_derivatives.custom_vjp": "jax.custom_vjp",
    "jax.experimental.io_callback": "jax.io_callback",
    "jax.lax.linalg": "jax.numpy.linalg",
}


@functools.lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """Return jax's name of something that is imported from jax or from sagax."""
    if name == "sagax" or name.startswith("sagax."):
        name = "jax" + name[5:]
    if name.startswith("jax.tree_util.tree_"):
        name = "jax.tree." + name[len("jax.tree_util.tree_") :]
    return _ALIASES.get(name, name)


METADATA = _words(
    "shape ndim size dtype aval weak_type sharding itemsize nbytes committed devices is_deleted vma"
)

# Methods of arrays that give arrays.
ARRAY_METHODS = _words(
    """all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod
    cumsum diagonal dot flatten max mean min nonzero partition prod ptp ravel repeat reshape round
    searchsorted sort squeeze std sum swapaxes take trace transpose var view T mT real imag at"""
)
UPDATES = _words("set add subtract multiply mul divide power min max apply get")
LIST_METHODS = _words("append appendleft extend insert add")
STORING = _words("append appendleft extend insert add update setdefault")

# Functions of jax.numpy whose result is no array.
_STATIC_RESULTS = _words(
    """shape ndim size dtype result_type issubdtype isdtype iinfo finfo can_cast promote_types iscomplexobj
    isrealobj isscalar broadcast_shapes array_repr array_str einsum_path iterable get_printoptions axis_size
    canonicalize_dtype check_arraylike"""
)
_OTHER_RESULTS = _words(
    """save savez set_printoptions printoptions vectorize frompyfunc ufunc load index_exp s_ mgrid ogrid c_ r_
    apply_along_axis apply_over_axes piecewise fromfunction from_dlpack psum pmean pmax pmin poly_info
    rng_uniform custom_root custom_linear_solve composite dtype_from_ctypes_type conv_dimension_numbers
    padtype_to_pads with_sharding_constraint platform_dependent stop_gradient_p optimization_barrier
    pvary pcast all_gather all_to_all ppermute pshuffle pswapaxes psum_scatter reduce reduce_window
    argsort_p infeed outfeed create_token after_all asarray_chkfinite array_ref new_ref freeze ref"""
)
# Those that give several arrays.
TREE_RESULTS = _words(
    """meshgrid split array_split hsplit vsplit dsplit broadcast_arrays divmod frexp modf histogram histogram2d
    histogramdd gradient tril_indices triu_indices tril_indices_from triu_indices_from mask_indices ix_ diag_indices
    diag_indices_from unravel_index atleast_1d atleast_2d atleast_3d svd qr eigh eig slogdet lstsq unstack top_k
    sort_key_val lu lu_factor schur unique_all unique_counts unique_inverse polyfit polydiv nonzero approx_max_k
    approx_min_k rng_bit_generator lu_pivots_to_permutation householder_product tridiagonal hessenberg"""
)
BOOLEAN_RESULTS = _words(
    """isnan isinf isfinite logical_and logical_or logical_not logical_xor greater greater_equal less less_equal
    equal not_equal isclose isin signbit isneginf isposinf"""
)

_INTERNAL = frozenset("_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
# They call functions, which may do something besides returning.
_CALLING = _words(
    """cond switch scan while_loop fori_loop map associative_scan platform_dependent custom_root
    custom_linear_solve reduce reduce_window apply_along_axis apply_over_axes piecewise fromfunction"""
)
_NUMBER_TYPES = _words(
    """float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128
    float_ int_ complex_ bool_"""
)

# jax.random: what draws from a key, and uses it up.
_SAMPLERS = _words(
    """ball bernoulli beta binomial bits categorical cauchy chisquare choice dirichlet double_sided_maxwell
    exponential f gamma generalized_normal geometric gumbel laplace loggamma logistic lognormal maxwell
    multinomial multivariate_normal normal orthogonal pareto permutation poisson rademacher randint rayleigh t
    triangular truncated_normal uniform wald weibull_min"""
)
CONSUMERS = _SAMPLERS | {"split"}
KEY_MAKERS = _words("key PRNGKey split fold_in clone wrap_key_data")

_NN = _words(
    """relu relu6 sigmoid softplus soft_sign sparse_plus sparse_sigmoid silu swish log_sigmoid leaky_relu hard_sigmoid hard_silu
    hard_swish hard_tanh elu celu selu gelu glu squareplus mish identity log_softmax softmax logsumexp
    standardize one_hot dot_product_attention"""
)
_SCIPY_ARRAYS = ("jax.scipy.special.", "jax.scipy.stats.", "jax.scipy.signal.", "jax.scipy.fft.")
_TREE_FUNCTIONS = _words("flatten leaves structure unflatten transpose reduce all broadcast")
PURE_TRANSFORMS = _words(
    "jit vmap grad value_and_grad jacfwd jacrev hessian checkpoint pmap shard_map"
)
_PURE_ELSEWHERE = _words("optax.apply_updates optax.global_norm jax.tree.leaves jax.tree.flatten")


def result_kind(name: str) -> str | None:
    """Return what a function of jax gives: "array", "tree", "static", or None if that is not known."""
    module, _, function = name.rpartition(".")
    if module in ("jax.numpy", "jax.lax", "jax.numpy.linalg", "jax.numpy.fft"):
        if function in _STATIC_RESULTS:
            return "static"
        if function in TREE_RESULTS:
            return "tree"
        if function in _OTHER_RESULTS or function[:1] in _INTERNAL or function.endswith("_p"):
            return None
        return "array"
    if module == "jax.random":
        return "array" if function in _SAMPLERS else None
    if module == "jax.nn":
        return "array" if function in _NN else None
    if (
        name.startswith(_SCIPY_ARRAYS)
        or module == "jax.image"
        or name.startswith("jax.ops.segment_")
    ):
        return "array" if function[:1] not in _INTERNAL else None
    return None


def is_pure(name: str) -> bool:
    """Return whether a call is for its result alone."""
    module, _, function = name.rpartition(".")
    if module == "jax.random":
        return function in CONSUMERS or function in KEY_MAKERS
    if module == "jax":
        return function in PURE_TRANSFORMS
    if name in _PURE_ELSEWHERE:
        return True
    if module == "jax.lax" and function in ("psum", "pmean", "pmax", "pmin", "stop_gradient"):
        return True
    if function in _NUMBER_TYPES or function in _CALLING:
        return False
    return result_kind(name) in ("array", "tree")


CLOCKS = _words(
    "time.time time.perf_counter time.monotonic time.time_ns time.perf_counter_ns time.monotonic_ns timeit.default_timer"
)
IMPURE = CLOCKS | _words(
    """time.process_time datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today
    uuid.uuid1 uuid.uuid4 os.getenv os.environ.get os.urandom secrets.token_hex secrets.token_bytes
    secrets.randbelow random.random random.randint random.uniform random.choice random.choices random.sample
    random.shuffle random.gauss random.randrange random.normalvariate random.betavariate random.expovariate
    random.getrandbits random.triangular"""
)
_NUMPY_RANDOM_MAKERS = _words(
    "Generator RandomState SeedSequence PCG64 MT19937 Philox BitGenerator get_state set_state seed default_rng"
)


def is_impure(name: str) -> bool:
    """Return whether a function gives something else at each call."""
    if name.startswith("numpy.random."):
        return name.rpartition(".")[2] not in _NUMPY_RANDOM_MAKERS
    return name in IMPURE


# Functions of NumPy that take tracers: they look at no value.
NUMPY_STATIC = _words(
    """shape ndim size dtype result_type issubdtype iscomplexobj isrealobj isscalar broadcast_shapes iinfo finfo can_cast
    promote_types min_scalar_type issctype issubclass_ shares_memory may_share_memory iterable errstate
    printoptions set_printoptions get_printoptions seterr vectorize frompyfunc ndenumerate index_exp
    broadcast einsum_path random testing lib core polynomial ctypeslib emath dtypes exceptions float_ int_"""
)

# Results whose size depends on values: they need `size=` under jit.
DATA_SIZED = {
    "unique": "size", "nonzero": "size", "flatnonzero": "size", "argwhere": "size", "union1d": "size",
    "intersect1d": "size", "setdiff1d": "size", "unique_values": "size", "bincount": "length",
    "compress": "size", "extract": "size",
}  # fmt: skip

# Where sizes stand among the arguments: (position, keyword, code).
SHAPE_ARGUMENTS = {
    "jax.numpy.zeros": (0, "shape", "SX0103"),
    "jax.numpy.ones": (0, "shape", "SX0103"),
    "jax.numpy.empty": (0, "shape", "SX0103"),
    "jax.numpy.full": (0, "shape", "SX0103"),
    "jax.numpy.broadcast_to": (1, "shape", "SX0103"),
    "jax.numpy.reshape": (1, "shape", "SX0101"),
    "jax.numpy.eye": (0, "N", "SX0101"),
    "jax.numpy.identity": (0, "n", "SX0101"),
    "jax.numpy.linspace": (2, "num", "SX0101"),
    "jax.numpy.tri": (0, "N", "SX0101"),
    "jax.lax.broadcasted_iota": (1, "shape", "SX0103"),
    "jax.lax.iota": (1, "size", "SX0103"),
    "jax.lax.top_k": (1, "k", "SX0103"),
    "jax.random.split": (1, "num", "SX0103"),
    "jax.random.normal": (1, "shape", "SX0103"),
    "jax.random.uniform": (1, "shape", "SX0103"),
    "jax.random.bits": (1, "shape", "SX0103"),
}
FLAG_ARGUMENTS = _words("axis keepdims axes")

PLAIN_DECORATORS = _words(
    """functools.wraps() typing.overload abc.abstractmethod typing.no_type_check typing.final jax.named_call
    contextlib.contextmanager"""
)

NUMPY_CREATORS = _words(
    """array asarray zeros ones empty full arange linspace logspace eye identity loadtxt genfromtxt zeros_like ones_like
    empty_like full_like frombuffer fromiter rand randn standard_normal"""
)
OPTIMIZERS = _words(
    """adabelief adadelta adafactor adagrad adam adamax adamw amsgrad chain clip clip_by_global_norm fromage lamb lars
    lion masked multi_transform nadam nadamw noisy_sgd novograd optimistic_gradient_descent radam rmsprop scale
    scale_by_adam scale_by_schedule set_to_zero sgd sm3 yogi MultiSteps apply_if_finite add_decayed_weights"""
)
