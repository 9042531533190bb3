"""Check that no public function answers bad arguments in Python's own words.

`FULL=1` makes all calls, else every fortieth.
"""

import os
import re
import warnings

import pytest

import bad_calls
import generated_calls
import sagax
import strict_calls

EVERY = 1 if os.environ.get("FULL") else 40
PARTS = 8

# Python's own errors about the signature of a function say all that there is to say.
_OF_THE_SIGNATURE = re.compile(
    r"unexpected keyword|missing a required argument|missing \d+ required|positional argument|multiple values|takes no keyword|takes exactly|takes at (least|most)"
)
# What the text of a call does itself before a function of the library is reached, or in a function that it passes.
_OF_THE_CALL = re.compile(
    r"abs\(|random\.Key\(|jax\.(grad|vmap|jit|jacfwd|jacrev|hessian)\(|lambda"
)
# Functions that are known to answer some in Python's own words.
OPEN = set(
    "f.sum image.resize image.scale_and_translate lax.concatenate lax.gather lax.index_take lax.reduce lax.reduce_window lax.scatter lax.scatter_apply"
    " lax.scatter_max lax.scatter_min lax.scatter_mul lax.scatter_add lax.scatter_sub nn.initializers.variance_scaling numpy.array_split numpy.convolve"
    " numpy.einsum numpy.fill_diagonal numpy.histogramdd numpy.linalg.norm numpy.pad numpy.piecewise numpy.round numpy.vsplit ops.segment_max"
    " random.geometric random.logistic random.multivariate_normal random.orthogonal scipy.linalg.eigh_tridiagonal scipy.linalg.hessenberg"
    " scipy.linalg.polar scipy.linalg.solve scipy.linalg.solve_sylvester scipy.ndimage.map_coordinates scipy.signal.convolve2d scipy.signal.correlate2d"
    " scipy.signal.istft scipy.signal.stft scipy.signal.welch scipy.signal.csd scipy.sparse.linalg.bicgstab scipy.sparse.linalg.cg"
    " scipy.sparse.linalg.gmres scipy.stats.gaussian_kde".split()
)


def _is_pythons(error: Exception) -> bool:
    if isinstance(error, sagax.errors.SagaxError):
        return False
    if type(error).__module__.split(".")[0] not in ("builtins", "numpy"):
        return False
    if isinstance(error, NotImplementedError):  # worded here: what jax has not either
        return False
    return not (isinstance(error, TypeError) and _OF_THE_SIGNATURE.search(str(error)))


@pytest.fixture(scope="module")
def every_call():
    scope = strict_calls.scope(sagax) | generated_calls.operands(sagax)
    return list(bad_calls.calls(scope))[::EVERY], scope


@pytest.mark.parametrize("part", range(PARTS))
def test_refused_in_words_of_the_library(every_call, part):
    calls, scope = every_call
    calls, pythons, raised = calls[part::PARTS], {}, 0
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                # traced, so that no size asks for memory
                sagax.eval_shape(lambda: (eval(call, scope), None)[1])  # noqa: B023
            except Exception as error:
                raised += 1
                if _is_pythons(error) and not _OF_THE_CALL.search(call):
                    if call.split("(")[0] not in OPEN:
                        pythons[call] = f"{type(error).__name__}: {error}"
    assert raised > len(calls) / 4
    assert not pythons
