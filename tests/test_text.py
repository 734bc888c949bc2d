"""Sentences, words, stems, what a question is about, and names."""

from __future__ import annotations

import csv
import gzip
import sqlite3
import threading
import time
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.markup import plain_text
from rag.text import has_cjk, informative, named_terms, sentences, stems, tokens


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


# A bar marks where a sentence ends; every other stop must not end one.
BOUNDARIES = [
    "It works.|We show it.|Really?|Yes!|Good.",
    "We use e.g. GPT-4 and, i.e. the best one, vs. BERT.|Then it ends.",
    "Smith et al. (2020) and Dr. Jones et al. found it.|The rest is open.",
    "As Lee et al. We is how a new sentence starts.".replace("al. We", "al.|We"),
    "See Fig. 3, Eq. (2), Sec. 4.1 and Tab. B for No. 5 of vol. 3, p. 12.|Next.",
    "The answer is no.|We differ.",
    "It gains 0.5 points with v1.5 and Qwen2.5-7B in 2024.|However, 3.2 % are lost.",
    "Made in the U.S. Senate.|He lives in the U.S.|The end.",
    "J. R. Smith and vitamin C.|We add E. coli.",
    "Wait...|Then it ran … and ran… so on.|Good…|Next.",
    "“It works.”|She said “Go!” and left.|(It failed.)|We stop (see a. B is c) here.",
    "We ask: 1. How? And 2. why not.".replace("? And", "?|And"),
    "approx. 5 mg, resp. 3 mg, w.r.t. time, etc.|The rest, etc. and more.",
    "Fast inference.|vLLM is fast.|iPhone users.|p53 binds.",
    "sloppy text ends here.|however it goes on.|we stop.",
    "See https://a.org/b.c?d=e.f for it.|It is at https://a.org.|The code is free.",
    "A missing space.|We go on.|This too.".replace(".|We", ".|We"),
    "We gain 5 %.|[3] is cited.".replace(".|[3] is", ". [3]|It is"),
    "这是第一句。|这是第二句！|真的吗？|“好。”|完。",
    "模型很好。|It works.|效果提升了 3.5%。|GPT-4.|它很好",
    "彼は「行く。」と言った。|終わり。",
    "Is it (is it? yes) so?|Yes.",
    "We note: (i) it works.|(ii) it holds.",
    "It is 3 p.m. The end.".replace("p.m. ", "p.m.|"),
]


@pytest.mark.parametrize("marked", BOUNDARIES)
def test_sentences_end_where_they_end(marked: str) -> None:
    parts = marked.split("|")
    joined = parts[0]
    for before, after in pairwise(parts):
        joined += ("" if before[-1] in "。！？" or has_cjk(after[:1]) else " ") + after
    assert split(joined) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One\n\nTwo\n \nThree", ["One", "Two", "Three"]),
        ("A line that\nwraps. Next.", ["A line that\nwraps.", "Next."]),
        ("Points:\n- first one\n- second. More", ["Points:", "- first one", "- second.", "More"]),
        ("Points:\n1. First. More\n2) Second\n(3) Third", ["Points:", "1. First.", "More", "2) Second", "(3) Third"]),
        ("• one • two", ["• one", "• two"]),
        ("| a. B | c |\n|---|---|\n| 1. A | 2 |\nEnd.", ["| a. B | c |", "|---|---|", "| 1. A | 2 |", "End."]),
        ("Results\nWe find that it works well.", ["Results", "We find that it works well."]),
        ("It works. . Next", ["It works. .", "Next"]),
        ("", []),
        (" \n ", []),
        ("...", ["..."]),
        ("no stop at all", ["no stop at all"]),
    ],
)
def test_lists_tables_and_blank_lines(text: str, parts: list[str]) -> None:
    assert split(text) == parts


_TEXT = st.lists(
    st.one_of(
        st.sampled_from(
            [
                ". ",
                "? ",
                "...",
                "。",
                "e.g. ",
                "al. ",
                "(",
                ")",
                "\n",
                "\n\n",
                "- ",
                "1. ",
                "|",
                "A",
                "we ",
                "“",
                "”",
                "5",
                " ",
            ]
        ),
        st.text(max_size=4),
    ),
    max_size=20,
).map("".join)


@given(_TEXT)
def test_sentences_never_overlap_and_lose_nothing(text: str) -> None:
    spans = sentences(text)
    ends = 0
    for span in spans:
        assert not text[ends : span.start].strip()
        piece = text[span.start : span.end]
        assert piece
        assert piece == piece.strip()
        ends = span.end
    assert not text[ends:].strip()


@given(_TEXT)
def test_tokens_are_where_they_say(text: str) -> None:
    found = tokens(text)
    assert all(text[token.start : token.end] == token.text for token in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert set(named_terms(text)) <= set(found)


@pytest.mark.parametrize(
    "words",
    [
        ["IL-6", "C2Seg", "β-amyloid", "GPT-4o", "C++", "C#", "don't", "a_b", "1,500", "v1.5", "R&D", "k-NN"],
        ["Qwen2.5-7B", "pass@1", "COVID‑19", "CO₂", "naïve"],
    ],
)
def test_tokens_keep_what_belongs_together(words: list[str]) -> None:
    assert [token.text for token in tokens(" ".join(words))] == words


def test_tokens_split_what_does_not() -> None:
    found = [token.text for token in tokens("GPT-4's 使用GPT-4模型 end.We A/B")]
    assert found == ["GPT-4", "使用", "GPT-4", "模型", "end", "We", "A", "B"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("CO₂", "CO2"),
        ("Poincaré naïve", "poincare NAIVE"),
        ("models’ model's", "model model"),
        ("IL-6", "il 6"),
        ("ﬁne Ｆｕｌｌ", "fine full"),
        ("running", "runs"),
    ],
)
def test_the_same_word_has_the_same_stem(a: str, b: str) -> None:
    assert stems(a) == stems(b)


def test_stems_of_chinese_are_pairs_of_characters() -> None:
    assert stems("使用GPT-4模型很") == ["使用", "gpt", "4", "模型", "型很"]


def test_stems_are_those_of_the_full_text_index() -> None:
    text = "Running IL-6, CO2 and C2Seg: naïve Poincaré generalizations; snake_case 1,500 v1.5 hyper-parameters' flies"
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5(a, tokenize='porter unicode61 remove_diacritics 2')")
    database.execute("create virtual table v using fts5vocab(t, instance)")
    database.execute("insert into t values (?)", (text,))
    assert stems(text) == [row[0] for row in database.execute("select term from v order by offset")]


def test_stems_from_many_threads_agree() -> None:
    expected = stems("generalizations of relational conditioning")
    wrong: list[list[str]] = []

    def work() -> None:
        for _ in range(300):
            found = stems("generalizations of relational conditioning")
            if found != expected:
                wrong.append(found)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("What is the main contribution of IL-6?", "il 6"),
        ("How many papers use GPT-4?", "gpt 4"),
        ("Which paper proposes a new optimiser?", "propos new optimis"),
        ("Please tell me about C2Seg.", "c2seg"),
        ("According to the authors, does the paper say that RLHF helps?", "rlhf help"),
        ("What do the authors propose for pruning?", "propos prune"),
        ("Is there any work on protein folding in these abstracts?", "work protein fold"),
        ("I would like to know how large the benchmark is", "benchmark"),
        ("Summarize diffusion and diffusion models", "diffus model"),
        ("Which of these papers deal with fairness?", "fair"),
        ("Give me a summary of the paper about LoRA-Mixer", "lora mixer"),
        ("この論文の手法は何ですか", "手法"),
        ("中国的数据", "数据"),
        ("大语言模型使用了多少数据？", "大语 语言 言模 模型 数据"),
        ("它用了多少GPT-4数据？", "gpt 4 数据"),
        ("Welche Methode wird für die Segmentierung verwendet?", "method segmentierung verwendet"),
        ("hello", ""),
        ("", ""),
        ("🙂🙂", ""),
        ("What is it about?", ""),
    ],
)
def test_informative_words_of_a_question(question: str, content: str) -> None:
    assert informative(question) == content.split()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We propose LoRA and Adam on ImageNet-1K, with IL-6.", "LoRA Adam ImageNet-1K IL-6"),
        ("Fine-tuning works. However, the p53 gene binds mRNA.", "p53 mRNA"),
        ("Models of the 16-layer, 4-bit, 7B, 20ms and 10x kind", ""),
        ("use β-amyloid, k-NN, LLMs, C++ and Qwen2.5-7B-Instruct", "β-amyloid k-NN LLMs C++ Qwen2.5-7B-Instruct"),
        ("RESULTS: in Figure 3 of May 2020 we see BERT", "BERT"),
        ("“Quoted start” and (Bracketed start) are plain", ""),
        ("A Survey of Deep Learning Methods with GPT-4 Models", "GPT-4"),
        ("the code is at https://github.com/Foo/BarBaz-2", ""),
        ("使用GPT-4模型", "GPT-4"),
        ("", ""),
    ],
)
def test_named_terms(text: str, names: str) -> None:
    assert [token.text for token in named_terms(text)] == names.split()


def test_has_cjk() -> None:
    assert has_cjk("模型")
    assert has_cjk("ひらがな 한국어")
    assert not has_cjk("naïve α-β “quotes”…")


@pytest.mark.parametrize("piece", ["(", "a. ", "\n", "A", "e.g. ", "1. ", "| ", "? ", "。", "'", "-", "a_", ".", "“"])
def test_hostile_text_takes_no_time(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    started = time.process_time()
    sentences(text)
    named_terms(text)
    informative(text)
    assert time.process_time() - started < 4


def test_real_abstracts(shared: Path) -> None:
    with gzip.open(shared / "corpora" / "iclr2026_papers.csv.gz", "rt", encoding="utf-8") as file:
        texts = [plain_text(row["abstract"]) for row in islice(csv.DictReader(file), 1500)]
    found = [split(text) for text in texts]
    every = [sentence for each in found for sentence in each]
    assert 7 < len(every) / len(texts) < 9
    assert sum(len(sentence) < 15 for sentence in every) < 10
    assert sum(sentence[0].islower() and sentence[0].isascii() for sentence in every) < 15
    assert not any(sentence.endswith((" e.g.", " i.e.", " vs.", "et al.")) for sentence in every)
