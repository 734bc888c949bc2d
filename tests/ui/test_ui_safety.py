"""What the server gives away, to whom, and what it refuses; and the endpoints for programs."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client
from running import Start

from rag.errors import StoreMismatch
from rag.settings import Settings
from ui.app import UPLOAD_LIMIT
from ui.calls import CALLS

QUESTION = "How do language models trade compression for meaning?"


def test_every_page_carries_a_policy_with_a_fresh_nonce(start: Start) -> None:
    url = start().url
    first, second = httpx.get(url), httpx.get(url)
    policies = [answer.headers["content-security-policy"] for answer in (first, second)]
    nonces = [re.search(r"'nonce-([\w-]+)'", policy)[1] for policy in policies]  # type: ignore[index]
    assert nonces[0] != nonces[1]
    assert "unsafe-inline" not in re.search(r"script-src ([^;]*)", policies[0])[1]  # type: ignore[index]
    assert "connect-src 'self'" in policies[0]
    scripts = re.findall(r"<script[^>]*>", first.text)
    assert scripts
    assert all(f'nonce="{nonces[0]}"' in script for script in scripts)
    assert first.headers["x-content-type-options"] == "nosniff"
    assert first.headers["x-frame-options"] == "DENY"


def test_no_file_of_the_machine_can_be_fetched(start: Start, tmp_path: Path) -> None:
    app = start()
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", encoding="utf-8")
    root = Path(__file__).parents[2]
    places = [secret, app.settings.catalogue_path, app.settings.data / "conversations.sqlite", Path("/etc/passwd")]
    places += [root / "pyproject.toml", root / "ui" / "app.py"]
    for place in places:
        for route in ("gradio_api/file=", "file=", "gradio_api/file/", "static/../../../..", "assets/../../../.."):
            answer = httpx.get(f"{app.url}{route}{place}")
            assert answer.status_code >= 400, (route, place)
            assert "secret" not in answer.text.replace(str(secret), "")


@pytest.mark.parametrize(
    "route", ["file=http://127.0.0.1:9/x", "gradio_api/file=http://127.0.0.1:9/x", "proxy=http://a.hf.space/"]
)
def test_nothing_is_fetched_from_elsewhere(start: Start, route: str) -> None:
    assert httpx.get(start().url + route).status_code in (400, 401, 403, 404)


def test_uploads_are_limited_in_size(start: Start) -> None:
    app = start()
    assert app.blocks.max_file_size == 200 * 2**20
    assert UPLOAD_LIMIT == "200mb"
    app.blocks.max_file_size = 1000
    answer = httpx.post(f"{app.url}gradio_api/upload", files={"files": ("x.csv", b"x" * 2000)})
    assert answer.status_code == 413


def test_an_uploaded_file_with_a_path_for_a_name_stays_where_it_belongs(start: Start, tmp_path: Path) -> None:
    app = start()
    answer = httpx.post(f"{app.url}gradio_api/upload", files={"files": ("../../../../x.csv", b"title,abstract\n")})
    for stored in answer.json() if answer.status_code == 200 else []:
        assert ".." not in stored
        assert Path(stored).name == "x.csv"
    assert not list(tmp_path.rglob("x.csv"))


def test_the_page_of_another_site_cannot_call_the_app(start: Start) -> None:
    app = start()
    answer = httpx.post(
        f"{app.url}gradio_api/call/ask",
        json={"data": ["x"]},
        headers={"origin": "http://evil.example", "host": "localhost"},
    )
    assert answer.headers.get("access-control-allow-origin") != "http://evil.example"


@pytest.mark.parametrize(
    ("hosts", "known", "unknown"),
    [
        (
            "",
            ["localhost:7860", "LOCALHOST", "127.0.0.1:7860", "[::1]:7860"],
            ["rebound.example", "a.example:7860", "127.0.0.1.rebound.example", "localhost.rebound.example", ""],
        ),
        (
            "papers.example, Other.example",
            ["papers.example", "other.example:443", "localhost"],
            ["rebound.example", "www.papers.example"],
        ),
    ],
)
def test_a_name_that_is_made_to_point_here_opens_nothing(
    start: Start, tmp_path: Path, hosts: str, known: list[str], unknown: list[str]
) -> None:
    app = start(settings=Settings(data=tmp_path / "data", llm="extractive", hosts=hosts))
    for host in [*known, *unknown]:
        status = 200 if host in known else 403
        for route in ("", "config", "healthz", "gradio_api/info"):
            answer = httpx.get(f"{app.url}{route}", headers={"host": host})
            assert answer.status_code == status, (host, route)
            assert ("RAG_HOSTS" in answer.text) == (status == 403)
        asked = httpx.post(f"{app.url}gradio_api/call/v2/ask", json={"question": QUESTION}, headers={"host": host})
        assert asked.status_code == status


def test_a_password_or_other_machines_need_no_list_of_names(start: Start, tmp_path: Path) -> None:
    named = {"host": "papers.example"}
    guarded = start(auth=("ann", "secret"))
    assert httpx.get(guarded.url, headers=named).status_code == 200
    assert httpx.get(f"{guarded.url}config", headers=named).status_code == 401


def test_with_a_password_nothing_is_shown_without_it(start: Start) -> None:
    app = start(auth=("ann", "secret"))
    assert httpx.get(f"{app.url}config").status_code == 401
    assert httpx.post(f"{app.url}gradio_api/call/ask", json={"data": [QUESTION]}).status_code == 401
    assert Client(app.url, auth=("ann", "secret"), verbose=False).predict(QUESTION, api_name="/ask")["text"]


def test_the_app_listens_on_this_machine_only(start: Start) -> None:
    app = start()
    assert app.blocks.server_name == "127.0.0.1"
    assert app.blocks.share_url is None


def test_ask_over_http(start: Start) -> None:
    app = start()
    client = Client(app.url, verbose=False)
    answer = client.predict(QUESTION, api_name="/ask")
    assert re.search(r"\[1\]", answer["text"])
    citation = answer["sentences"][0]["citations"][0]
    paper = client.predict(citation["paper_id"], api_name="/paper")
    assert paper["abstract"][citation["start"] : citation["end"]] == citation["quote"]
    two = client.predict(question=QUESTION, top_k=2, api_name="/ask")
    assert len(two["sources"]) == 2
    follow_up = client.predict(question="and what of humans?", history=[[QUESTION, "They do."]], api_name="/ask")
    assert follow_up["standalone"].startswith("How do language models")


WRONG_CALLS: list[tuple[str, Any, str]] = [
    ("ask", {}, "question: is missing"),
    ("ask", {"question": ["a", "list"]}, "question: has to be a text"),
    ("search", {"question": 7}, "question: has to be a text"),
    ("ask", {"question": "why " * 6000}, "question: String should have at most 20000 characters"),
    ("ask", {"question": QUESTION, "top_k": "x"}, "top_k: has to be a whole number"),
    ("ask", {"question": QUESTION, "top_k": -3}, "top_k: Input should be greater than or equal to 0"),
    ("search", {"question": QUESTION, "top_k": 100_000}, "top_k: Input should be less than or equal to 50"),
    ("ask", {"question": QUESTION, "history": "x"}, "history: has to be a list"),
    ("ask", {"question": QUESTION, "history": [["alone"]]}, "history.0: List should have at least 2 items"),
    ("ask", {"question": QUESTION, "model": []}, "model: has to be a text"),
    ("search", {"query": QUESTION}, "question: is missing; query: is no argument"),
    ("paper", {}, "paper_id: is missing"),
    ("paper", ["doi:10.1/1"], "a call is a JSON object"),
]


def test_wrong_calls_are_told_what_is_wrong_and_not_echoed(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    url = start().url
    for name, body, told in WRONG_CALLS:
        said = httpx.post(f"{url}gradio_api/call/v2/{name}", json=body)
        assert said.status_code == 422, body
        assert said.json()["detail"].startswith(told)
        assert len(said.text) < 500
    assert (
        "arguments are question, top_k, year" in httpx.post(f"{url}gradio_api/call/v2/search", json={}).json()["detail"]
    )
    unread = httpx.post(f"{url}gradio_api/call/v2/ask", content=b"{no json")
    assert (unread.status_code, unread.json()["detail"]) == (422, "a call is a JSON object, and this is no JSON")
    assert httpx.post(f"{url}gradio_api/call/v2/ask", content=b" " * 1_100_000).status_code == 422
    for unknown in ("call/v2/nothing", "call/nothing", "call/v2/"):
        gone = httpx.post(f"{url}gradio_api/{unknown}", json={"data": []})
        assert (gone.status_code, gone.json()["detail"].rpartition("; ")[2]) == (404, "there are ask, search, paper")
    assert "Traceback" not in caplog.text


def test_a_call_is_json_whatever_it_is_called(start: Start) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}  # as curl -d sends it
    asked = httpx.post(f"{start().url}gradio_api/call/v2/ask", content=b'{"question": "hello"}', headers=form)
    assert list(asked.json()) == ["event_id"]


def test_gradios_own_clients_are_told_the_same(start: Start) -> None:
    client = Client(start().url, verbose=False)
    with pytest.raises(Exception, match="top_k: Input should be less than or equal to 50"):
        client.predict(QUESTION, 100_000, api_name="/ask")


def test_what_is_left_out_has_its_default(start: Start) -> None:
    """As a program without Gradio's client calls it: names and values, and only those that matter."""
    said = outcome(start().url, "ask", {"question": QUESTION, "top_k": 2})
    (answer,) = json.loads(said.rpartition("data: ")[2])
    assert len(answer["sources"]) == 2
    assert "[1]" in answer["text"]


def test_values_by_place_may_end_early(start: Start) -> None:
    url = start().url
    for data in ([QUESTION, 2], [QUESTION, 2, "", "", "", "", "", None]):
        event = httpx.post(f"{url}gradio_api/call/ask", json={"data": data}).json()["event_id"]
        said = httpx.get(f"{url}gradio_api/call/ask/{event}", timeout=60).text.strip()
        (answer,) = json.loads(said.rpartition("data: ")[2])
        assert len(answer["sources"]) == 2
    told = "question: is missing; arguments are question, top_k, year"
    for body, said in (
        ({"data": []}, told),
        ({"data": "x"}, "data is a list of up to 9 values"),
        ({"data": [""] * 10}, "data is a list of up to 9 values"),
        ({}, "data is a list"),
    ):
        refused = httpx.post(f"{url}gradio_api/call/ask", json=body)
        assert refused.status_code == 422
        assert refused.json()["detail"].startswith(said)


def test_places_are_those_that_the_app_tells(start: Start) -> None:
    told = httpx.get(f"{start().url}gradio_api/info").json()["named_endpoints"]
    for name, kind in CALLS.items():
        assert [one["parameter_name"] for one in told[f"/{name}"]["parameters"]] == list(kind.model_fields)


def outcome(url: str, name: str, body: dict[str, Any]) -> str:
    """The last event of a call over HTTP."""
    event = httpx.post(f"{url}gradio_api/call/v2/{name}", json=body).json()["event_id"]
    return httpx.get(f"{url}gradio_api/call/v2/{name}/{event}", timeout=60).text.strip()


def test_search_over_http(start: Start) -> None:
    found = Client(start().url, verbose=False).predict(question="molecules diffusion", top_k=1, api_name="/search")
    assert len(found) == 1
    assert found[0]["passage"] == found[0]["paper"]["abstract"][found[0]["start"] : found[0]["end"]]
    assert 0 <= found[0]["score"] <= 1


def test_errors_reach_the_caller(start: Start) -> None:
    with pytest.raises(Exception, match="there is no paper 'nope'"):
        Client(start().url, verbose=False).predict("nope", api_name="/paper")


def test_the_pages_own_events_are_no_endpoints(start: Start) -> None:
    shown = Client(start().url, verbose=False).view_api(return_format="dict", print_info=False)
    assert sorted(shown["named_endpoints"]) == ["/ask", "/paper", "/search"]
    assert not shown["unnamed_endpoints"]


def test_mcp_tools(start: Start) -> None:
    mcp = pytest.importorskip("mcp", reason="mcp is not installed: pip install 'gradio[mcp]'")
    from mcp.client.streamable_http import streamablehttp_client

    app = start(mcp=True)

    async def talk() -> tuple[dict[str, Any], Any, Any, Any]:
        async with (
            streamablehttp_client(f"{app.url}gradio_api/mcp/") as (read, write, _),
            mcp.ClientSession(read, write) as session,
        ):
            await session.initialize()
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            answer = await session.call_tool("ask", {"question": QUESTION})
            found = await session.call_tool("search", {"question": "molecules", "top_k": 1})
            papers = json.loads(found.content[0].text)
            paper = await session.call_tool("get_paper", {"paper_id": papers[0]["paper"]["id"]})
            return tools, json.loads(answer.content[0].text), papers, json.loads(paper.content[0].text)

    with ThreadPoolExecutor(1) as fresh:  # a thread without a loop: the browser of other tests runs one in this one
        tools, answer, papers, paper = fresh.submit(lambda: asyncio.run(talk())).result()
    assert sorted(tools) == ["ask", "get_paper", "search"]
    assert "verbatim" in tools["ask"].description
    assert "Returns a list" in tools["search"].description
    assert tools["ask"].inputSchema["required"] == ["question"]
    assert tools["ask"].inputSchema["properties"]["year"]["description"]
    assert "[1]" in answer["text"]
    assert paper == papers[0]["paper"]


def test_a_store_that_cannot_be_opened_leaves_the_app_up(start: Start) -> None:
    def broken() -> Any:
        raise StoreMismatch("the store was made by another model", hint="rag doctor --rebuild")

    app = start(engine=broken)
    assert httpx.get(app.url).status_code == 200
    with pytest.raises(Exception, match="rag doctor --rebuild"):
        Client(app.url, verbose=False).predict(QUESTION, api_name="/ask")
