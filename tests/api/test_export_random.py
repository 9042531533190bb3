"""Random programs and random bytes: exported functions give the right value or refuse."""

from __future__ import annotations

import hashlib
import os
import random
import struct
import warnings

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from export_programs import case_of
from sagax import export
from sagax.errors import SagaxError

# with FULL=1 (`make test-full`): all that the issue of this module asks for
FULL = os.environ.get("FULL") == "1"
CASES = 2000 if FULL else 60
MUTANTS = 50_000 if FULL else 1500
GROUP = 20
HEADER = struct.Struct("<8sHQ32s")  # magic, version, length of the rest, its SHA-256


def outcome(case):
    """'equal', 'refused' (by export or the call), or what is wrong."""
    rng = np.random.default_rng(len(case.steps))
    scope = export.SymbolicScope(case.constraints)
    shapes = [export.symbolic_shape(s, scope=scope) for s in case.specs]
    concrete = [
        tuple(d if isinstance(d, int) else d.evaluate(case.sizes) for d in s) for s in shapes
    ]
    arrays = [rng.normal(size=s).astype(np.float32) for s in concrete]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want = np.asarray(case.program(np, *arrays), np.float32)
    except (ValueError, IndexError):
        try:  # sizes that NumPy refuses, and indices that sagax moves into bounds
            want = np.asarray(case.program(snp, *map(snp.asarray, arrays)))
        except SagaxError:
            want = None
    specs = [sagax.ShapeDtypeStruct(s, "float32") for s in shapes]
    try:
        exported = export.export(sagax.jit(lambda *xs: case.program(snp, *xs)))(*specs)
        got = np.asarray(exported.call(*arrays))
    except SagaxError:
        return "refused"
    if want is None:
        return "a value where the function itself refuses"
    if got.shape != want.shape:
        return f"shape {got.shape} instead of {want.shape}"
    if not np.allclose(got, want, rtol=2e-4, atol=1e-4, equal_nan=True):
        return f"another value: {got} instead of {want}"
    return "equal"


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_random_programs(first):
    """An exported program gives NumPy's result for the sizes it is called with, or a clear refusal."""
    found = {seed: outcome(case_of(seed)) for seed in range(first, first + GROUP)}
    wrong = {f"{s}: {case_of(s)}": o for s, o in found.items() if o not in ("equal", "refused")}
    assert not wrong
    assert list(found.values()).count("equal") >= GROUP // 4  # not everything is refused


@pytest.fixture(scope="module")
def blobs():
    (b,) = export.symbolic_shape("b")
    spec = sagax.ShapeDtypeStruct((b, 3), "float32")
    one = export.export(sagax.jit(lambda x: snp.tanh(x).sum(axis=1)))(spec)
    two = export.export(sagax.jit(lambda p, x: {"y": x @ p["w"]}))(
        {"w": sagax.ShapeDtypeStruct((3, 2), "float32")}, spec
    )
    return [bytes(one.serialize()), bytes(one.serialize(vjp_order=1)), bytes(two.serialize())]


def mutated(blob, draw, others=()):
    """Bytes with a few changes: flips, cuts, insertions, parts elsewhere or of another blob, odd lengths."""
    data = bytearray(blob)
    for _ in range(draw.randint(1, 4)):
        how, at = draw.randrange(10), draw.randrange(max(len(data), 1))
        if not data:
            return b""
        if how == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif how == 1:
            data[at] = draw.randrange(256)
        elif how == 2:
            del data[at:]
        elif how == 3:
            del data[at : at + draw.randint(1, 40)]
        elif how == 4:
            data[at:at] = draw.randbytes(draw.randint(1, 20))
        elif how == 5:
            start = draw.randrange(len(data))
            data[at : at + 16] = data[start : start + 16]
        elif how == 6:  # two parts change places
            a, b = sorted(draw.sample(range(len(data) + 1), 2))
            data = data[b:] + data[a:b] + data[:a]
        elif how == 7 and others:
            data[at:] = draw.choice(others)[at:]
        elif how == 8:
            size = draw.choice((1, 2, 8, 64))
            data[at : at + size] = bytes([draw.choice((0, 0xFF))]) * size
        else:  # a length without measure, where lengths stand or elsewhere
            at = draw.choice((10, HEADER.size, at))
            data[at : at + 8] = struct.pack("<Q", draw.choice((0, 1 << 31, 1 << 40, 1 << 63)))
    return bytes(data)


@pytest.mark.parametrize("seed", range(10))
def test_mutated_artifacts(blobs, seed):
    """Damaged bytes are refused with an error of ours; none is taken for a function."""
    draw = random.Random(seed)
    for _ in range(MUTANTS // 10):
        blob = draw.choice(blobs)
        data = mutated(blob, draw, blobs)
        if data in blobs:
            continue
        with pytest.raises(SagaxError):
            export.deserialize(bytearray(data))


def sealed(text, modules):
    """What `serialize` would write with this description."""
    inner = struct.pack("<Q", len(text)) + text + modules
    return HEADER.pack(b"SAGAXEXP", 2, len(inner), hashlib.sha256(inner).digest()) + inner


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"exports":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"exports":[{"modules":[["cpu",' + b"9" * 4000 + b"]]}]}",
        b'{"exports":[{"modules":[["cpu",-5]]}]}',
        b'{"exports":[{"modules":[["cpu",1e999]]}]}',
        b"\xff\xfe\x00",
        b"null",
    ],
)
def test_descriptions_without_measure(text):
    with pytest.raises(SagaxError):
        export.deserialize(sealed(text, b"x" * 5))


def test_sizes_without_measure(blobs):
    """A description that asks for powers or products beyond all bounds is refused, or stays an expression."""
    inner = blobs[0][HEADER.size :]
    (length,) = struct.unpack_from("<Q", inner)
    text, modules = inner[8 : 8 + length], inner[8 + length :]
    for size in ("b^99999999", "*".join(["(b + 1)"] * 500), "9" * 5000, "max(" * 3000 + "b"):
        damaged = text.replace(b'["b",3]', f'["{size}",3]'.encode())
        assert damaged != text
        with pytest.raises(SagaxError):
            export.deserialize(sealed(damaged, modules))


@pytest.mark.parametrize("seed", range(4))
def test_mutated_artifacts_with_a_valid_digest(blobs, seed):
    """Also with a digest that fits, nonsense is refused or harmless: reading executes nothing."""
    draw = random.Random(1000 + seed)
    refused, count = 0, MUTANTS // 20
    for _ in range(count):
        inner = draw.choice(blobs)[HEADER.size :]
        (length,) = struct.unpack_from("<Q", inner)
        # the description, which is JSON; what follows it is the compiler's own format
        text = mutated(inner[8 : 8 + length], draw)
        try:
            export.deserialize(bytearray(sealed(text, inner[8 + length :])))
        except SagaxError:
            refused += 1
    assert refused > count // 2
