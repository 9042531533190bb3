"""No public function trips over a user's strict settings: they are about the user's own operations."""

import os

import pytest

import generated_calls
import sagax
import strict_calls
from sagax._src import config

# Of the generated calls every ninth is made under each setting, in a minute; FULL=1 makes all 2,262.
STEP = 1 if os.environ.get("FULL") else 9


@pytest.fixture(scope="module")
def names():
    return strict_calls.scope(sagax)


@pytest.fixture(scope="module")
def calls(names, oracle_data):
    """The recorded calls that work under the settings of the tests."""
    values = strict_calls.operands(sagax)
    recorded = oracle_data("strict_calls")
    found = {
        c: r for c, r in recorded.items() if strict_calls.attempt(sagax, names, values, c) == "ok"
    }
    assert len(found) > 0.98 * len(recorded)
    return found


@pytest.mark.parametrize("setting", strict_calls.SETTINGS)
def test_public_functions_work_where_they_do_on_jax(setting, calls, names):
    failed = {}
    with config.context(**strict_calls.SETTINGS[setting]):
        values = strict_calls.operands(sagax)
        for call, refused in calls.items():
            found = strict_calls.attempt(sagax, names, values, call)
            if found != "ok" and setting not in refused:
                failed[call] = found
    assert not failed


# Types under x64 that differ from jax's on purpose.
OTHER_TYPES = {
    # jax's own numbers of 64 bits widen float32 there; its types of the same calls without x64 are these
    "scipy.special.owens_t(v, v)": ["float32[4]"],
    "scipy.special.sph_harm_y(iv, iv, v, v, n_max=4)": ["complex64[4]"],
    "scipy.stats.norm.isf(v)": ["float32[4]"],
    "scipy.stats.norm.ppf(v)": ["float32[4]"],
    # no operand of 32 bits: the widest that is there, as for all other matrices of numbers
    "scipy.linalg.pascal(3)": ["float64[3, 3]"],
    "scipy.linalg.pascal(4)": ["float64[4, 4]"],
    # a logical function gives booleans, without x64, too
    "numpy.logical_xor.reduceat(v, iv[:2] % 2)": ["bool[2]"],
}


def test_types_under_x64_are_those_of_jax(calls, names, oracle_data):
    """Operands of 32 bits are not widened by a function's own numbers, and defaults are wide."""
    recorded = oracle_data("x64_types")
    with config.context(**strict_calls.SETTINGS["x64"]):
        values = strict_calls.operands(sagax)
        found = {c: strict_calls.types(sagax, names, values, c) for c in calls if c in recorded}
    assert len(found) > 0.95 * len(recorded)
    assert {c: types for c, types in found.items() if types != recorded[c]} == OTHER_TYPES


@pytest.mark.parametrize("setting", strict_calls.REFUSING)
def test_functions_of_matrices_take_stacks(setting, calls, names):
    """The matrices `sq` and `csq` are two on top of each other, as many as work by default."""

    def outcomes() -> dict[str, str]:
        values = strict_calls.operands(sagax)
        for name in ("sq", "csq"):
            values[name] = sagax.numpy.stack([values[name]] * 2)
        matrices = [c for c in calls if strict_calls._words(c) & {"sq", "csq"} and "linalg" in c]
        return {call: strict_calls.attempt(sagax, names, values, call) for call in matrices}

    default = outcomes()
    assert list(default.values()).count("ok") > 80
    with config.context(**strict_calls.SETTINGS[setting]):
        assert outcomes() == default


@pytest.fixture(scope="module")
def alike(names):
    """Calls whose operands have all one dtype and rank: what they give by default, and whether no NaN is anywhere."""
    values = generated_calls.operands(sagax)
    found = {}
    for call, expected in generated_calls.alike(sagax)[::STEP]:
        default = generated_calls.outcome(sagax, names, values, call)
        results = [expected, default]
        if call.startswith("grad "):  # it may be finite where the function is not
            plain = f"plain {call.removeprefix('grad ')}"
            results.append(generated_calls.outcome(sagax, names, values, plain))
        found[call] = default, all(generated_calls.is_finite(call, x) for x in results)
    return found


# Calls whose text promotes; jax refuses them, too.
PROMOTING = {"dtype": ["numpy.r_[v, 1.0, 0:3]"]}


@pytest.mark.parametrize("setting", generated_calls.SETTINGS)
def test_calls_of_one_dtype_and_rank_give_what_they_give_by_default(setting, names, alike):
    wrong = []
    with config.context(**generated_calls.SETTINGS[setting]):
        values = generated_calls.operands(sagax)
        for call, (default, is_finite) in alike.items():
            if setting == "nans" and not is_finite:
                continue
            if call.split(" ", 1)[1] in PROMOTING.get(setting, ()):
                continue
            found = generated_calls.outcome(sagax, names, values, call)
            if setting == "x64" and not isinstance(found, str):
                continue  # its results have other dtypes
            if not generated_calls.agree(found, default):
                wrong.append(f"{call}: {found} instead of {default}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "setting, call",
    [
        ("rank", "numpy.add(f, v)"),
        ("rank", "numpy.clip(f, v, v)"),
        ("dtype", "numpy.add(v, iv)"),
        ("dtype", "numpy.logaddexp(v, h)"),
        ("dtype", "scipy.special.xlogy(iv, v)"),
    ],
)
def test_the_operations_of_users_are_refused(setting, call, names):
    with config.context(**strict_calls.SETTINGS[setting]):
        found = strict_calls.attempt(sagax, names, strict_calls.operands(sagax), call)
    assert found != "ok"


@pytest.mark.parametrize(
    "call",
    [
        "scipy.stats.poisson.entropy(v)",
        "scipy.stats.poisson.entropy(f)",
        "scipy.stats.multivariate_normal.logpdf(f, v, sq)",
    ],
)
def test_formulas_that_jax_refuses_by_rank_work(call, names):
    with config.context(jax_numpy_rank_promotion="raise"):
        assert strict_calls.attempt(sagax, names, strict_calls.operands(sagax), call) == "ok"


NAN_CALLS = [
    "numpy.quantile(f, 0.3)", "numpy.nanmean(f, axis=0)", "numpy.nanmax(f)", "numpy.nanmedian(f)", "numpy.nanstd(f)",
    "numpy.interp(v, v, v)", "numpy.sinc(f - f)", "numpy.arctan2(f - f, f - f)", "numpy.hypot(f - f, f - f)", "numpy.power(f - f, 2)",
    "numpy.nan_to_num(f)", "numpy.histogram(f)", "numpy.unique(f)", "numpy.linalg.norm(f - f)", "numpy.logaddexp(f, f)", "numpy.where(b, f, 0)",
    "nn.softmax(f)", "nn.log_softmax(f, where=b, axis=1)", "nn.logsumexp(f)", "nn.gelu(f)", "nn.silu(f)", "nn.standardize(f)",
    "scipy.special.xlogy(f - f, f - f)", "scipy.special.entr(f - f)", "scipy.special.betainc(f, f, f)", "scipy.special.gammainc(f, f)",
    "scipy.special.i0e(f)", "scipy.special.digamma(f)", "scipy.special.zeta(f + 2, f)", "scipy.special.erfinv(f)", "scipy.special.ndtri(f)",
    "scipy.stats.norm.logpdf(f)", "scipy.stats.beta.logpdf(f, 2, 3)", "scipy.stats.t.logpdf(f, 3)", "scipy.stats.poisson.logpmf(iv, 2)",
    "random.normal(key, (3,))", "random.gamma(key, v)", "random.beta(key, v, v)", "random.truncated_normal(key, -1, 1, (3,))",
    "random.poisson(key, v)", "random.binomial(key, 5.0, v)", "random.categorical(key, f)", "random.dirichlet(key, v)",
    "scipy.stats.poisson.entropy(v)", "jax.grad(lambda x: scipy.stats.norm.cdf(x).sum())(v)", "jax.vmap(lambda x: scipy.stats.beta.logpdf(x, 2, 3))(f)",
    "jax.grad(lambda x: numpy.nanmax(x))(v)", "jax.grad(lambda x: numpy.nanstd(x))(v)", "jax.vmap(lambda x: numpy.nanmedian(x))(f)",
    "jax.grad(lambda x: numpy.linalg.norm(x))(v)", "jax.grad(lambda x: numpy.prod(x))(v)", "jax.grad(lambda x: nn.softmax(x)[0, 0])(f)",
]  # fmt: skip


@pytest.mark.parametrize("call", NAN_CALLS)
def test_no_nan_arises_on_the_way_to_finite_results(call, names):
    values = strict_calls.operands(sagax)
    used = [k for k in values if k in strict_calls._words(call)]
    function = eval(f"lambda {', '.join(used)}: {call}", names)
    with sagax.debug_nans(True):
        found = function(*[values[k] for k in used])
    assert sagax.tree.leaves(found)
