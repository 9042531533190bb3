"""The examples in docstrings are run, and every public function has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import numpy
import pytest

import sagax
import sagax.experimental.roofline
import sagax.experimental.sparse
import sagax.lax
import sagax.nn
import sagax.numpy
import sagax.random
import sagax.scipy.linalg
import sagax.scipy.signal
import sagax.scipy.special
import sagax.scipy.stats
import sagax.tree_util
from sagax._src.runtime import devices

# They change the process they are imported into; tests/test_coexistence.py runs them in one of their own.
ELSEWHERE = {"sagax.as_jax", "sagax.__main__"}

MODULES = ["sagax"] + [
    info.name
    for info in pkgutil.walk_packages(sagax.__path__, "sagax.")
    if info.name not in ELSEWHERE
]


# What the examples assume to be imported beside the module itself, as CONTRIBUTING.md says.
ASSUMED = {
    "np": numpy,
    "sagax": sagax,
    "snp": sagax.numpy,
    "lax": sagax.lax,
    "nn": sagax.nn,
    "random": sagax.random,
    "tree_util": sagax.tree_util,
    "linalg": sagax.scipy.linalg,
    "signal": sagax.scipy.signal,
    "roofline": sagax.experimental.roofline,
    "sparse": sagax.experimental.sparse,
    "special": sagax.scipy.special,
    "stats": sagax.scipy.stats,
}


class Finder(doctest.DocTestFinder):
    """Finds the examples of decorated functions too: where a function is from, its original tells."""

    def _from_module(self, module, object):
        original = inspect.unwrap(object) if callable(object) else object
        # operators that stand for others wrap descriptors
        known = inspect.isroutine(original) or inspect.isclass(original)
        return super()._from_module(module, original if known else object)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    finder = Finder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    assumed = {**ASSUMED, name.rpartition(".")[2]: module}
    failed = 0
    texts: list[str] = []
    platforms = {*devices._factories, *devices._backends}
    for test in finder.find(module, name, extraglobs=assumed):
        if test.examples:
            failed += runner.run(test, out=texts.append).failed
    for added in {*devices._factories} - platforms:  # errors of other tests list what has started
        devices._factories.pop(added)
        devices._backends.pop(added, None)
    assert failed == 0, "".join(texts)


PUBLIC = [
    "sagax",
    "sagax.lax",
    "sagax.numpy",
    "sagax.ops",
    "sagax.image",
    "sagax.dlpack",
    "sagax.random",
    "sagax.tree",
    "sagax.tree_util",
    "sagax.nn",
    "sagax.nn.initializers",
    "sagax.scipy.special",
]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_have_an_example(name):
    module = importlib.import_module(name)
    bare = []
    for public, value in vars(module).items():
        if public.startswith("_") or not inspect.isfunction(value):
            continue
        doc = inspect.getdoc(value) or ""
        if ">>>" not in doc:
            bare.append(public)
    assert bare == []
