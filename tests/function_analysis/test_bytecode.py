"""Bytecode: every instruction of each version of Python is either known to be harmless or left out on purpose."""

from __future__ import annotations

import dis
import math
import sys
import types

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src.function_analysis import bytecode, purity

pytestmark = pytest.mark.smoke

# Instructions that are refused, by what they do.
REFUSED = {
    "assigns outside of the function": """STORE_ATTR DELETE_ATTR STORE_GLOBAL DELETE_GLOBAL DELETE_DEREF
        STORE_NAME DELETE_NAME""",
    "reads a namespace that may be anything": """LOAD_NAME LOAD_LOCALS LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF
        LOAD_FROM_DICT_OR_GLOBALS""",
    "imports": "IMPORT_NAME IMPORT_FROM IMPORT_STAR",
    "defines a class, or asks one": """LOAD_BUILD_CLASS SETUP_ANNOTATIONS LOAD_SUPER_ATTR""",
    "enters a context": "BEFORE_WITH WITH_EXCEPT_START",
    "handles exceptions": """PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH CHECK_EG_MATCH PREP_RERAISE_STAR
        CLEANUP_THROW""",
    "waits, or hands on what another function yields": """BEFORE_ASYNC_WITH ASYNC_GEN_WRAP END_ASYNC_FOR GET_AITER
        GET_ANEXT GET_AWAITABLE GET_YIELD_FROM_ITER SEND END_SEND JUMP_BACKWARD_NO_INTERRUPT""",
    "prints": "PRINT_EXPR",
    "is of the interpreter": "INTERPRETER_EXIT ENTER_EXECUTOR EXIT_INIT_CHECK RESERVED",
    "depends on the intrinsic": "CALL_INTRINSIC_1 CALL_INTRINSIC_2",
}
LEFT_OUT = frozenset(" ".join(REFUSED.values()).split())


def test_every_instruction_has_been_thought_about():
    real = {name for name, number in dis.opmap.items() if number < 256}
    real = {name for name in real if not name.startswith("INSTRUMENTED_")}
    harmless = {name.split()[0] for name in bytecode.harmless_operations()}
    intrinsics = {"CALL_INTRINSIC_1"}
    assert harmless - intrinsics - real == set(), "names that this version of Python does not have"
    assert real - harmless - LEFT_OUT == set(), "instructions that are neither accepted nor refused"
    assert (harmless - intrinsics) & LEFT_OUT == set()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there are no intrinsics")
def test_intrinsics_are_named_as_python_names_them():
    known = {i.argrepr for i in dis.get_instructions(lambda *a: ([*a, (*a, 1)], +a[0]))}
    accepted = {name.split()[1] for name in bytecode.harmless_operations() if " " in name}
    assert {"INTRINSIC_LIST_TO_TUPLE", "INTRINSIC_UNARY_POSITIVE"} <= known & accepted


# what is accepted ---------------------------------------------------------------------------------------

SCALE = 2.0


def assigns(x):
    a, *b = (x, x, x)
    (c := a)
    d = e = b[0] + c
    del d
    e += 1.0
    return e


def chooses(x, flag=True, other=None):
    y = x if flag and other is None or not flag else -x
    if 1 < len("abc") <= 3 and "a" in "abc" and other is not x:
        y = y * 2
    return ~1 * y


# compiled here, since pytest rewrites the assertions of this file
space: dict = {}
exec("def asserts(x):\n    assert x is not None, 'never'\n    return x", space)


def repeats(x):
    total = 0.0
    for i, k in enumerate(range(3)):
        if i == 1:
            continue
        total = total + k * x
    n = 0
    while n < 2:
        n += 1
    return total * n


def makes_containers(x):
    numbers = [1, 2, 3, *range(2)]
    table = {"a": 1, "b": 2}
    some = {1, 2, *numbers}
    squares = [n * n for n in numbers if n]
    named = {k: v + 1 for k, v in table.items()}
    odd = {n % 2 for n in some}
    total = sum(n for n in numbers[1:3])
    numbers[0] = 5
    return x * (len(squares) + len(named) + len(odd) + total + numbers[0])


def calls(x):
    def inner(a, /, b=1, *rest, c=2, **named):
        return a * b * c + len(rest) + len(named)

    given = (1, 2)
    return inner(x, *given, c=3, d=4) + (lambda v: v * SCALE)(x)


def closes_over(x):
    y = x * 2

    def inner(z):
        return y + z

    return inner(x)


def writes_text(x):
    return x * len(f"{SCALE} {SCALE!r:>10} {SCALE:.2f}")


def matches(x):
    match (1, {"a": 2}, 3.0):
        case (int(n), {"a": m}, *_):
            return x * n * m
        case _:
            return x


def yields(x):
    def rows():
        yield x
        yield x * 2

    return sum(rows())


def reads_modules(x):
    lib = snp
    return lib.linalg.norm(x) * math.pi + np.float32(1)


@pytest.mark.parametrize(
    "fun",
    [
        assigns, chooses, repeats, makes_containers, calls, closes_over, writes_text, matches, yields,
        reads_modules, space["asserts"],
    ],
)  # fmt: skip
def test_accepted(fun):
    assert purity.pure_free_variables(fun, [], False) is not None


# what is refused ----------------------------------------------------------------------------------------

COUNT = 0


def assigns_a_global(x):
    global COUNT
    COUNT = 1
    return x


def make_counter():
    count = 0

    def counts(x):
        nonlocal count
        count = count + 1
        return x

    return counts


def make_emptied():
    value = 1

    def empties(x):
        nonlocal value
        del value
        return x

    return empties


def assigns_an_attribute(x):
    x.name = 1
    return x


def deletes_an_attribute(x):
    del x.name
    return x


def imports(x):
    from math import sin

    return x, sin


def defines_a_class(x):
    class Inner:
        pass

    return x, Inner


def enters(x):
    with x:
        return x


def tries(x):
    try:
        return x + 1
    except TypeError:
        return x


def at_last(x):
    try:
        return x + 1
    finally:
        x + 2


async def waits(x):
    return await x


def hands_on(x):
    yield from x


def waits_inside(x):
    async def inner():
        async for y in x:
            yield y

    return inner


def through_a_variable(x):
    lib = snp
    return lib.save("file", x)


@pytest.mark.parametrize(
    "fun",
    [
        assigns_a_global, make_counter(), make_emptied(), assigns_an_attribute, deletes_an_attribute, imports,
        defines_a_class, enters, tries, at_last, waits, hands_on, waits_inside, through_a_variable,
    ],
)  # fmt: skip
def test_refused(fun):
    with pytest.raises(purity.Impure):
        purity.pure_free_variables(fun, [], False)


def test_a_version_of_python_that_is_not_known(monkeypatch):
    sagax.clear_caches()
    later = types.SimpleNamespace(version_info=(3, 99, 0, "final", 0))
    monkeypatch.setattr(bytecode, "sys", later)
    assert bytecode.harmless_operations() == frozenset()
    for fun in (closes_over, snp.sin):
        with pytest.raises(purity.Impure, match="not known"):
            purity.pure_free_variables(fun, [], False)
    runs = 0

    def counted(x):
        nonlocal runs
        runs += 1
        return x * x

    def plain(x):
        return closes_over(x) * x

    for _ in range(5):
        assert float(sagax.grad(plain)(2.0)) == 12.0
        assert float(sagax.grad(counted)(2.0)) == 4.0
    assert runs == 5


# what code loads ----------------------------------------------------------------------------------------


def test_many_loads_are_found_in_one_walk():
    source = "def f(x):\n    return " + " + ".join(f"lib.part.a{i} * g{i}" for i in range(500))
    made: dict = {}
    exec(source, made)
    found = bytecode.scan(made["f"].__code__)
    chains = [load for load in found.loads if load.name == "lib"]
    assert [load.steps[1] for load in chains] == [("attribute", f"a{i}") for i in range(500)]
    assert len(found.loads) == 1000


def test_operations_are_told():
    found = bytecode.scan(repeats.__code__)
    assert found.inplace and found.branches
    assert "FOR_ITER" in found.operations
    assert not bytecode.scan(closes_over.__code__).inplace
