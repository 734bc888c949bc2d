"""Markup to plain text: what goes, what stays, and that every span finds its way back."""

from __future__ import annotations

import csv
import gzip
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.markup import Plain, plain, plain_text

GOES = [
    # LaTeX
    (r"gains \textbf{20.39\%}", "gains 20.39%"),
    (r"ranks \underline{\textit{First}}", "ranks First"),
    (r"a ``slow manifold'' appears", "a “slow manifold” appears"),
    (r"the ``jump point\" and `one' word", 'the “jump point" and ‘one’ word'),
    (r"rate $\alpha$ in $O(\sqrt{T})$", "rate α in O(√(T))"),
    (r"regret $\widetilde{\mathcal{O}}(T^{-1/4})$", "regret O(T^(-1/4))"),
    (r"error $10^{-3}$, $x_{t+1}$, $R^2$, $L_2$", "error 10⁻³, x_(t+1), R², L₂"),
    (r"$\frac{a+b}{2}$ and \frac{1}{2\gamma}", "(a+b)/2 and 1/(2γ)"),
    (r"$\texttt{Prophet Arena}$ costs $1{,}500$", "Prophet Arena costs 1,500"),
    (r"a \emph{very \textbf{good}} idea", "a very good idea"),
    (r"{\em stop} and {\bf ×3.85}", "stop and ×3.85"),
    (r"Fig.~3, models~(LLMs), 633~GB, $4.8\sim14.2\\%$", "Fig. 3, models (LLMs), 633 GB, 4.8∼14.2%"),
    (
        r"Schr\"{o}dinger, R$\'{e}$nyi, Polyak-{\L}ojasiewicz, M\"uller",
        "Schrödinger, Rényi, Polyak-Łojasiewicz, Müller",
    ),
    (r"as shown \citep[see][p. 3]{zhou2021,li22}. Then", "as shown. Then"),
    (r"a \cite{x} b", "a b"),
    (r"at \url{https://a.org/c_d_e} or \href{https://a.org}{here}", "at https://a.org/c_d_e or here"),
    (r"\textcolor{red}{Note:} text\footnote{Code at \url{https://a.org}}.", "Note: text (Code at https://a.org)."),
    (r"\method{} is good, \eg here", "method is good, e.g. here"),
    (r"vs.\ ERM, et al.\ (2011)", "vs. ERM, et al. (2011)"),
    (r"up to \(23.4\%\) more, $\sim90\\%$", "up to 23.4% more, ∼90%"),
    (r"\begin{equation}x = 1\end{equation} holds", "x = 1 holds"),
    (r"first--second---third -- dash", "first–second—third – dash"),
    (r"\{0, 1\} and R\&D, \#1, a\_b, \$5", "{0, 1} and R&D, #1, a_b, $5"),
    (r"at $90^\circ$C, 90$^{\circ}$C", "at 90°C, 90°C"),
    (r"raw 10^{-3} and O(T^{1/2})", "raw 10⁻³ and O(T^(1/2))"),
    (r"\textbf{never closed and more", "never closed and more"),
    (r"$>$1M and 20$-$30", ">1M and 20-30"),
    # HTML
    ("p &lt; 0.05 &amp; R&#38;D &amp;lt; x", "p < 0.05 & R&D < x"),
    ("CO<sub>2</sub>, 10<sup>-3</sup>, 1<sup>st</sup>", "CO₂, 10⁻³, 1st"),
    ('<i>in vitro</i> <span class="x">here</span> &lt;b&gt;bold&lt;/b&gt;', "in vitro here bold"),
    ("one<br/>two <!-- no -->three", "one\ntwo three"),
    ("<jats:p>Text <jats:italic>a</jats:italic></jats:p>", "Text a\n"),
    # Markdown
    ("**bold**, *em*, ***both***, _it_, ~~gone~~, `x_1*y*`", "bold, em, both, it, gone, x_1*y*"),
    ("**R**einforcement **L**earning, Filt**ER**ing", "Reinforcement Learning, FiltERing"),
    ("***M**otivation-**e**nhanced Tuning*", "Motivation-enhanced Tuning"),
    ("***C****onditional adv****AN****tage*", "Conditional advANtage"),
    ("# Title\ntext\n## Part\nmore", "Title\ntext\nPart\nmore"),
    ("see [the site](https://a.org/x_(y)_z) and ![fig](a/b.png)", "see the site and fig"),
    ("<https://a.org/x_y_z>", "https://a.org/x_y_z"),
    (r"2\*3, \<eos\> dominance, \[1\]", "2*3, <eos> dominance, [1]"),
]

STAYS = [
    "$5 million and $6 million",
    "costs $5-$10, $5, $6 and $10k/$20k",
    "US$5 to A$6; lone $",
    "a<b and c>d, p < 0.05, x > 3",
    "a<b>c",
    "2*3*4 and 2**3**4, a * b * c",
    "*p < 0.05, **p < 0.01",
    "snake_case, x_1 < 3 and y > 2, __init__",
    "C#, F#, #1 and # of papers",
    "50% of R&D at AT&T; &unknown;",
    "A* search and B* trees",
    "the set {0, 1} and {x} of f[i](x), [0, 1](see below)",
    "tokens <BOS>, <text,audio> and </s>",
    "~5% and 3~5dB, /~home",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "* item\n* item\n- item",
    "https://a.org/some_file_name_y_z",
    "don't, it's, 5'' and f''(x), `",
    "<script>alert(1)</script>",
    "\\",
    "",
    "  \n\n ",
]


@pytest.mark.parametrize(("markup", "text"), GOES)
def test_markup_becomes_readable(markup: str, text: str) -> None:
    assert plain_text(markup) == text


@pytest.mark.parametrize("text", STAYS)
def test_what_is_no_markup_stays(text: str) -> None:
    found = plain(text)
    assert found.text == text
    assert [found.original(i, i + 1) for i in range(len(text))] == [(i, i + 1) for i in range(len(text))]


@pytest.mark.parametrize(
    ("markup", "wanted", "shown"),
    [
        (r"gains \textbf{20.39\%} here", "20.39%", r"20.39\%"),
        (r"gains \textbf{20.39\%} here", "gains 20", r"gains \textbf{20.39\%}"),
        (r"the $\alpha$-rate", "α", r"$\alpha$"),
        (r"the $O(\sqrt{T})$ rate", "√", r"$O(\sqrt{T})$"),
        ("is **very good** now", "very good", "very good"),
        ("is **very good** now", "good now", "**very good** now"),
        ("p &lt; 0.05 holds", "p <", "p &lt;"),
        ("CO<sub>2</sub> up", "CO₂", "CO<sub>2</sub>"),
        (r"One. ``Two.'' Three.", "“Two.”", "``Two.''"),
        ("see [the site](https://a.org) now", "the site", "the site"),
        ("see [the site](https://a.org) now", "site now", "[the site](https://a.org) now"),
    ],
)
def test_a_span_of_the_original_cuts_nothing_in_half(markup: str, wanted: str, shown: str) -> None:
    found = plain(markup)
    at = found.text.index(wanted)
    start, end = found.original(at, at + len(wanted))
    assert markup[start:end] == shown


def check(found: Plain, start: int, end: int) -> None:
    first, last = found.original(start, end)
    assert 0 <= first <= last <= len(found.markup)
    assert found.text[start:end] in plain_text(found.markup[first:last])


_SCRAPS = st.sampled_from(
    [
        *(r"\textbf{", r"\emph{", "}", "{", "$", "$$", r"\$", r"\alpha", "$x_1$", r"\frac{", r"\cite{a}", r"\(", r"\)"),
        *(
            r"\[",
            r"\]",
            "\\",
            r"\%",
            "%",
            "~",
            "--",
            "---",
            "``",
            "''",
            "`",
            "'",
            '"',
            "**",
            "*",
            "***",
            "_",
            "__",
            "~~",
        ),
        *(
            "# ",
            "&lt;",
            "&amp;",
            "&amp;lt;",
            "&",
            ";",
            "<",
            ">",
            "<i>",
            "</i>",
            "<b>",
            "<sub>",
            "</sub>",
            "<sup>2</sup>",
        ),
        *("<p>", "<br>", "[", "](https://a.b)", "](", ")", "https://a.b/c_d", "![", "word", "a", "5", "million", "3.5"),
        *(".", ",", "?", "中文", "é", "₂", "^{-3}", "^", "_{i}", r"\begin{equation}", r"\end{equation}", r"\url{", "|"),
        *(r"\footnote{", r"\'{e}", r"\n", "<!--", "-->", " ", "\n", "\n\n"),
    ]
)
_MARKUP = st.lists(st.one_of(_SCRAPS, st.text(max_size=3)), max_size=14)


@given(st.one_of(_MARKUP.map("".join), st.text(max_size=60)), st.data())
@example("$5 x $y$6", None)
def test_any_text_maps_back(markup: str, data: st.DataObject | None) -> None:
    found = plain(markup)
    size = len(found.text)
    assert len(found.starts) == len(found.ends) == size + 1
    assert list(found.starts) == sorted(found.starts)
    assert list(found.ends[:-1]) == sorted(found.ends[:-1])
    assert all(start < end for start, end in zip(found.starts[:-1], found.ends[:-1], strict=True))
    start = data.draw(st.integers(0, size)) if data else 0
    end = data.draw(st.integers(start, size)) if data else size
    if found.text == markup:
        assert found.original(start, end) == (start, end)
    else:
        check(found, start, end)


@pytest.mark.parametrize(
    "piece",
    ["*a ", "**", "_a ", "{", "\\textbf{", "$", "$a", "`", "``", "<i>", "[", "[a](", "~~a", "&lt;", "\\", "<!--"],
)
def test_hostile_text_takes_no_time(piece: str) -> None:
    started = time.process_time()
    plain(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 2


def test_real_abstracts(shared: Path) -> None:
    with gzip.open(shared / "corpora" / "iclr2026_papers.csv.gz", "rt", encoding="utf-8") as file:
        abstracts = [row["abstract"] for row in csv.DictReader(file)]
    started = time.process_time()
    found = [plain(abstract) for abstract in abstracts]
    assert time.process_time() - started < 12
    assert sum("\\textbf" in each.text or "**" in each.text or "\\%" in each.text for each in found) == 0
    for each in found[::20]:
        for start in range(0, len(each.text) - 40, 150):
            check(each, start, start + 40)
