"""Sparse functions whose jaxprs, and primitives whose results, jax records and sagax repeats."""

from __future__ import annotations

from typing import Any

MATRIX = [[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]


def functions(numpy: Any, sparse: Any) -> dict[str, tuple]:
    """Name -> (function, arguments)."""
    dense = numpy.array(MATRIX)
    m, b = sparse.BCOO.fromdense(dense), sparse.BCSR.fromdense(dense)
    coo, csr, csc = [getattr(sparse, n).fromdense(dense) for n in ("COO", "CSR", "CSC")]
    x, y, wide = numpy.ones(3), numpy.ones(2), numpy.ones((3, 2))
    numbers = (((1,), (0,)), ((), ()))
    at = numpy.array([[0, 1], [1, 0]])
    return {
        "bcoo @ vector": (lambda m, x: m @ x, m, x),
        "bcoo @ matrix": (lambda m, x: m @ x, m, wide),
        "vector @ bcoo": (lambda m, y: y @ m, m, y),
        "bcoo @ bcoo": (lambda m: m @ m.T, m),
        "bcoo todense": (lambda m: m.todense(), m),
        "bcoo fromdense": (lambda d: sparse.BCOO.fromdense(d, nse=3), dense),
        "bcoo transpose": (lambda m: m.T, m),
        "bcoo sort": (lambda m: m.sort_indices(), m),
        "bcoo sum_duplicates": (lambda m: sparse.bcoo_sum_duplicates(m, nse=3), m),
        "bcoo extract": (sparse.bcoo_extract, m, dense),
        "sampled": (
            lambda d, x, at: sparse.bcoo_dot_general_sampled(d, x, at, dimension_numbers=numbers),
            *(dense, wide, at),
        ),
        "bcsr @ vector": (lambda m, x: m @ x, b, x),
        "bcsr todense": (lambda m: m.todense(), b),
        "bcsr fromdense": (lambda d: sparse.BCSR.fromdense(d, nse=3), dense),
        "bcsr extract": (lambda m, d: sparse.bcsr_extract(m.indices, m.indptr, d), b, dense),
        "coo @ vector": (lambda m, x: m @ x, coo, x),
        "coo @ matrix": (lambda m, x: m @ x, coo, wide),
        "coo.T @ vector": (lambda m, y: m.T @ y, coo, y),
        "coo todense": (lambda m: m.todense(), coo),
        "coo fromdense": (lambda d: sparse.COO.fromdense(d, nse=3), dense),
        "csr @ vector": (lambda m, x: m @ x, csr, x),
        "csr @ matrix": (lambda m, x: m @ x, csr, wide),
        "csr.T @ vector": (lambda m, y: m.T @ y, csr, y),
        "csr todense": (lambda m: m.todense(), csr),
        "csr fromdense": (lambda d: sparse.CSR.fromdense(d, nse=3), dense),
        "csc @ vector": (lambda m, x: m @ x, csc, x),
        "csc todense": (lambda m: m.todense(), csc),
        "todense": (sparse.todense, m),
        "todense of dense": (sparse.todense, dense),
    }


def binds(numpy: Any, sparse: Any) -> dict[str, tuple]:
    """Name of a primitive -> (operands, parameters)."""
    dense = numpy.array(MATRIX)
    m, b = sparse.BCOO.fromdense(dense), sparse.BCSR.fromdense(dense)
    coo, csr = sparse.COO.fromdense(dense), sparse.CSR.fromdense(dense)
    data = numpy.array([3.0, 4.0, 5.0])
    places = numpy.array([[1, 2], [0, 1], [1, 2]])
    x, y, wide = numpy.arange(3.0), numpy.arange(2.0) + 1, numpy.arange(6.0).reshape(3, 2)
    numbers = (((1,), (0,)), ((), ()))
    info, plain = m._info, type(m._info)(m.shape)
    product = {"dimension_numbers": numbers, "preferred_element_type": None}
    stored = {"n_batch": 0, "n_dense": 0, "nse": 3, "index_dtype": "int32"}
    turned = type(m._info)((3, 2))
    return {
        "bcoo_dot_general": ((m.data, m.indices, x), {**product, "lhs_spinfo": info}),
        "bcoo_spdot_general": (
            (m.data, m.indices, m.data, m.indices[:, ::-1]),
            {**product, "lhs_spinfo": info, "rhs_spinfo": turned},
        ),
        "bcoo_dot_general_sampled": ((dense, wide, places[:, :1]), {"dimension_numbers": numbers}),
        "bcoo_extract": ((places, dense), {"assume_unique": False}),
        "bcoo_fromdense": ((dense,), stored),
        "bcoo_sort_indices": ((data, places), {"spinfo": plain}),
        "bcoo_sum_duplicates": ((data, places), {"spinfo": plain, "nse": 2}),
        "bcoo_todense": ((data, places), {"spinfo": plain}),
        "bcoo_transpose": ((data, places), {"spinfo": plain, "permutation": (1, 0)}),
        "bcsr_dot_general": ((b.data, b.indices, b.indptr, wide), {**product, "lhs_spinfo": info}),
        "bcsr_extract": ((b.indices, b.indptr, dense * 2), {}),
        "bcsr_fromdense": ((dense,), stored),
        "bcsr_todense": ((b.data, b.indices, b.indptr), {"spinfo": plain}),
        "coo_matvec": ((coo.data, coo.row, coo.col, y), {"spinfo": coo._info, "transpose": True}),
        "coo_matmat": (
            (coo.data, coo.row, coo.col, wide),
            {"spinfo": coo._info, "transpose": False},
        ),
        "coo_todense": ((coo.data, coo.row, coo.col), {"spinfo": coo._info}),
        "coo_fromdense": ((dense,), {"nse": 3, "index_dtype": "int32"}),
        "csr_matvec": (
            (csr.data, csr.indices, csr.indptr, y),
            {"shape": csr.shape, "transpose": True},
        ),
        "csr_matmat": (
            (csr.data, csr.indices, csr.indptr, wide),
            {"shape": csr.shape, "transpose": False},
        ),
        "csr_todense": ((csr.data, csr.indices, csr.indptr), {"shape": csr.shape}),
        "csr_fromdense": ((dense,), {"nse": 3, "index_dtype": "int32"}),
    }


def equations(jaxpr: Any) -> list:
    """The equations of a jaxpr as data: primitives, names of parameters, types of results."""
    found = []
    for eqn in jaxpr.eqns:
        results = [[list(v.aval.shape), str(v.aval.dtype)] for v in eqn.outvars]
        found.append([str(eqn.primitive), sorted(eqn.params), results])
    return found
