"""Internal names of jax, as libraries ask for them, mean something here or are refused with a reason."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from pathlib import Path

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import _jax_internals as internals

PAGE = (Path(__file__).parents[1] / "docs" / "libraries.md").read_text()


@pytest.mark.parametrize("module", internals.PUBLIC)
def test_public_names_are_found(module):
    for public in internals.PUBLIC[module]:
        names = [n for n in dir(importlib.import_module(public)) if not n.startswith("_")]
        assert names
        assert internals.find_name(module, names[-1]) is not None
    for name in ("no_such_name", "__all__"):
        with pytest.raises(AttributeError):
            internals.find_name(module, name)


def test_the_page_lists_every_module():
    for module in internals.INTERNALS:
        group, _, name = module.removeprefix("_src").removeprefix(".").partition(".")
        if module in ("_src", "version") or f"`{group}.*`" in PAGE:
            continue
        listed = f"{group}.{name}" if name else group
        below = any(m.startswith(f"{module}.") for m in internals.INTERNALS)
        assert f"`{listed}`" in PAGE or f"`{group}.*`" in PAGE or below, module


def test_the_page_lists_every_name():
    for module, names in internals.INTERNALS.items():
        for name in names:
            rows = [row for row in PAGE.splitlines() if f"`{name}`" in row]
            assert any(f"`{module.removeprefix('_src.')}`" in row for row in rows) or (
                module == "version" and rows
            ), (module, name)


def test_errors_of_prefixes():
    (error,) = internals.prefix_errors((1, 2), (1, 2, 3))
    assert isinstance(error("in_axes"), ValueError) and "in_axes" in str(error("in_axes"))
    assert internals.prefix_errors((1, 2), (1, (2, 3))) == []


def test_types_of_storage():
    key = sagax.typeof(sagax.random.key(0))
    assert internals.physical_aval(key).shape == (2,)
    assert internals.physical_aval(key).dtype == np.uint32
    plain = sagax.typeof(snp.ones(3))
    assert internals.physical_aval(plain) is plain is internals.full_lower(plain)


def test_dtypes_with_infinities():
    found = {d: internals.supports_inf(np.dtype(getattr(snp, d).dtype)) for d in NARROW}
    assert found == NARROW


NARROW = {"float32": True, "bfloat16": True, "float8_e5m2": True, "float8_e4m3fn": False}


def test_helpers_on_lists():
    assert internals.split_list([1, 2, 3, 4], [1, 2]) == [[1], [2, 3], [4]]
    assert internals.unzip2([(1, "a"), (2, "b")]) == ((1, 2), ("a", "b"))


def test_positions_and_names_of_parameters():
    sig = inspect.signature(lambda a, b, *, c=1: None)
    infer = internals.infer_argnums_and_argnames
    assert infer(sig, (0,), None) == ((0,), ("a",))
    assert infer(sig, None, ("b", "c")) == ((1,), ("b", "c"))
    assert infer(sig, None, None) == ((), ())
    assert infer(sig, 1, ("a",)) == ((1,), ("a",))


def test_what_libraries_ask_for(run_python):
    program = """
        import sagax.as_jax
        import jax
        from jax._src import checkify, core, dtypes, xla_bridge
        from jax._src.distributed import global_state
        from jax._src.interpreters import pxla
        from jax._src.numpy import lax_numpy
        from jax._src.pjit import auto_axes, jit_p
        from jax._src.scipy.special import gammaln
        from jax._src.state.types import AbstractRef
        from jax._src.tree_util import BuiltInKeyEntry, prefix_errors
        from jax._src.typing import DTypeLike

        jax.devices()
        assert set(xla_bridge._backends) == {"cpu"}
        assert (global_state.process_id, global_state.num_processes, global_state.client) == (0, 1, None)
        assert "PjitFunction" in str(type(jax.jit(abs)))
        assert jax.make_jaxpr(jax.jit(lambda x: x + 1))(1).jaxpr.eqns[0].primitive is jit_p
        assert float(gammaln(5.0)) > 3 and lax_numpy.sum is jax.numpy.sum
        assert issubclass(checkify.JaxRuntimeError, checkify.JaxException)
        try:
            from jax._src.core import nothing
        except ImportError as error:
            assert "this script (<string>:" in str(error) and "jax._src.core.nothing" in str(error)
            assert "report this sentence" in str(error)
        assert not hasattr(core, "nothing") and not hasattr(core, "_private")
    """
    run_python("-c", textwrap.dedent(program))


def test_modules_that_were_used_are_found_by_their_names_in_jax(run_python):
    program = """
        import sagax.as_jax, sys
        import jax
        assert jax.tree_util is sys.modules["jax.tree_util"]
        from jax.tree_util import SequenceKey
        assert SequenceKey is jax.tree_util.SequenceKey
        print(jax.dtypes.prng_key, jax.Array)
    """
    done = run_python("-c", textwrap.dedent(program))
    assert done.stdout.split("\n")[0] == "<class 'jax.dtypes.prng_key'> <class 'jax.Array'>"


def test_shardings_with_their_meshes():
    mesh = sagax.make_mesh((1,), ("i",), axis_types=(sagax.sharding.AxisType.Explicit,))
    automatic = sagax.make_mesh((1,), ("i",), axis_types=(sagax.sharding.AxisType.Auto,))
    spec, sharding = sagax.sharding.PartitionSpec("i"), sagax.NamedSharding
    find = internals.canonicalize_sharding
    assert find(None, "f") is find(sagax.typeof(snp.ones(3)).sharding, "f") is None
    assert find(sharding(mesh, spec), "f") == sharding(mesh.abstract_mesh, spec)
    assert find(sharding(mesh, spec), "f").mesh._any_axis_explicit
    with pytest.raises(TypeError, match="out_sharding"):
        find("i", "f")
    for wrong in (spec, sharding(automatic, spec)):
        with pytest.raises(ValueError, match="out_sharding"):
            find(wrong, "f")
    with sagax.set_mesh(mesh):
        assert find(spec, "f") == sharding(mesh.abstract_mesh, spec)
        other = sagax.make_mesh((1,), ("j",), axis_types=(sagax.sharding.AxisType.Explicit,))
        with pytest.raises(ValueError, match="Context mesh"):
            find(sharding(other, sagax.sharding.PartitionSpec("j")), "f")
