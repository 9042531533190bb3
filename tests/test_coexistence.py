"""sagax under the name of jax, and beside the real one in one process."""

from __future__ import annotations

import importlib.util
import os
import textwrap
from pathlib import Path

import pytest

import sagax


def test_as_jax_gives_sagax_under_jax_names(run_python):
    program = """
        import sagax.as_jax
        import importlib.metadata, sys
        import jax, jax.numpy as jnp
        from jax import lax, random
        import jax.tree_util as jtu
        import sagax
        assert jax.__version__ == "0.12.0" and jax.__version_info__ == (0, 12, 0)
        assert importlib.metadata.version("jax") == "0.12.0"
        assert sagax.__version__ != jax.__version__
        assert jnp is sagax.numpy and jtu is sagax.tree_util and lax is sagax.lax
        assert isinstance(jnp.ones(2), jax.Array)
        assert jnp.__spec__.name == "sagax.numpy"  # the alias leaves the module as it was
        assert float(jax.jit(lambda x: x @ x)(jnp.arange(3.0))) == 5.0
        x = jnp.arange(4.0)
        sys.modules["numpy"].asarray(jax.device_put(x, jax.devices()[0]))
        assert not any(m.startswith("jax._src") for m in sys.modules)
        try:
            import jax.no_such_module
        except ModuleNotFoundError as error:
            assert "this script" in str(error) and "no public name of jax" in str(error)
        else:
            raise AssertionError("a missing module was found")
    """
    run_python("-c", textwrap.dedent(program))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_worker_processes_find_sagax_under_the_name_of_jax(run_python, tmp_path, method):
    """Before an installed jax, and in modules that only the workers import."""
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "jax.py").write_text("raise AssertionError('the installed jax was imported')")
    (tmp_path / "helper.py").write_text(
        textwrap.dedent("""
        import jax.scipy.special
        import jax

        @jax.jit
        def square(x):
            return jax.numpy.sum(x * x)
        """)
    )
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import multiprocessing
        import jax
        import jax.numpy as jnp

        @jax.jit
        def double(x):
            return x * 2

        def work(x):
            import helper
            assert type(x).__module__.startswith("sagax") and jax.__sagax_alias__
            return double(helper.square(x)), jax.random.key(3)

        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(1) as pool:
                (out, key), = pool.map(work, [jnp.arange(3.0)])
            print(out, jax.random.key_data(key))
        """)
    )
    done = run_python(
        "-m", "sagax", "run", str(script), cwd=tmp_path, env={"PYTHONPATH": path_with(installed)}
    )
    assert done.stdout == "10.0 [0 3]\n"


def path_with(folder):
    """The search path for a process, with sagax and a folder on it."""
    return os.pathsep.join([str(Path(sagax.__file__).parents[1]), str(folder)])


def test_functions_that_name_the_module_travel(run_python, tmp_path):
    """Cloudpickle takes a module by its type, which is one of its own here."""
    pickled = tmp_path / "pickled"
    write = f"""
        import sagax.as_jax
        import cloudpickle, jax
        from jax._src import core
        function = lambda seed: jax.random.normal(jax.random.key(seed)) * core.trace_state_clean()
        with open({str(pickled)!r}, "wb") as file:
            cloudpickle.dump((function, jax, core), file)
        print(float(function(0)))
    """
    read = f"""
        import pickle, sys
        with open({str(pickled)!r}, "rb") as file:
            function, jax, core = pickle.load(file)
        assert sys.modules["jax"] is jax and sys.modules["jax._src.core"] is core
        print(float(function(0)))
    """
    written, found = [run_python("-c", textwrap.dedent(p)).stdout for p in (write, read)]
    assert written == found


def test_as_jax_refuses_when_the_real_jax_is_there(run_python):
    program = """
        import sys, types
        sys.modules["jax"] = types.ModuleType("jax")
        try:
            import sagax.as_jax
        except ImportError as error:
            assert "before jax" in str(error)
        else:
            raise AssertionError("two meanings of jax in one process")
    """
    run_python("-c", textwrap.dedent(program))


@pytest.mark.parametrize("first", ["jax", "sagax"])
def test_beside_jax_in_one_process(run_python, first):
    """Both are imported and used in turn; only where jax is installed, which this project does not need."""
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed here; `make test-beside-jax` installs it and runs this")
    program = f"""
        import {first}
        import jax, sagax, numpy as np
        import jax.numpy as jnp, sagax.numpy as snp
        for _ in range(3):
            for lib, num in ((jax, jnp), (sagax, snp)):
                x = num.arange(6.0).reshape(2, 3)
                assert np.allclose(lib.jit(lambda x: x @ x.T)(x), np.arange(6.0).reshape(2, 3) @ np.arange(6.0).reshape(2, 3).T)
                assert np.allclose(lib.grad(lambda x: (x ** 2).sum())(x), 2 * np.arange(6.0).reshape(2, 3))
                assert np.allclose(lib.vmap(lambda r: r.sum())(x), [3.0, 12.0])
                assert np.allclose(np.asarray(num.asarray(x, dtype=num.bfloat16)).astype(float), np.arange(6.0).reshape(2, 3))
        with sagax.enable_x64(True):
            assert snp.arange(2.0).dtype == np.float64 and jnp.arange(2.0).dtype == np.float32
        y = snp.asarray(np.asarray(jnp.ones(3)))
        assert float(y.sum()) == 3.0
        assert not isinstance(x, jax.Array)
        assert jax.tree_util.tree_leaves({{"a": 1}}) == sagax.tree_util.tree_leaves({{"a": 1}})
    """
    run_python("-c", textwrap.dedent(program))


def test_internal_names_that_libraries_import(run_python):
    program = """
        import sagax.as_jax
        import jax, jax._src.dispatch
        from jax._src import core, dtypes, traceback_util
        from jax._src.tree_util import _registry
        from jax._src.ad_util import stop_gradient_p
        import jax.api_util, jax.version
        from jax.extend import linear_util as lu

        assert isinstance(jax.core.ShapedArray((2,), "float32"), core.ShapedArray)
        assert isinstance(jax.core.ShapedArray((2,), "float32"), jax.core.AbstractValue)
        assert jax.version.__version_info__ >= (0, 12)
        assert dict in _registry and float not in _registry
        assert core.trace_state_clean() and not jax.jit(lambda x: x * core.trace_state_clean())(1)
        flat, tree = jax.tree.flatten(((1, {"a": 2}), {}))
        fun, out_tree = jax.api_util.flatten_fun(lu.wrap_init(lambda x, y: (x, y["a"])), tree)
        assert fun.call_wrapped(*flat) == [1, 2] and out_tree() == jax.tree.structure((0, 0))
        for name in ("jax._src.nothing", "jax._src.lax.nothing"):
            try:
                __import__(name)
            except ModuleNotFoundError as error:
                assert f"this script (<string>:20) asks for {name}, which is internal to jax" in str(error), error
            else:
                raise AssertionError(name)
        try:
            core.nothing
        except AttributeError as error:
            assert "asks for jax._src.core.nothing" in str(error)
        else:
            raise AssertionError("an internal name was made up")
        try:
            jax._src.dispatch.wait_for_tokens = None
        except AttributeError as error:
            assert "cannot be replaced" in str(error)
        else:
            raise AssertionError("a patch went unnoticed")
    """
    run_python("-c", textwrap.dedent(program))
