"""Past one machine: a real Chroma server behind the store, in use by several processes, stopped, and behind a gate."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from chromas import ChromaServer, chroma_server, gate_before
from encoders import HashEmbedder
from test_store import TEN, abstract, counts, edited, elsewhere, found, paper

from rag import chroma
from rag.answer import Reason
from rag.engine import Engine
from rag.errors import ServerUnavailable, StoreError
from rag.recovery import rebuild_catalogue
from rag.settings import load_settings
from rag.store import Store


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """One for all tests that do not stop it; each has a collection of its own."""
    with chroma_server(tmp_path_factory.mktemp("chroma")) as running:
        yield running


@pytest.fixture
def store(server: ChromaServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("RAG_CHROMA_URL", server.url)
    monkeypatch.setenv("RAG_CHROMA_COLLECTION", f"test-{uuid4()}")
    opened = Store(load_settings(), HashEmbedder())
    yield opened
    opened.close()


def test_ingest_ask_and_remove(store: Store) -> None:
    assert counts(store.sync("list", TEN)) == {"new": 10}
    engine = Engine(store, store.settings)
    answer = engine.ask("What is Topic3 about?")
    assert answer.citations[0].quote == abstract(3)
    assert answer.sources[0].score > 0.9
    assert not store.settings.chroma_path.exists(), "nothing is kept here that the server holds"
    assert store.check().clean
    assert store.remove_source("list") == 10
    assert store.collection.count() == 0
    assert engine.ask("What is Topic3 about?").refusal.reason is Reason.NO_PAPERS  # type: ignore[union-attr]


def test_two_processes_at_once(store: Store) -> None:
    """This one answers while another ingests, edits and removes; it sees each without being opened again."""
    store.sync("list", TEN)
    engine, failures, over = Engine(store, store.settings), list[str](), threading.Event()

    def ask() -> None:
        while not over.is_set():
            answer = engine.ask("What is Topic3 about?")
            quotes = [citation.quote for citation in answer.citations]
            if abstract(3) not in quotes:
                failures.append(answer.text or str(answer.refusal))

    asking = threading.Thread(target=ask)
    asking.start()
    elsewhere(
        """
        store = Store(load_settings(), HashEmbedder())
        for size in (20, 300, 30):
            store.sync("list", [edited(TEN[0]), *TEN[1:], *(paper(n) for n in range(20, 20 + size))])
        store.close()
        """
    )
    over.set()
    asking.join(30)
    assert failures == []
    assert found(store, "Topic49", top_k=1) == [abstract(49)]
    assert abstract(300) not in found(store, "Topic300", top_k=50)
    assert found(store, "Topic0", top_k=1) == [edited(TEN[0]).abstract]


def test_a_rebuild_by_another_process_is_noticed(store: Store) -> None:
    store.sync("list", TEN)
    assert found(store, "Topic3", top_k=1) == [abstract(3)]
    elsewhere("Store(load_settings(), HashEmbedder()).rebuild()")
    assert found(store, "Topic3", top_k=1) == [abstract(3)]
    assert store.check().clean


def test_a_server_that_is_stopped_and_started_again(tmp_path: Path) -> None:
    with chroma_server(tmp_path / "server") as server:
        settings = load_settings(chroma_url=server.url)
        store = Store(settings, HashEmbedder())
        store.sync("list", TEN)
        engine = Engine(store, settings)
        assert engine.ask("What is Topic3 about?").citations
        server.stop()
        for _ in range(2):
            refusal = engine.ask("What is Topic3 about?").refusal
            assert refusal and refusal.reason is Reason.MODEL_UNAVAILABLE
            assert refusal.message.startswith(f"no Chroma server answers at {server.url}")
            assert "\n" not in refusal.message
            assert "chroma run" in refusal.hint
        with pytest.raises(ServerUnavailable):
            store.sync("list", [*TEN, paper(20)])
        server.start()
        assert engine.ask("What is Topic3 about?").citations[0].quote == abstract(3)
        assert counts(store.sync("list", [*TEN, paper(20)])) == {"unchanged": 11, "finished": 1}
        assert engine.ask("What is Topic20 about?").citations[0].quote == abstract(20)
        assert store.check().clean
        store.close()


# -- a new machine ----------------------------------------------------------------------------------------------------


def everything(store: Store) -> tuple[Any, ...]:
    """All that a catalogue knows, but for the times of syncs."""
    catalogue = store.catalogue
    papers = sorted(catalogue.papers(), key=lambda one: one.id)
    ids = [one.id for one in papers]
    said = {paper_id: [variant.content_hash for variant in catalogue.variants(paper_id)] for paper_id in ids}
    listed = [(source.name, source.papers) for source in catalogue.sources()]
    origins = {paper_id: sorted(map(repr, rows)) for paper_id, rows in catalogue.origins_said(ids).items()}
    return papers, catalogue.versions(), listed, origins, said


RICH = paper(30, authors=("A", "Zoë B"), year=2001, venue="V", doi="10.1000/z", keywords=("k", "β"))
LONG = paper(31, authors=tuple(f"Ångström Author {n}" for n in range(400)), abstract=abstract(31) + " 長い。" * 900)


def test_a_new_machine_builds_its_catalogue_without_loss(store: Store, tmp_path: Path) -> None:
    store.sync("a", [*TEN, RICH, LONG])
    store.sync("b", [TEN[1], replace(RICH, venue="Another", abstract=RICH.abstract + " More."), paper(40)])
    store.sync("c", [TEN[2]])
    store.sync("c", [])  # what it listed is another's still
    new = load_settings(data=tmp_path / "new")
    empty = Store(new, HashEmbedder())
    refusal = Engine(empty, new).ask("What is Topic3 about?").refusal
    assert refusal and "rag rebuild --catalogue" in refusal.hint
    empty.close()
    assert rebuild_catalogue(new, HashEmbedder()) == 13
    joined = Store(new, HashEmbedder())
    wanted = everything(store)
    sources = [source for source in wanted[2] if source != ("c", 0)]  # a source of nothing leaves no trace
    assert everything(joined) == (*wanted[:2], sources, *wanted[3:])
    assert joined.check().clean
    assert found(joined, "Topic40", top_k=1) == [abstract(40)]
    assert counts(joined.sync("b", [TEN[1], replace(RICH, venue="Another"), paper(40)])) == {
        "unchanged": 2,
        "updated": 1,
    }
    assert counts(joined.sync("b", [])) == {"removed": 1}
    assert joined.paper(RICH.id) == RICH
    joined.close()


def test_an_empty_catalogue_empties_no_collection(store: Store, tmp_path: Path) -> None:
    """A repair on a new machine would take all the others' passages for orphans."""
    store.sync("list", TEN)
    other = Store(load_settings(data=tmp_path / "new"), HashEmbedder())
    with pytest.raises(StoreError, match="left as they are") as caught:
        other.repair()
    other.close()
    assert "rag rebuild --catalogue" in caught.value.hint
    assert store.collection.count() == 10


# -- what stands before a server --------------------------------------------------------------------------------------


def use(url: str, **values: Any) -> list[str]:
    """The best paper for a question, from a fresh store over the server at this address."""
    store = Store(load_settings(chroma_url=url, **values), HashEmbedder())
    try:
        store.sync("list", TEN)
        return found(store, "Topic3", top_k=1)
    finally:
        store.close()


def test_the_token_is_sent_and_never_shown(store: Store, server: ChromaServer) -> None:
    with gate_before(server) as gate:
        gate.token = "tok-secret"
        assert use(gate.url, chroma_token="tok-secret") == [abstract(3)]
        with pytest.raises(ServerUnavailable, match="refused the access") as caught:
            use(gate.url, chroma_token="tok-other")
        assert "RAG_CHROMA_TOKEN" in caught.value.hint
        assert "tok-" not in str(caught.value)


def test_a_server_under_a_path(store: Store, server: ChromaServer) -> None:
    with gate_before(server) as gate:
        gate.prefix = "/vectors"
        assert use(f"{gate.url}/vectors/") == [abstract(3)]
        with pytest.raises(ServerUnavailable, match="is no Chroma server"):
            use(gate.url)


def test_tls_by_the_addresss_scheme(
    store: Store, server: ChromaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made, *names], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with gate_before(server, tls) as gate:
        url = gate.url.replace("http:", "https:")
        with pytest.raises(ServerUnavailable, match="certificate of the Chroma server") as caught:
            use(url)
        assert "SSL_CERT_FILE" in caught.value.hint
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert use(url) == [abstract(3)]


def test_tenant_database_and_collection_are_those_of_the_settings(store: Store, server: ChromaServer) -> None:
    import chromadb
    from chromadb.config import Settings

    place = {"chroma_tenant": "library", "chroma_database": "papers", "chroma_collection": f"own-{uuid4()}"}
    with pytest.raises(ServerUnavailable, match="no database papers of tenant library") as caught:
        use(server.url, **place)
    assert "RAG_CHROMA_TENANT" in caught.value.hint
    admin = chromadb.AdminClient(
        Settings(
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host="127.0.0.1",
            chroma_server_http_port=server.port,
        )
    )
    admin.create_tenant("library")
    admin.create_database("papers", "library")
    assert use(server.url, **place) == [abstract(3)]
    client = chromadb.HttpClient("127.0.0.1", server.port, tenant="library", database="papers")
    assert [item.name for item in client.list_collections()] == [place["chroma_collection"]]


def test_chroma_clouds_settings_and_quotas(store: Store, server: ChromaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key says which tenant and database it is for; a call takes and gives 300 records, a value 4,096 bytes."""
    assert chroma.is_cloud(load_settings(chroma_url="https://api.trychroma.com"))
    assert not chroma.is_cloud(load_settings(chroma_url="https://trychroma.com.example.org"))
    assert not chroma.is_cloud(load_settings(chroma_url=""))
    monkeypatch.setattr(chroma, "_CLOUD", "127.0.0.1")
    many = [LONG, *(paper(n) for n in range(100, 800))]
    with gate_before(server) as gate:
        gate.token = "ck-key"
        gate.identity = {"user_id": "u", "tenant": "default_tenant", "databases": ["default_database"]}
        cloud = Store(load_settings(chroma_url=gate.url, chroma_token="ck-key"), HashEmbedder())
        cloud.sync("many", many)
        cloud.sync("again", many)
        assert found(cloud, "Topic700", top_k=1) == [abstract(700)]
        assert len(found(cloud, "Topic700", top_k=50)) == 50
        assert cloud.check().clean
        cloud.close()
        assert rebuild_catalogue(cloud.settings, HashEmbedder()) == len(many)
        assert cloud.remove_source("again") == 0
        assert cloud.remove_source("many") == len(many)
        cloud.close()
        bodies = [body for _, _, body in gate.calls]
    assert any(body.get("n_results") for body in bodies)
    assert max(len(body.get("ids") or ()) for body in bodies) == 300
    assert max(max(body.get("limit") or 0, body.get("n_results") or 0) for body in bodies) <= 300
    values = [value for body in bodies for item in body.get("metadatas") or () for value in item.values()]
    assert max(len(value.encode()) for value in values if isinstance(value, str)) <= 4096
    assert all(len(item) <= 32 for body in bodies for item in body.get("metadatas") or ())


def test_a_server_that_hangs_is_not_waited_for_for_ever(store: Store, server: ChromaServer) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        before = time.monotonic()
        with pytest.raises(ServerUnavailable, match=r"did not answer within 0\.5 s") as caught:
            use(address, chroma_seconds=0.5)
        assert time.monotonic() - before < 20
        assert "RAG_CHROMA_SECONDS" in caught.value.hint


def test_a_server_that_hangs_in_mid_use(store: Store, server: ChromaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    with gate_before(server) as gate:
        slow = Store(load_settings(chroma_url=gate.url, chroma_seconds=1), HashEmbedder())
        slow.sync("list", TEN)
        handler: Any = gate.RequestHandlerClass
        pass_on = handler.do_POST
        monkeypatch.setattr(handler, "do_POST", lambda self: released.wait(30) and None)
        with pytest.raises(ServerUnavailable, match="did not answer within 1 s"):
            found(slow, "Topic3", top_k=1)
        released.set()
        monkeypatch.setattr(handler, "do_POST", pass_on)
        assert found(slow, "Topic3", top_k=1) == [abstract(3)]
        slow.close()


def test_a_password_in_the_address_is_not_shown() -> None:
    settings = load_settings(chroma_url="http://user:pass@127.0.0.1:9")
    with pytest.raises(ServerUnavailable) as caught:
        Store(settings, HashEmbedder()).sync("list", TEN)
    assert "pass" not in str(caught.value)
