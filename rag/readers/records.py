"""JSON records of the services people export from → a paper's fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import cast

from rag.readers.fields import ALIASES, FIELDS, identifier_url, key
from rag.readers.latex import decode
from rag.readers.values import abstract_of, one_line, text_of, url_of, year_of

Record = Mapping[str, object]
_WRAPPERS = (
    "content",
    "row",
    "paper",
    "citingpaper",
    "citedpaper",
    "data",
    "work",
    "source",
    "attributes",
    "fields",
    "item",
)
_ARXIV_ID = re.compile(r"\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?")


def values_of(record: Record, mapping: Mapping[str, str]) -> dict[str, object]:
    """Field → value for `paper_of`, from a record of any known shape; `mapping` (field → key or path) goes first."""
    flat = _flat(record)
    values = {field: _first(flat, ALIASES[field]) for field in (*FIELDS, "created")}
    for special in (_openreview, _arxiv, _semantic_scholar, _openalex):
        values.update({field: value for field, value in special(flat).items() if value})
    values["venue"] = _label(values["venue"])
    values["doi"] = values["doi"] or _first(_keys(flat.get("externalids")), ("doi",))
    if not url_of(values["url"]):
        values["url"] = identifier_url(flat) or identifier_url(_keys(flat.get("externalids")))
    for field, path in mapping.items():
        values[field] = at_path(record, path)
    return values


def is_paper(item: object) -> bool:
    """Whether `item` is a record that holds an abstract, or has the place for one."""
    if not isinstance(item, Mapping):
        return False
    flat = _flat(item)
    names = {*ALIASES["abstract"][:7], "abstractinvertedindex"}
    return bool(names & flat.keys()) or ("title" in flat and "text" in flat)


def at_path(record: object, path: str) -> object:
    """The value under `path` ("title", "content.title.value"), or ""."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    for name in path.split("."):
        if not isinstance(record, Mapping) or name not in record:
            return ""
        record = record[name]
    return record


def _keys(item: object) -> dict[str, object]:
    return {key(name): value for name, value in item.items()} if isinstance(item, Mapping) else {}


def _flat(record: Record) -> dict[str, object]:
    """`record` by plain keys, what wraps the real one opened, OpenReview's {"value": …} too."""
    flat = _keys(record)
    if not any(name in flat for name in (*ALIASES["abstract"][:7], "abstractinvertedindex")):
        for name in _WRAPPERS:
            inner = _keys(flat.get(name))
            if "title" in inner or "abstract" in inner or "summary" in inner:
                flat = {**{k: v for k, v in flat.items() if k != name}, **inner}
                break
    return {
        name: value["value"]
        if isinstance(value, Mapping) and value.keys() <= {"value", "readers"} and "value" in value
        else value
        for name, value in flat.items()
    }


def _first(flat: Record, names: Iterable[str]) -> object:
    return next((flat[name] for name in names if flat.get(name) not in (None, "", [], {})), "")


def _label(value: object) -> object:
    """The name of a venue that is an object or a list of names."""
    if isinstance(value, list):
        return _label(value[0]) if value else ""
    if isinstance(value, Mapping):
        return text_of(_first(_keys(value), ("name", "displayname", "title")))
    return value


def _openreview(flat: Record) -> dict[str, object]:
    if "forum" not in flat:
        return {}
    venue = text_of(flat.get("venue"))
    years = (flat.get("year"), venue, flat.get("venueid"), *map(flat.get, ("pdate", "odate", "cdate", "tcdate")))
    return {"url": identifier_url(flat), "year": next(filter(None, map(year_of, years)), None)}


def _arxiv(flat: Record) -> dict[str, object]:
    found = text_of(flat.get("id"))
    if not _ARXIV_ID.fullmatch(found) or not ({"categories", "authorsparsed", "versions", "summary"} & flat.keys()):
        return {}
    versions = flat.get("versions")
    first = versions[0] if isinstance(versions, list) and versions else None
    parsed = flat.get("authorsparsed")
    people = (
        [[decode(text_of(part)) for part in name] for name in parsed if isinstance(name, list)]
        if isinstance(parsed, list)
        else []
    )
    return {
        "url": f"https://arxiv.org/abs/{found}",
        "authors": people or flat.get("authors"),
        "year": year_of(_keys(first).get("created"))
        or year_of(flat.get("publishedat"))
        or year_of(flat.get("updatedate")),
        "venue": one_line(text_of(flat.get("journalref"))) or "arXiv",
        "keywords": text_of(flat.get("categories")).split(),
    }


def _semantic_scholar(flat: Record) -> dict[str, object]:
    if not {"paperid", "externalids", "corpusid"} & flat.keys():
        return {}
    fields = flat.get("s2fieldsofstudy")
    studies = [_keys(item).get("category") for item in fields] if isinstance(fields, list) else []
    return {
        "venue": _label(_first(flat, ("venue", "publicationvenue", "journal"))),
        "keywords": flat.get("fieldsofstudy") or studies,
        "url": flat.get("url") or identifier_url(_keys(flat.get("externalids"))),
    }


def _openalex(flat: Record) -> dict[str, object]:
    index = flat.get("abstractinvertedindex")
    if index is None and "authorships" not in flat:
        return {}
    place = _keys(flat.get("primarylocation")) or _keys(flat.get("bestoalocation"))
    return {
        "abstract": inverted(index) if not text_of(flat.get("abstract")) else "",
        "authors": flat.get("authorships"),
        "venue": _label(_first(place, ("source",)) or flat.get("hostvenue")),
        "url": url_of(place.get("landingpageurl")) or url_of(flat.get("id")),
        "keywords": _first(flat, ("keywords", "topics", "concepts")),
    }


def inverted(index: object) -> str:
    """The text of OpenAlex's inverted index, {word: [positions]}; "" for what is none."""
    if isinstance(index, str):
        return ""
    places: list[tuple[int, str]] = []
    for word, positions in cast("Mapping[object, object]", index).items() if isinstance(index, Mapping) else ():
        if isinstance(positions, list):
            places += [(place, str(word)) for place in positions if isinstance(place, int)]
    return abstract_of(" ".join(word for _, word in sorted(places)))
