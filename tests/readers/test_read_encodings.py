"""Encodings: found out, and where a byte does not fit only its row is lost, with the encoding and the line said."""

from __future__ import annotations

import pytest

from rag.errors import InputError

ROW = "Müller’s café – naïve “bees” cost 5 € and fly."
TABLE = f"title,abstract\nBees,{ROW}\nFire,It burns.\n"


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"],
)
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_western(read, encoding: str, name: str) -> None:
    assert read(TABLE.encode(encoding), name).abstracts == [ROW, "It burns."]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "gb18030",
            "我们提出了一种新的方法，用于在大规模语言模型中检测幻觉。实验表明该方法优于现有技术，并且速度更快。",
        ),
        (
            "shift_jis",
            "本研究では、大規模言語モデルにおける幻覚を検出する新しい手法を提案する。実験により有効性を示した。",
        ),
        (
            "euc_kr",
            "우리는 대규모 언어 모델에서 환각을 탐지하는 새로운 방법을 제안한다. 실험 결과 기존 방법보다 우수하였다.",
        ),
        (
            "cp1251",
            "Мы предлагаем новый метод обнаружения галлюцинаций в больших языковых моделях. Опыты показали его пользу.",
        ),
    ],
)
def test_other_scripts(read, encoding: str, text: str) -> None:
    assert read(f"{text}\n\n{text}".encode(encoding)).abstracts == [text, text]


def test_chinese_heading_over_english_abstracts(read) -> None:
    content = "ICLR 2026 论文列表\n\n" + "Bees fly home by the light of the sky, and we saw it. " * 4 + "\n\nIt burns."
    assert len(read(content.encode("gb18030")).papers) == 2


def test_a_broken_byte_costs_its_row_only(read) -> None:
    good = "é".encode() * 20
    result = read(b"title,abstract\nA,x y\nB,caf\xe9 z\nC," + good + b"\n", "a.csv")
    assert result.abstracts == ["x y", "é" * 20]
    assert [line for line, _ in result.skips] == [3]
    assert "UTF-8" in result.skips[0][1]
    assert "0xe9" in result.skips[0][1]


@pytest.mark.parametrize("tag", ["AB", "TI", "FAU", "JT", "LID", "OT"])
def test_a_broken_byte_in_any_field_of_a_record(read, tag: str) -> None:
    record = {
        "PMID": "1",
        "AB": "Bées fly.",
        "TI": "Bees",
        "FAU": "Bee, A.",
        "JT": "Honey",
        "LID": "10.1000/b [doi]",
        "OT": "é",
    }
    lines = [f"{name:4}- {value}".encode() for name, value in record.items()]
    lines = [line.replace(b"- ", b"- 10.1000/\xe9", 1) if line.startswith(tag.encode()) else line for line in lines]
    whole = "PMID- 2\nAB  - Éels swim, naïvely, in the Café’s pond.\n".encode()
    result = read(b"\n".join(lines) + b"\n\n" + whole, "a.nbib")
    assert result.abstracts == ["Éels swim, naïvely, in the Café’s pond."]
    assert "0xe9" in result.skips[0][1]
    assert "\n" not in result.skips[0][1]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_broken_byte_in_json(read, name: str) -> None:
    lines = [b'{"abstract": "caf\xe9 x"}', '{"abstract": "éééé"}'.encode()]
    content = b"\n".join(lines) if name == "a.jsonl" else b"[" + b",\n".join(lines) + b"]"
    result = read(content, name)
    assert result.abstracts == ["éééé"]
    assert [line for line, _ in result.skips] == [1]


def test_a_broken_byte_in_xml(read) -> None:
    entries = b"<entry><summary>caf\xe9</summary></entry>\n<entry><summary>" + "éééé".encode() + b"</summary></entry>"
    result = read(b"<feed>\n" + entries + b"</feed>", "a.xml")
    assert result.abstracts == ["éééé"]
    assert [line for line, _ in result.skips] == [2]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_cut_off_in_the_middle_of_a_character(read, encoding: str) -> None:
    with pytest.raises(InputError, match="is not UTF-") as error:
        read(TABLE.encode(encoding)[:-1], "a.csv")
    assert "UTF-8" in error.value.hint


def test_broken_byte_far_into_a_file(read) -> None:
    rows = "".join(f"T{n},Abstract number {n}. {'Long. ' * 300}\n" for n in range(1000))
    result = read(f"title,abstract\n{rows}Last,caf".encode() + b"\xe9 au lait\n", "a.csv")
    assert len(result.papers) == 1001
    assert result.abstracts[-1] == "café au lait"
