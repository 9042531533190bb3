"""Test the Chinese texts: none is missing, placeholders and source texts agree, lines fit a terminal."""

import functools
import io
import itertools
import re
from collections import OrderedDict, defaultdict, namedtuple
from pathlib import Path
from typing import Any

import pytest

import english_texts
import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._plan import search, timing
from sagax._plan import warnings as plan_warnings
from sagax._plan.failures import plan_failures
from sagax._plan.hlo import SourceLine
from sagax._report import compare
from sagax._report import page as page_of_report
from sagax._src import config, option_kinds
from sagax._src.api import compile_log
from sagax._src.diagnostics import loop_bars, status_line, wording
from sagax._src.diagnostics.model import Diagnostic, Label, Span, Suggestion, Trust
from sagax._src.diagnostics.render import as_json, page, plain
from sagax._src.languages import chinese, choice
from sagax._src.languages.choice import fill, language_of, word
from sagax._src.languages.translation import placeholders, translate, translate_message
from sagax._src.languages.widths import columns, cut, wrap
from sagax._src.runtime import compilation_cache, progress
from sagax.sharding import PartitionSpec as P

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
    "unreduced and unreduced cannot have common mesh axes",
}

# Python's own words, and what only a bug of sagax says: these are English in each language.
ENGLISH_ALONE = {
    "module {package} has no attribute {name}",
    "{__name__} object has no attribute {name}",
    "module 'jax' (sagax {__version__} as jax) has no attribute {name}",
    "module 'sagax.profiler' has no attribute {name}",
    "{name} captured constants",
    "constants in a jaxpr of {name}",
    "a jaxpr captured values while it was discharged",
    "a scan body captured values while it was lowered",
    "a staged rule is run with its captured values",
}


@functools.cache
def english_alone() -> set[str]:
    return set(map(normal, ENGLISH_ALONE))


@functools.cache
def known() -> set[str]:
    return set(map(normal, [*CATALOGUE, *chinese.FRAMES]))


def is_worded(text: str) -> bool:
    """Return whether the catalogue has a template for a text, or the text never occurs.

    A template whose placeholders differ fits where two of them are equal, too. `{}` is filled by `str.format`.
    """
    count = itertools.count()
    distinct = re.sub(r"(?<!\{)\{\w+\}", lambda _: f"{{x{next(count)}}}", text)
    filled = re.sub(r"\{\{(\w+)\}\}", r"{\1}", text)  # of a template, whose facts come later
    forms = (text, distinct, filled, text.replace("{{}}", "{when}"))
    return any(normal(form) in known() | IMPOSSIBLE for form in forms)


@pytest.mark.parametrize("group", english_texts.GROUPS)
def test_no_text_is_missing(group):
    found = english_texts.texts(*english_texts.GROUPS[group])
    assert len(found) > 20
    missing = {text: place for text, place in found.items() if not is_worded(text)}
    assert missing == {}


def test_no_message_of_an_exception_or_warning_is_missing():
    """Of a message "dot_general: the sizes differ", what follows the name is looked up as well."""
    plain = {text: place for text, (place, _) in english_texts.plain_exceptions().items()}
    found = {**plain, **english_texts.messages()}
    assert len(found) > 1000
    missing = {
        text: place
        for text, place in found.items()
        if normal(text) not in english_alone()
        and not is_worded(text)
        and not is_worded(re.sub(r"^(?:[\w.]*\{function\}|[\w.]+): ", "", text))
    }
    assert missing == {}


def test_each_exception_of_python_gets_a_note():
    """`raise TypeError("...")` shows its Chinese text only by `worded`, and only if the catalogue has it."""
    found = english_texts.plain_exceptions()
    assert len(found) > 100
    assert "tree.dataclass: a class is needed; got {cls}, an instance of {__name__}." in found
    without = {
        text: place
        for text, (place, worded) in found.items()
        if not worded and normal(text) not in english_alone()
    }
    assert without == {}


def test_a_plain_exception_without_a_note_is_found(tmp_path):
    """Also one with a class that a condition chooses; words of a loop are expanded, names of arguments are not."""
    source = tmp_path / "module.py"
    source.write_text(
        "def f(x, size, lower, upper):\n"
        "    for what, found in (('contracting', 1), ('batch', 2)):\n"
        "        raise (TypeError if x else ValueError)(f'{what} dimensions differ')\n"
        "    for name, bound in (('lower', lower), ('upper', upper)):\n"
        "        raise worded(ValueError(f'{name} must be an integer'))\n"
    )
    found = english_texts.plain_exceptions([english_texts._Module(source)])
    assert {text: worded for text, (_, worded) in found.items()} == {
        "contracting dimensions differ": False,
        "batch dimensions differ": False,
        "{name} must be an integer": True,
    }


def test_messages_are_collected():
    found = english_texts.messages()
    assert "dimension {axis} must have the size of the axes {names}, or a multiple" in found
    wanted = {
        "primals and tangents differ in structure": "_src/api/derivatives.py",  # through structure_error
        "Casting complex values to real discards the imaginary part": "_src/core/dtypes.py",  # a warning
        "unbound axis name: {name}; no named axis is in scope": "_src/core/trace.py",  # by super().__init__
        "KDEs are not the same dimensionality": "scipy/stats/_kde.py",
    }
    assert {text: found[text].partition(":")[0] for text in wanted} == wanted


def test_a_missing_text_is_found():
    found = english_texts.texts(*english_texts.GROUPS["check"])
    assert (
        "the mask `{text}` is not known {traced_by}, and it decides the size of the result" in found
    )
    assert "leave it an array: x.astype(...)" in found  # through parameters and `or`
    sizes = ("give the largest size: size=...", "give the largest size: {get}=...")
    assert set(sizes) <= set(found)  # a condition, expanded


@pytest.mark.parametrize("english", sorted({**CATALOGUE, **chinese.FRAMES}))
def test_placeholders_and_source_texts_agree(english):
    text = {**chinese.FRAMES, **CATALOGUE}[english]
    assert set(placeholders(english)) == set(placeholders(text))
    quoted = re.compile(r"(`+)([^`]+)\1")
    assert sorted(quoted.findall(english)) == sorted(quoted.findall(text))
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
        if name.isupper() and name not in ("CATALOGUE", "FRAMES", "LABEL_FRAMES", "PAGES", "TABLES")
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
    assert translate_message(
        "race: program (0, 1) of add writes 3 elements of o that program (1, 1) of add wrote, and the order of programs "
        "along parallel axes (0) is not defined"
    ) == "竞争：add 的程序 (0, 1) 写入 o 的 3 个元素，add 的程序 (1, 1) 也写入了它们，而沿并行轴（0）的程序之间没有确定的顺序"  # fmt: skip
    assert translate_message("roll: shapes (2,) and (3,) do not fit") == (
        "roll：形状 (2,) 和 (3,) 不符"
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


def test_the_line_that_tells_how_far_a_program_is():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with sagax.config.context(lang="zh"):
        teller = progress._Teller(Terminal(), 1.0, "step")
        teller.seconds = {"tracing": 1.25, "lowering": 0.5, "compiling": 2.0}
        took = teller._took()
        teller.seconds = {"compiling": 2.0}
        compiled = teller._took()
        run = loop_bars._Run("scan of f", 100, 100, 0.0)
        run.done, run.requested_at = 50, 2.0
        shown, ended = run.text(2.0, alone=False), run.summary(4.0)
    assert re.fullmatch(r"step 用了 \d\.\d 秒：追踪 1\.2，降级 0\.5，编译 2\.0 秒", took)
    assert re.fullmatch(r"编译 step 用了 \d\.\d 秒", compiled)
    assert shown == "scan of f  50% 50/100，0:02，剩余 0:02"
    assert ended == "scan of f 用了 4.0 秒：50 次迭代，12 次/秒"


def test_a_line_of_wide_characters_is_replaced_whole():
    stream = io.StringIO()
    line = status_line.StatusLine(stream)
    line.write("正在编译")  # eight columns
    line.write("ab")
    line.write("c", "\n")
    assert stream.getvalue() == "\r正在编译\rab      \rc \n"
    assert cut("正在编译", 5) == "正在"
    assert cut("abc", 2) == "ab"
    assert cut("中文", 9) == "中文"


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


def chinese_note(call: Any) -> str:
    """Return the note of the error that a call raises in Chinese; in English there is none."""
    with sagax.config.context(lang="zh"), pytest.raises(ValueError) as caught:
        call()
    with pytest.raises(ValueError) as plain_error:
        call()
    assert str(caught.value) == str(plain_error.value)
    assert not hasattr(plain_error.value, "__notes__")
    (note,) = caught.value.__notes__
    return note


def test_differences_of_trees():
    def merge(left: Any, right: Any) -> Any:
        return lambda: sagax.tree.map(lambda x, y: x, left, right)

    text = chinese_note(merge({"a": 1, "b": 2}, {"a": 1, "c": 2}))
    assert text.splitlines() == [
        "tree_map：rest[0] 的结构与 tree 不同",
        "  tree 是键为 'a', 'b' 的 dict，而 rest[0] 是键为 'a', 'c' 的 dict。键不同：'b' 只在 tree 中，'c' 只在 rest[0] 中。",
        "rest 中的每棵树都需要与 tree 相同的容器；只有在 tree 有叶子的地方，它才可以继续向下。",
    ]
    point = namedtuple("point", "x y")
    pairs: list[tuple[Any, Any]] = [
        ([1, 2], (1, 2)),
        ([1], [1, 2]),
        ({"a": 1}, {}),
        ({"a": 1}, OrderedDict(a=1)),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (defaultdict(int, a=1), defaultdict(list, a=1)),
        ({"a": None}, {"a": 1}),
        ((1, 2), point(1, 2)),
        (point(1, 2), 3),
        ([1], {1}),
        ([[1]] * 5, [(1,)] * 5),
    ]
    for left, right in pairs:
        for line in chinese_note(merge(left, right)).splitlines():
            words = line.replace("x is None", "")  # a piece of source
            assert HAN.search(words) and not re.search("\\b(is|the|are|of|with|only)\\b", words), (
                line
            )


def test_trees_that_cannot_be_flattened():
    nested: list = []
    nested.append(nested)
    assert "包含它自己" in chinese_note(lambda: sagax.tree.leaves(nested))
    assert "的键不能排序：1 (int), 'a' (str)" in chinese_note(
        lambda: sagax.tree.leaves({1: 2, "a": 3})
    )


PLAIN: list[tuple[Any, str]] = [
    (lambda: sagax.tree_util.tree_reduce(max, []), "tree_reduce：树没有叶子，也没有给出初始值"),
    (lambda: sagax.tree.leaves([1], is_leaf=1), "tree_leaves：is_leaf 必须是从子树到 bool 的函数"),
    (lambda: sagax.config.update("lan", "zh"), "sagax 没有选项 'lan'：是否想用 'lang'？"),
    (lambda: sagax.config.update("lang", "fr"), "选项 'lang' 必须是 'en', 'zh' 之一"),
    (lambda: len(snp.ones(())), "对没有长度的对象使用 len()"),
    (lambda: snp.ones(3).permute, "对象没有属性 'permute'；请使用 x.transpose(axes)"),
    (lambda: snp.cat, "模块 'sagax.numpy' 没有属性 'cat'；请使用 snp.concatenate(arrays, axis)"),
    (lambda: sagax.tree_util.register_dataclass(int, ["a"], None), "int 给出了 data_fields，而没有"),
    (lambda: option_kinds.Kind("an int"), "Kind() 需要字段 'check'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "chinese_text"), PLAIN, ids=[text for _, text in PLAIN])
def test_exceptions_of_python(call, chinese_text):
    """The class and the English message are the same in each language; the note comes below."""
    with pytest.raises(Exception) as english:
        call()
    with sagax.config.context(lang="zh"), pytest.raises(Exception) as caught:
        call()
    assert type(caught.value).__module__ == "builtins"
    assert type(caught.value) is type(english.value)
    assert str(caught.value) == str(english.value)
    (note,) = caught.value.__notes__
    assert chinese_text in note and not HAN.search(str(caught.value))
    assert not hasattr(english.value, "__notes__")


def test_exceptions_of_python_before_the_settings_are_read(monkeypatch):
    """What `config` raises while it reads the environment is worded by the environment."""
    monkeypatch.setattr(choice, "current_language", lambda: language_of({"SAGAX_LANG": "zh"}))
    error = choice.worded(ValueError("the option 'lang' must be an int; got 1.5 of type float"))
    assert error.__notes__ == ["选项 'lang' 必须是整数；得到的是类型 float 的 1.5"]
    key = choice.worded(KeyError("dimension variable 'b' has no value; there are values for: none"))
    assert key.__notes__ == ["维度变量 'b' 没有值；没有任何变量有值"]
    assert not hasattr(choice.worded(ValueError("nothing like this is known")), "__notes__")


def test_words_of_loops_are_in_the_sentence():
    with sagax.config.context(lang="zh"):
        with pytest.raises(ValueError) as caught:
            lax.dot_general(snp.ones((2, 3)), snp.ones((3, 2)), (((0,), (0,)), ((), ())))
        first = str(caught.value).splitlines()[0]  # the text is made when it is read
    assert "要求缩并维度的大小相同" in first


@pytest.mark.parametrize(
    ("text", "options"),
    [
        *((text, {}) for text in ("b, 2c", "b//2", "b%2", "(b", "b +", "floor(b)", "mod(b, 0)", "b^x", "b^1.5", "1.5", "_")),
        *((text, {}) for text in ("b, ...", "max(b c)", "max(b, c", "b, )", "b >= 1")),
        *(("b", {"constraints": [text]}) for text in ("b > 2", "b ! 2", "b >= 2 >= 1", "b <= 0")),
        *((text, {"like": (3,)}) for text in ("4", "_, _", "3, 4, ...", "..., 2")),
    ],
)  # fmt: skip
def test_mistakes_in_symbolic_shapes(text, options):
    with sagax.config.context(lang="zh"):
        with pytest.raises(ValueError) as caught:
            sagax.export.symbolic_shape(text, **options)
        first = str(caught.value).splitlines()[0]
    names = re.sub(
        r"`[^`]*`|'[^']*'|like=|SymbolicScope|(floordiv|mod)\(x, y\)|floordiv, max, min, mod|max|mod",
        "",
        first,
    )
    assert HAN.search(names) and not re.search("[a-z]{2}", names), first


def test_messages_with_several_lines():
    with sagax.config.context(lang="zh"):
        with pytest.raises(TypeError) as caught:
            lax.scan(lambda c, x: ((c, c), x), 1.0, snp.ones(3))
        first, second, third, *_ = str(caught.value).splitlines()
        with pytest.raises(TypeError) as caught:
            lax.dot_general(snp.ones((2, 3)), snp.ones((3, 2)), (((0,), (0,)), ((), ())))
        assert str(caught.value).splitlines()[1] == "  应为：相等的大小"
    assert first.endswith(
        "：scan 的循环体函数，其携带值的输入与输出的 pytree 结构必须相同，而它们不同"
    )
    assert second == "  携带值的输入是叶子，而携带值的输出是长度为 2 的元组。"
    assert "scan body function carry input" in third


def test_warnings_say_both_the_english_first():
    call = functools.partial(snp.zeros, 3, dtype="float64")
    with sagax.config.context(x64=False, explicit_x64_dtypes="warn"):
        with pytest.warns(UserWarning, match="Explicitly requested dtype float64") as english:
            call()
        with sagax.config.context(lang="zh"), pytest.warns(UserWarning) as both:
            call()
    first, second = str(both[0].message).splitlines()
    assert first == str(english[0].message)
    assert second.startswith("zeros 中明确请求的数据类型 float64 不可用，将截断为 float32")
    assert wording.english_of(both[0].message) == first  # which is what `explain` reads
    assert wording.english_of(english[0].message) == first


def test_a_warning_of_donated_arguments():
    with sagax.config.context(lang="zh"), pytest.warns(UserWarning) as caught:
        sagax.jit(lambda x, y: x.sum(), donate_argnums=(0, 1))(snp.ones(3), snp.ones((2, 2)))
    lines = str(caught[0].message).splitlines()
    assert lines[5:] == [
        "  x, float32[3]：没有与它形状和数据类型相同的结果；最接近的 result 是 float32[]（形状不同）",
        "  y, float32[2,2]：`<lambda>` 没有使用它",
        "结果会使用形状和数据类型与它相同的参数的内存；请不要捐赠其他参数。",
    ]


def test_a_page_of_a_report():
    with sagax.config.context(lang="zh"):
        text = page_of_report.render_page([], "a.py", 1.5)
        compared = compare.table(
            {"f": compare.Totals(2, 1.0, 1, 0.5)}, {"f": compare.Totals(2, 2.0, 1, 0.5)}
        )
    assert '<html lang="zh">' in text
    assert "0 个编译后的函数；程序用了 1.50 s，其中编译 0 ms，运行编译后的函数 0 ms。" in text
    assert "are measured" not in text
    head, row, last = compared.splitlines()
    assert head.split() == ["函数", "一次运行", "编译", "编译次数", "合计"]
    assert columns(head[: head.index("编译次数")]) == row.index("1 -> 1")
    assert last.startswith("全部")


def test_the_table_of_compilations(monkeypatch):
    monkeypatch.setattr(compile_log, "_known", OrderedDict())

    def step(x: Any, n: int) -> Any:
        return x + n

    step_jit = sagax.jit(step, static_argnums=1)
    for n in range(5):
        step_jit(snp.ones(2), n)
    with sagax.config.context(lang="zh"):
        head, row, advice = sagax.explain_compiles().splitlines()
    assert head.split() == [
        "函数",
        "次数",
        "追踪/秒",
        "降级/秒",
        "XLA/秒",
        "取自缓存",
        "定义位置",
        "变化",
    ]
    assert columns(head[: head.index("次数")]) == row.index("5 ")
    assert row.endswith("（静态）：0，1，2，……（共 5 个）")
    assert advice.startswith("对 step 的建议：")
    assert advice.endswith("请让它被追踪")
    english = sagax.explain_compiles()
    assert english.startswith("function ") and not HAN.search(english)


def english_words(text: str, *names: str) -> list[str]:
    """Return the words of a text that are neither names nor in backquotes, parentheses of code or units."""
    for name in names:
        text = text.replace(name, "")
    return re.findall(r"\b[a-z]{3,}\b", text)


def test_reports_of_plans(tmp_path):
    struct = sagax.ShapeDtypeStruct((64, 48), "float32")

    def product(x: Any) -> Any:
        return x @ x.T

    found = sagax.plan(product, struct, mesh={"data": 8}, in_shardings=P("data"), hardware="h100-8")
    english, data = str(found), found.json()
    with sagax.config.context(lang="zh"):
        text = str(found)
        found.page(str(tmp_path / "plan.html"))
        assert found.json() == data
    assert not HAN.search(english)
    assert text.startswith("product，在 h100-8 上：8 个设备（data 8）；均按一个设备计")
    assert all(columns(line) <= 80 for line in text.splitlines())
    assert len(text.splitlines()) == len(english.splitlines())
    names = ("product", "data", "test_chinese.py", "all-gather", "float", "transpose")
    assert english_words(text, *names) == []
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert '<html lang="zh">' in page and "完全不重叠时的时间线" in page


def test_warnings_and_searches_of_plans():
    place = SourceLine("model.py", 3)
    idle = "nothing is cut along 'x': its 8 devices all do the same work"
    caution = plan_warnings.Warning("loop", idle, "count them apart", place, 0)
    mesh = {"data": 8, "tensor": 4}
    wide = "excluded: x has 60 rows, which 8 devices do not divide"
    tried = search.Search([search.Candidate(mesh, None, None, wide)])
    with sagax.config.context(lang="zh"):
        assert str(caution) == (
            "没有沿 'x' 切分任何东西：它的 8 个设备都做同样的工作，位于 model.py:3；请另行统计"
        )
        head, first, why = str(tried).splitlines()
        failures = str(plan_failures(4096, save_seconds=30.0, step_seconds=2.0))
    assert head.split() == ["网格", "最好情形", "最坏情形", "内存"]
    assert (first, why) == ("data 8, tensor 4", "  已排除：x 有 60 行，不能被 8 个设备整除")
    assert failures.startswith("4,096 个设备平均每") and not english_words(failures, "Young", "min")
    for resource in (timing.COMPUTE, timing.MEMORY, timing.LINK, timing.NETWORK):
        assert not re.search("[a-z]{3}", translate(f"1.5 s more of {resource}"))


@pytest.mark.parametrize(
    ("reason", "chinese_reason"),
    [
        ("there is no folder for it", "没有用于它的文件夹"),
        ("the cache on disk needs owners and modes of files", "磁盘缓存需要文件的所有者和权限"),
        ("the cache on disk is off", "磁盘缓存已关闭"),
    ],
)
def test_the_cache_tells_why_it_is_off(monkeypatch, reason, chinese_reason):
    monkeypatch.setattr(compilation_cache, "_select_store", lambda *_, **__: (None, reason))
    assert word(compilation_cache.report(), "zh") == f"没有保存已编译的程序：{chinese_reason}。"
    assert reason in Path(compilation_cache.__file__).read_text(encoding="utf-8")


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
    wrong = run_python("-m", "sagax", "check", "--nothing", script, env=zh, status=2).stderr
    assert "错误：无法识别的参数：--nothing" in wrong
    wrong = run_python(
        "-m", "sagax", "check", "--output-format", "x", script, env=zh, status=2
    ).stderr
    assert "错误：参数 --output-format：'x' 不是有效的选择（可选：" in wrong
    assert "错误：缺少必需的参数：" in run_python("-m", "sagax", "explain", env=zh, status=2).stderr
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
