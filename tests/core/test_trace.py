"""What is traced, where contexts are copied: by tasks, by callbacks, into other threads."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

import sagax
import sagax.numpy as snp


def three() -> list[float]:
    return (snp.ones(3) * 2 + 1).tolist()  # a tracer has no values to list


def traced_with(call):
    """Trace a function that makes `call` while it is traced."""

    @sagax.jit
    def double(x):
        call()
        return x * 2

    assert double(snp.ones(2)).tolist() == [2, 2]


def test_a_copy_of_the_context_made_while_tracing_traces_nothing_later():
    kept = []
    traced_with(lambda: kept.append(contextvars.copy_context()))
    assert kept[0].run(three) == [3, 3, 3]
    assert kept[0].run(lambda: sagax.jit(lambda x: x + 1)(snp.ones(2)).tolist()) == [2, 2]
    assert kept[0].run(lambda: float(sagax.grad(lambda x: x * x)(3.0))) == 6
    assert kept[0].run(three) == [3, 3, 3]


def test_a_copy_of_the_context_in_another_thread_traces_nothing_meanwhile():
    seen = []

    def elsewhere():
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(lambda: seen.append(three()),))
        thread.start()
        thread.join()

    traced_with(elsewhere)
    assert seen == [[3, 3, 3]]


def test_a_program_traced_in_a_copied_context_of_another_thread():
    seen = []

    def elsewhere():
        def inner():
            seen.append(sagax.jit(lambda x: x + 1)(snp.ones(2)).tolist())
            seen.append(three())

        thread = threading.Thread(target=contextvars.copy_context().run, args=(inner,))
        thread.start()
        thread.join()

    traced_with(elsewhere)
    assert seen == [[2, 2], [3, 3, 3]]


def test_a_copy_of_the_context_in_the_same_thread_is_traced_meanwhile():
    seen = []

    def elsewhere():
        found = contextvars.copy_context().run(lambda: snp.ones(3) * 2)
        seen.append(isinstance(found, sagax.core.Tracer))

    traced_with(elsewhere)
    assert seen == [True]


def test_a_task_started_while_tracing_computes():
    async def child():
        await asyncio.sleep(0)
        return three()

    async def main():
        tasks = []
        traced_with(lambda: tasks.append(asyncio.get_running_loop().create_task(child())))
        return await tasks[0]

    assert asyncio.run(main()) == [3, 3, 3]


def test_an_error_while_tracing_leaves_nothing_behind():
    kept = []

    def fail(x):
        kept.append(contextvars.copy_context())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sagax.jit(fail)(1.0)
    assert three() == kept[0].run(three) == [3, 3, 3]
