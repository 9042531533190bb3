"""Programs of linear algebra, for both sides of the comparison with the oracle.

Each is a function of the module `lax` and of operands, and returns what the mathematics determines:
where a library is free to choose signs, phases or an order, a product in which they cancel.
`tests/oracle/linalg.py` runs them with jax, `primitives/test_linalg.py` with sagax.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from slicing_cases import Case

F32, C64 = np.float32, np.complex64
KINDS = {"real": F32, "complex": C64}


def matrices(*shape: int, dtype: Any = F32, seed: int = 0) -> np.ndarray:
    """Random matrices with a diagonal that keeps them far from singular."""
    rng = np.random.default_rng(seed + 10 * len(shape) + sum(shape))
    x = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.uniform(-1, 1, shape)
    m, n = shape[-2:]
    return (x + np.eye(m, n) * np.arange(2, 2 + n)).astype(dtype)


def numbers(*shape: int, dtype: Any = F32, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, shape)
    return (x + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def hermitian(*shape: int, dtype: Any = F32) -> np.ndarray:
    x = matrices(*shape, dtype=dtype)
    return ((x + np.swapaxes(x, -1, -2).conj()) / 2).astype(dtype)


def positive(*shape: int, dtype: Any = F32) -> np.ndarray:
    x = matrices(*shape, dtype=dtype)
    return (x @ np.swapaxes(x, -1, -2).conj()).astype(dtype)


def mh(lax: Any, x: Any) -> Any:
    n = x.ndim
    x = lax.conj(x) if np.dtype(x.dtype).kind == "c" else x
    return lax.transpose(x, (*range(n - 2), n - 1, n - 2))


def scaled(x: Any, s: Any) -> Any:
    """Columns of x times the entries of s."""
    return x * s[..., None, :]


def _solve(left: bool, lower: bool, transpose: bool, unit: bool, conjugate: bool = False) -> Any:
    return lambda lax, a, b: lax.linalg.triangular_solve(
        a, b, left_side=left, lower=lower, transpose_a=transpose, unit_diagonal=unit,
        conjugate_a=conjugate,
    )  # fmt: skip


CASES: dict[str, Case] = {}

# triangular and tridiagonal systems ------------------------------------------------------------------

_BOTH = (False, True)
for left, lower, transpose, unit in itertools.product(_BOTH, repeat=4):
    for kind, dtype in KINDS.items():
        shape = (3, 2) if left else (2, 3)
        CASES[f"triangular {kind} {left:d}{lower:d}{transpose:d}{unit:d}"] = Case(
            _solve(left, lower, transpose, unit),
            (matrices(3, 3, dtype=dtype), numbers(*shape, dtype=dtype)),
            maps=((0, 0), (None, 0), (0, None), (None, 1)),
        )
for left, lower, transpose in itertools.product(_BOTH, repeat=3):
    CASES[f"triangular conjugate {left:d}{lower:d}{transpose:d}"] = Case(
        _solve(left, lower, transpose, False, True),
        (matrices(3, 3, dtype=C64), numbers(3, 3, dtype=C64)),
    )
CASES |= {
    "triangular stacked": Case(
        _solve(True, True, False, False),
        (matrices(2, 3, 3), numbers(2, 3, 2)),
        maps=((0, 0), (None, 2)),
    ),
    "triangular vector left": Case(
        _solve(True, True, False, False), (matrices(3, 3), numbers(3)), maps=((0, 0), (None, 0))
    ),
    "triangular vector right": Case(
        _solve(False, True, False, False), (matrices(2, 3, 3), numbers(2, 3))
    ),
    "triangular singular": Case(
        _solve(True, True, False, False), (np.zeros((2, 2), F32), numbers(2, 1)), False
    ),
    "triangular empty": Case(
        _solve(True, True, False, False), (np.zeros((0, 0), F32), np.zeros((0, 2), F32)), False
    ),
}
for kind, dtype in KINDS.items():
    for perturb in _BOTH:
        for stack in ((), (2,)):
            CASES[f"tridiagonal_solve {kind} {perturb:d} {len(stack)}"] = Case(
                lambda lax, *xs, p=perturb: lax.linalg.tridiagonal_solve(*xs, perturb_singular=p),
                (
                    numbers(*stack, 4, dtype=dtype, seed=2),
                    numbers(*stack, 4, dtype=dtype, seed=3) + dtype(4),
                    numbers(*stack, 4, dtype=dtype, seed=4),
                    numbers(*stack, 4, 2, dtype=dtype, seed=5),
                ),
                derivative=not (perturb and kind == "complex"),
                maps=((0, 0, 0, 0), (None, None, None, 1)),
            )
CASES["tridiagonal_solve singular"] = Case(
    lambda lax, *xs: lax.linalg.tridiagonal_solve(*xs),
    (*[np.zeros(3, F32)] * 3, np.ones((3, 1), F32)),
    False,
)

# factors of Hermitian matrices ------------------------------------------------------------------------

for (kind, dtype), symmetrize in itertools.product(KINDS.items(), _BOTH):
    for shape in ((3, 3), (2, 3, 3), (1, 1)):
        CASES[f"cholesky {kind} {symmetrize:d} {shape}"] = Case(
            lambda lax, x, s=symmetrize: lax.linalg.cholesky(x, symmetrize_input=s),
            (positive(*shape, dtype=dtype),),
            maps=((0,), (1,)),
        )
    for lower in _BOTH:
        CASES[f"eigh {kind} {symmetrize:d} {lower:d}"] = Case(
            lambda lax, x, s=symmetrize, lower=lower: _eigh(
                lax, x, symmetrize_input=s, lower=lower
            ),
            (hermitian(3, 3, dtype=dtype),),
            maps=((0,),),
        )
_INDEFINITE = np.array([[[1, 2], [2, 1]], [[2, 0], [0, 2]]], F32)


def _eigh(lax: Any, x: Any, **options: Any) -> tuple:
    v, w = lax.linalg.eigh(x, **options)
    # a function of the matrix, and the space of the first vector: signs and phases cancel
    first = v[..., :, :1]
    return w, scaled(v, lax.sin(w)) @ mh(lax, v), first @ mh(lax, first)


CASES |= {
    "eigh stacked": Case(_eigh, (hermitian(2, 4, 4),), maps=((2,),)),
    "eigh nan": Case(lambda lax, x: lax.linalg.eigh(x), (np.full((2, 2), np.nan, F32),), False),
    "eigh nan in a stack": Case(
        lambda lax, x: lax.linalg.eigh(x)[1],
        (np.stack([np.full((2, 2), np.nan, F32), np.eye(2, dtype=F32)]),),
        False,
    ),
    "cholesky indefinite": Case(lambda lax, x: lax.linalg.cholesky(x), (_INDEFINITE,), False),
    "cholesky nan": Case(
        lambda lax, x: lax.linalg.cholesky(x), (np.full((2, 2), np.nan, F32),), False
    ),
    "cholesky empty": Case(
        lambda lax, x: lax.linalg.cholesky(x), (np.zeros((2, 0, 0), F32),), False
    ),
    "cholesky_update": Case(
        lambda lax, r, w: lax.linalg.cholesky_update(r, w),
        (np.triu(matrices(4, 4)), numbers(4)),
        False,
    ),
    "symmetric_product": Case(
        lambda lax, a, c: lax.linalg.symmetric_product(a, c, alpha=2.0, beta=0.5),
        (numbers(3, 2), hermitian(3, 3)),
        False,
    ),
    "symmetric_product mirrored": Case(
        lambda lax, a, c: lax.linalg.symmetric_product(a, c, beta=1.0, symmetrize_output=True),
        (numbers(3, 2), hermitian(3, 3)),
        False,
    ),
}

# lu, qr, svd --------------------------------------------------------------------------------------------


def _svd(lax: Any, x: Any, **options: Any) -> tuple:
    u, s, vh = lax.linalg.svd(x, full_matrices=False, **options)
    first = u[..., :, :1], vh[..., :1, :]
    return s, scaled(u, lax.sin(s)) @ vh, first[0] @ first[1]


for (kind, dtype), shape in itertools.product(
    KINDS.items(), ((3, 3), (4, 2), (2, 4), (2, 3, 3), (2, 3, 2), (1, 1))
):
    a = matrices(*shape, dtype=dtype)
    CASES[f"lu {kind} {shape}"] = Case(lambda lax, x: lax.linalg.lu(x)[:1], (a,), maps=((0,), (1,)))
    CASES[f"lu pivots {kind} {shape}"] = Case(lambda lax, x: lax.linalg.lu(x)[1:], (a,), False)
    CASES[f"qr {kind} {shape}"] = Case(
        lambda lax, x: lax.linalg.qr(x, full_matrices=False), (a,), maps=((0,), (1,))
    )
    CASES[f"qr pivoting {kind} {shape}"] = Case(
        lambda lax, x: lax.linalg.qr(x, full_matrices=False, pivoting=True)[:2],
        (a,),
        derivative=len(shape) == 2,  # jax has none for stacks
    )
    CASES[f"qr full {kind} {shape}"] = Case(
        lambda lax, x: _projections(lax, *lax.linalg.qr(x)), (a,), shape[-2] <= shape[-1]
    )
    CASES[f"svd {kind} {shape}"] = Case(_svd, (a,), maps=((0,), (1,)))
    CASES[f"svd values {kind} {shape}"] = Case(
        lambda lax, x: lax.linalg.svd(x, compute_uv=False), (a,)
    )
    CASES[f"svd full {kind} {shape}"] = Case(
        lambda lax, x: [abs(o @ mh(lax, o)) for o in lax.linalg.svd(x)[::2]], (a,), False
    )


def _projections(lax: Any, q: Any, r: Any) -> tuple:
    n = min(r.shape[-2:])
    return r, q[..., :n] @ mh(lax, q[..., :n]), q @ mh(lax, q)


def _svd_by(algorithm: str) -> Any:
    return lambda lax, x: _svd(lax, x, algorithm=lax.linalg.SvdAlgorithm[algorithm])


_NAN = np.full((3, 2), np.nan, F32)
CASES |= {
    **{
        f"svd by {name}": Case(_svd_by(name), (matrices(3, 3),))
        for name in ("DEFAULT", "QR", "DIVIDE_AND_CONQUER")
    },
    "svd nan": Case(lambda lax, x: lax.linalg.svd(x), (_NAN,), False),
    "svd values nan": Case(lambda lax, x: lax.linalg.svd(x, compute_uv=False), (_NAN,), False),
    "svd of ones": Case(
        lambda lax, x: lax.linalg.svd(x, compute_uv=False), (np.ones((3, 3), F32),), False
    ),
    "qr nan": Case(lambda lax, x: lax.linalg.qr(x), (_NAN,), False),
    "lu nan": Case(lambda lax, x: lax.linalg.lu(x)[0], (_NAN,), False),
    "lu singular": Case(lambda lax, x: lax.linalg.lu(x), (np.ones((3, 3), F32),), False),
    "permutation": Case(
        lambda lax, p: lax.linalg.lu_pivots_to_permutation(p, 5),
        (np.array([[3, 3, 2, 4], [0, 1, 4, 3]], np.int32),),
        False,
    ),
}
for name, shape in itertools.product(("lu", "qr", "svd"), ((0, 0), (0, 3), (3, 0), (2, 0, 0))):
    CASES[f"{name} empty {shape}"] = Case(
        lambda lax, x, name=name: getattr(lax.linalg, name)(x), (np.zeros(shape, F32),), False
    )
for name in ("eigh", "eig", "schur"):
    CASES[f"{name} empty"] = Case(
        lambda lax, x, name=name: getattr(lax.linalg, name)(x), (np.zeros((0, 0), F32),), False
    )

# general eigenvalues and condensed forms --------------------------------------------------------------


def _eig(lax: Any, x: Any) -> list:
    w, left, right = lax.linalg.eig(x, enable_eigvec_derivs=True)
    # sums over eigenvalues do not know their order; magnitudes of components not their phases
    total = [lax.reduce_sum(f(w), axes=[w.ndim - 1]) for f in (lambda w: w, lambda w: w * w * w)]
    return total + [lax.reduce_sum(abs(v) * abs(v), axes=[v.ndim - 1]) for v in (left, right)]


def _schur(lax: Any, x: Any) -> tuple:
    t, z = lax.linalg.schur(x)
    return z @ t @ mh(lax, z), z @ mh(lax, z)


def _hessenberg(lax: Any, x: Any) -> list:
    return lax.linalg.hessenberg(x)


for (kind, dtype), shape in itertools.product(KINDS.items(), ((3, 3), (2, 4, 4))):
    a = matrices(*shape, dtype=dtype)
    CASES[f"eig {kind} {shape}"] = Case(_eig, (a,), maps=((0,),))
    CASES[f"eig values {kind} {shape}"] = Case(
        lambda lax, x: lax.reduce_sum(
            lax.sin(
                lax.linalg.eig(
                    x, compute_left_eigenvectors=False, compute_right_eigenvectors=False
                )[0]
            ),
            axes=[x.ndim - 2],
        ),
        (a,),
    )
    CASES[f"schur {kind} {shape}"] = Case(_schur, (a,), False, maps=((0,),))
    CASES[f"hessenberg {kind} {shape}"] = Case(_hessenberg, (a,), False, maps=((1,),))
    for lower in _BOTH:
        CASES[f"tridiagonal {kind} {shape} {lower:d}"] = Case(
            lambda lax, x, lower=lower: lax.linalg.tridiagonal(x, lower=lower)[1:],
            (hermitian(*shape, dtype=dtype),),
            False,
        )
for name in ("eig", "schur"):
    CASES[f"{name} nan"] = Case(
        lambda lax, x, name=name: getattr(lax.linalg, name)(x),
        (np.full((2, 2), np.nan, F32),),
        False,
    )

# reflections ----------------------------------------------------------------------------------------------

for kind, dtype in KINDS.items():
    vectors, taus = matrices(2, 4, 3, dtype=dtype), numbers(2, 3, dtype=dtype)
    CASES[f"householder_product {kind}"] = Case(
        lambda lax, a, t: lax.linalg.householder_product(a, t), (vectors, taus), False, ((0, 0),)
    )
    for left, transpose in itertools.product(_BOTH, repeat=2):
        shape = (2, 4, 2) if left else (2, 2, 4)
        CASES[f"ormqr {kind} {left:d}{transpose:d}"] = Case(
            lambda lax, a, t, c, left=left, transpose=transpose: lax.linalg.ormqr(
                a, t, c, left=left, transpose=transpose
            ),
            (vectors, taus, numbers(*shape, dtype=dtype)),
            False,
        )
    for shape in ((3, 3), (4, 2)):
        CASES[f"qdwh {kind} {shape}"] = Case(
            lambda lax, x: lax.linalg.qdwh(x)[:2], (matrices(*shape, dtype=dtype),), False
        )
