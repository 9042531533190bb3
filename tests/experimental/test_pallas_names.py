"""Names of jax's Pallas modules: each exists here, or raises an error that says what it needs."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

import sagax
from sagax.experimental import pallas as pl

# recorded by tests/oracle/pallas_names.py
NAMES = json.loads(
    (Path(__file__).resolve().parent.parent / "data" / "pallas_names.json").read_text()
)


@pytest.mark.parametrize("module", NAMES)
def test_every_name_of_jax_exists_or_says_what_it_needs(module):
    mine = importlib.import_module(f"sagax.experimental.pallas{module}")
    refused = []
    for name in NAMES[module]:
        found = getattr(mine, name)
        if not (getattr(found, "__doc__", "") or "").startswith("Raise an error"):
            continue
        refused.append(name)
        required = [
            p
            for p in inspect.signature(found).parameters.values()
            if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        with pytest.raises(NotImplementedError, match=name) as error:
            found(*[None] * len(required))
        text = str(error.value)
        assert " needs " in text and "fix: " in text, text
    assert refused, "the check finds what it looks for"


def test_unknown_names_are_attribute_errors():
    for module in (pl, pl.tpu, pl.triton, pl.mosaic_gpu):
        with pytest.raises(AttributeError, match="has no attribute 'not_there'"):
            getattr(module, "not_" + "there")


def test_names_that_say_which_hardware():
    with pytest.raises(NotImplementedError, match="Blackwell"):
        pl.mosaic_gpu.async_copy_smem_to_tmem(None)
    with pytest.raises(NotImplementedError, match="Hopper"):
        pl.mosaic_gpu.inline_mgpu()
    with pytest.raises(NotImplementedError, match="libtpu"):
        pl.tpu.pack_elementwise(None)
    with pytest.raises(NotImplementedError, match="SparseCores"):
        importlib.import_module("sagax.experimental.pallas.tpu_sc").load_gather(None)
    assert not pl.triton.is_gpu_device() or sagax.default_backend() == "gpu"
