"""Test that first lines of errors exist in both languages, and say the same."""

import re
from pathlib import Path

import pytest

import sagax
import sagax.numpy as snp
from sagax import random
from sagax._src.diagnostics import headlines
from sagax._src.diagnostics.wording import ENGLISH, text_of
from sagax._src.languages.chinese import CATALOGUE
from sagax._src.languages.translation import placeholders

NAMES = sorted(ENGLISH)


def test_first_lines_are_in_the_catalogue():
    """What holds of each text of the catalogue is in languages/test_chinese.py."""
    assert set(ENGLISH.values()) <= set(CATALOGUE)


def test_each_text_is_used():
    source = Path(headlines.__file__).read_text(encoding="utf-8")
    used = {
        *re.findall(r'text_of\("(\w+)"', source),
        "needs_number",
        "needs_value",
        "needs_integer",
    }
    assert used == set(NAMES)


def first_line(function, *args, lang):
    with sagax.config.context(lang=lang), pytest.raises(Exception) as caught:
        function(*args)
    with sagax.config.context(lang=lang):  # the text is made when it is read
        return str(caught.value).partition("\n")[0]


def branch(size):
    if size > 3:
        return size
    return -size


def loop(size):
    while size > 3:
        size = size - 1
    return size


def reuse(key):
    return random.normal(key) + random.uniform(key)


def test_first_lines_of_errors():
    jitted = sagax.jit(branch)
    assert first_line(jitted, 2.0, lang="zh") == (
        "`size > 3` 的值在追踪 `branch` 时尚未知，因此 `if` 无法选择分支"
    )
    assert first_line(jitted, 2.0, lang="en") == (
        "`size > 3` is not known while `branch` is traced, so `if` cannot choose"
    )
    assert first_line(sagax.jit(loop), 2.0, lang="zh").endswith("因此 `while` 无法判断何时停止")
    zeros = sagax.jit(lambda n: snp.zeros(n))
    assert first_line(zeros, 3, lang="zh") == "`snp.zeros(n)` 需要的整数在追踪 `<lambda>` 时尚未知"
    assert "取决于掩码" in first_line(sagax.jit(lambda x: x[x > 0]), snp.ones(3), lang="zh")
    with sagax.config.context(debug_key_reuse=True):
        line = first_line(sagax.jit(reuse), random.key(0), lang="zh")
    assert line.startswith("`key` 被")


def test_the_words_of_jax_follow_in_english():
    with sagax.config.context(lang="zh"), pytest.raises(TypeError, match="Attempted boolean"):
        sagax.jit(branch)(2.0)


@pytest.mark.process
def test_the_environment_chooses(run_python):
    script = "import sagax\nprint(sagax.config.lang)"
    assert run_python("-c", script, env={"SAGAX_LANG": "zh"}).stdout == "zh\n"
    assert run_python("-c", script).stdout == "en\n"
    assert "SAGAX_LANG" in run_python("-c", script, env={"SAGAX_LANG": "xx"}, status=1).stderr


def test_operands_that_are_no_arrays():
    class Plain:
        pass

    for value, words in (
        (Plain(), "的类型是 Plain"),
        ("text", "是字符串 'text'"),
        (len, "是函数 `len`"),
    ):
        line = first_line(sagax.jit(lambda p: p), value, lang="zh")
        assert line.startswith("`p` ") and words in line


@pytest.mark.parametrize("name", NAMES)
def test_texts_take_their_facts(name):
    facts = {field: f"<{field}>" for field in placeholders(ENGLISH[name])}
    assert all(shown in text_of(name, **facts) for shown in facts.values())


def test_texts_are_filled():
    with sagax.config.context(lang="zh"):
        assert (
            text_of("key_lines", key="key", first=3, second=5)
            == "`key` 被使用了两次：第 3 行和第 5 行"
        )
    assert text_of("length", text="{x}", size=2) == "`{x}` has 2"
