"""Tables of weak references: what dies is gone, equal keys give the same object, and no Python code runs."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest

from sagax._src.weak_tables import InternTable, WeakBag, WeakKeyTable


class Thing:
    pass


def test_a_bag_lists_what_lives():
    bag: WeakBag[Thing] = WeakBag()
    things = [Thing() for _ in range(3)]
    for thing in things:
        bag.add(thing)
    del things[1], thing
    gc.collect()
    assert [*bag] == things
    bag.add(things[0])  # entries of the dead are dropped
    assert len(bag) == 3


def test_a_table_keeps_one_object_for_a_key():
    table: InternTable[Thing] = InternTable()
    first = Thing()
    table.add("a", first)
    assert table.get("a") is first and table.get("b") is None
    del first
    gc.collect()
    assert table.get("a") is None
    second = Thing()
    table.add("a", second)
    assert table.get("a") is second  # the reference that died before does not take it along
    table.add("b", Thing())
    table.add("c", Thing())
    assert table.get("a") is second and len(table) <= 2


def test_threads_add_while_others_list():
    bag: WeakBag[Thing] = WeakBag()
    kept: list[Thing] = []

    def add() -> None:
        for _ in range(2000):
            kept.append(Thing())
            bag.add(kept[-1])
            bag.add(Thing())

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(t.is_alive() for t in threads):
        assert all(type(x) is Thing for x in bag)
    assert {*bag} == {*kept} and len(kept) == 8000


def test_interrupts_while_functions_die_arrive(run_python):
    script = """
import signal
import sagax
class Interrupt(BaseException): pass
def interrupt(*_): raise Interrupt
signal.signal(signal.SIGALRM, interrupt)
arrived = 0
for i in range(60):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002 + i % 37 * 1e-5)
        for _ in range(20_000):
            sagax.jit(len)
    except Interrupt:
        arrived += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
print(arrived)
"""
    done = run_python("-c", script)
    assert (done.stdout.strip(), done.stderr) == ("60", "")


def test_a_value_lives_as_long_as_its_object():
    table: WeakKeyTable[Thing, Thing] = WeakKeyTable()
    key, value = Thing(), Thing()
    table[key] = value
    assert key in table and table[key] is value and table.get(key) is value
    assert table.setdefault(key, Thing()) is value
    assert table.get(Thing()) is None and Thing() not in table
    seen = weakref.ref(value)
    del value, key
    gc.collect()
    assert len(table) == 0 and table.values() == [] and seen() is None
    with pytest.raises(KeyError):
        table[Thing()]
    with pytest.raises(TypeError):
        table[3] = Thing()


def test_no_python_code_runs_where_an_object_dies():
    table: WeakKeyTable[Thing, int] = WeakKeyTable()
    keys = [Thing() for _ in range(50)]
    for i, key in enumerate(keys):
        table[key] = i
    called = []
    sys.setprofile(lambda frame, event, _: called.append(event))
    try:
        keys.clear()
    finally:
        sys.setprofile(None)
    assert len(table) == 1  # `key` is still the last one
    assert "call" not in called
