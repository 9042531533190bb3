"""Test the Chinese texts: none is missing, placeholders and source texts agree, lines fit a terminal."""

import functools
import itertools
import re
from typing import Any

import pytest

import english_texts
import sagax
import sagax.numpy as snp
from sagax._src import config
from sagax._src.diagnostics.model import Diagnostic, Label, Span, Suggestion, Trust
from sagax._src.diagnostics.render import as_json, page, plain
from sagax._src.languages import chinese
from sagax._src.languages.choice import fill, language_of, word
from sagax._src.languages.translation import placeholders, translate
from sagax._src.languages.widths import columns, wrap

normal = english_texts.normal
HAN = re.compile("[\u4e00-\u9fff]")
CATALOGUE = chinese.CATALOGUE


# Variants that conditions exclude, and arguments of other functions of the same name.
IMPOSSIBLE = {
    "`.` returns a new array",
    "`{0}` of `{1}` is static, and  has no hash",
    "the clock is read before `` has finished, since calls of compiled functions return at once",
    "64 bits are turned on after {0} was created: they stay in 32 bits. Turn them on before the first array",
    "64 bits are turned on after {0} were created: it stays in 32 bits. Turn them on before the first array",
    "private mounts",
    "read-only mounts",
    "overlay of {0}",
    "__sagax_statement__",
    "__sagax_pair__",
    "__sagax_store__",
}


@functools.cache
def known() -> set[str]:
    return set(map(normal, CATALOGUE))


def is_worded(text: str) -> bool:
    """Return whether the catalogue has a template for a text, or the text never occurs.

    A template whose placeholders differ fits where two of them are equal, too. `{}` is filled by `str.format`.
    """
    count = itertools.count()
    distinct = re.sub(r"(?<!\{)\{\w+\}", lambda _: f"{{x{next(count)}}}", text)
    forms = (text, distinct, text.replace("{{}}", "{when}"))
    return any(normal(form) in known() | IMPOSSIBLE for form in forms)


@pytest.mark.parametrize("group", english_texts.GROUPS)
def test_no_text_is_missing(group):
    found = english_texts.texts(*english_texts.GROUPS[group])
    assert len(found) > 20
    missing = {text: place for text, place in found.items() if not is_worded(text)}
    assert missing == {}


def test_a_missing_text_is_found():
    found = english_texts.texts(*english_texts.GROUPS["check"])
    assert (
        "the mask `{text}` is not known {traced_by}, and it decides the size of the result" in found
    )
    assert "leave it an array: x.astype(...)" in found  # through parameters and `or`
    sizes = ("give the largest size: size=...", "give the largest size: {get}=...")
    assert set(sizes) <= set(found)  # a condition, expanded


@pytest.mark.parametrize("english", sorted(CATALOGUE))
def test_placeholders_and_source_texts_agree(english):
    text = CATALOGUE[english]
    assert set(placeholders(english)) == set(placeholders(text))
    assert sorted(re.findall("`[^`]+`", english)) == sorted(re.findall("`[^`]+`", text))
    assert not HAN.search(english)
    assert (
        HAN.search(text)
        or len(english) == 2
        or not re.search("[a-z]{3}", re.sub(r"\{\w+\}", "", english))
    )
    assert "的的" not in text
    assert english.count("\n") == text.count("\n")


def test_no_template_is_twice_in_the_catalogue():
    parts = [
        value
        for name, value in vars(chinese).items()
        if name.isupper() and name not in ("CATALOGUE", "FRAMES")
    ]
    assert sum(map(len, parts)) == len(CATALOGUE)


@pytest.mark.parametrize("english", sorted(t for t in CATALOGUE if placeholders(t)))
def test_each_template_is_found_again(english):
    """A text that was made of a template is worded by it, or by one that is as specific."""
    values = {name: f"x{i}" for i, name in enumerate(placeholders(english))}
    worded = translate(english.format_map(values))
    assert all(value in worded for value in values.values())
    if re.search("[a-z]{3}", re.sub(r"\{\w+\}", "", english)):
        assert HAN.search(worded), worded


def test_parts_of_sentences_are_worded_and_names_are_not():
    text = (
        "the mask `x > 0` is not known while `f` is traced, and it decides the size of the result"
    )
    assert translate(text) == "掩码 `x > 0` 的值在追踪 `f` 时尚未知，而结果的大小由它决定"
    assert translate("choose with where: the shape stays; then apply jit once") == (
        "用 where 选择：形状不变；然后应用一次 jit"
    )
    # `note` and `depends on` are labels, and here expressions of the user
    assert "`note`" in translate("pass `note` as an argument: the program does not hold it")
    assert translate("nothing like this is known") == "nothing like this is known"
    assert word("note", "en") == "note"
    assert fill("{title} ({grade})", "zh", title="a", grade="b") == "a（b）"


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"SAGAX_LANG": "zh"}, "zh"),
        ({"SAGAX_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "de_DE.UTF-8"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),  # as POSIX says, LC_ALL comes first
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
    ],
)
def test_the_environment_chooses_the_language(environ, language):
    assert language_of(environ) == language
    assert config.from_environment(environ).lang == language


def test_columns_and_wrapping():
    assert columns("abc") == 3
    assert columns("中文 a，") == 8
    text = (
        "保持形状不变：用 jnp.where(mask, x, fill) 代替 x[mask]，或用 .at[mask].set(v)，这样大小就不取决于数值。"
        * 3
    )
    lines = wrap(text, 40, "  ")
    assert all(columns(line) <= 40 for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert not any(line.strip()[0] in "，。：；）、" or line[-1] in "（“" for line in lines)
    assert any("jnp.where(mask," in line for line in lines)
    assert wrap("all words are short here", 10) == ["all words", "are short", "here"]


def mistake() -> Diagnostic:
    span = Span("nowhere.py", 3, 4, 3, 9, "loss", ("    x > 0",))
    return Diagnostic(
        "SX0102",
        "TracerBoolConversionError",
        "Attempted boolean conversion of JAX Tracer: and more",
        labels=(Label(span, primary=True),),
        depends=("x", "y"),
        function="loss",
        context=("tracing `loss` for jit", "tracing `body` in scan"),
        notes=("first used by the same expression, in the round before",),
        suggestions=(
            Suggestion("where", "choose with where, which computes both sides", trust=Trust.PROVEN,
                       held=("same results of `loss`",)),
            Suggestion("static", "mark `x` as static: it is no array", allows=True, trust=Trust.SUGGESTED),
        ),
        headline="`x > 0` is not known while `loss` is traced, so `if` cannot choose",
    )  # fmt: skip


def test_an_explanation_in_chinese():
    with sagax.config.context(lang="zh"):
        lines = page(mistake()).splitlines()
        short = plain(mistake())
    assert all(columns(line) <= 79 for line in lines)
    text = "\n".join(lines)
    assert lines[0].startswith(
        "error[SX0102] TracerBoolConversionError: `x > 0` 的值在追踪 `loss` 时"
    )
    assert "Attempted boolean conversion of JAX Tracer: and more" in text
    assert "取决于：x, y（loss 的参数）" in text
    assert "发生在：为 jit 追踪 `loss`，在 scan 中追踪 `body`" in text
    assert "说明：首次使用是同一个表达式，在上一轮循环中" in text
    assert "修改：用 where 选择，两侧都会计算（已验证）" in text
    assert "已比较：`loss` 的结果相同" in text
    assert "放行：把 `x` 标记为静态：它不是数组（未尝试）" in text
    assert short.startswith("`x > 0` 的值在追踪 `loss` 时尚未知")
    assert "choose with where, which computes both sides (proven)" in page(mistake())


def fails(x: Any) -> Any:
    raise KeyError(x.shape)


def test_notes_on_exceptions_of_users():
    with sagax.config.context(lang="zh"), pytest.raises(KeyError) as caught:
        sagax.jit(sagax.grad(fails))(1.0)
    assert caught.value.__notes__ == ["发生在：为 jit 追踪 `fails`，为 grad 追踪 `fails`"]
    with pytest.raises(KeyError) as caught:
        sagax.jit(sagax.grad(fails))(1.0)
    assert caught.value.__notes__ == ["while tracing `fails` for jit, tracing `fails` for grad"]


def test_json_is_english_in_each_language():
    with sagax.config.context(lang="zh"):
        chosen = as_json(mistake())
    assert chosen == as_json(mistake())
    assert chosen["suggestions"][0]["grade"] == "proven"


def test_a_message_without_a_first_line_gets_one():
    wrong: Any = "a"
    with pytest.raises(TypeError) as caught:
        sagax.grad(lambda x: x, argnums=wrong)(snp.ones(3))
    with sagax.config.context(lang="zh"):  # the text is made when it is read
        first, second, *_ = str(caught.value).splitlines()
    assert first.startswith("grad：参数 argnums 必须是")
    assert second == str(caught.value).splitlines()[0]
    assert second.startswith("grad: argument argnums must be")


@pytest.mark.process
def test_commands_in_chinese(run_python, tmp_path):
    script = tmp_path / "bad.py"
    script.write_text(
        "import sagax\n\n\n@sagax.jit\ndef f(x):\n    return 1 if x > 0 else 2\n\n\nf(2.0)\n"
    )
    zh = {"SAGAX_LANG": "zh"}
    shown = run_python("-m", "sagax", "--help", env=zh).stdout
    assert "用法：" in shown and "退出状态：" in shown and "查明设备为何缺失" in shown
    assert max(map(columns, shown.splitlines())) <= 80
    found = run_python("-m", "sagax", "check", script, env=zh, status=1)
    assert "SX0102 TracerBoolConversionError: `x > 0` 的值在追踪 `f` 时尚未知" in found.stdout
    assert "发现 1 个问题" in found.stderr
    data = run_python("-m", "sagax", "check", "--output-format", "json", script, env=zh, status=1)
    assert "is not known while `f` is traced" in data.stdout
    by_locale = {"LANG": "zh_CN.UTF-8", "LC_ALL": None, "LC_MESSAGES": None}
    assert "布尔掩码" in run_python("-m", "sagax", "explain", "SX0105", env=by_locale).stdout
    english = {**by_locale, "SAGAX_LANG": "en"}
    assert "usage: sagax" in run_python("-m", "sagax", "--help", env=english).stdout


@pytest.mark.process
def test_english_loads_no_catalogue(run_python):
    script = "import sys, sagax\nassert not [m for m in sys.modules if m.startswith('sagax._src.languages.c') and 'choice' not in m]"
    run_python("-c", script, env={"SAGAX_LANG": "en"})
