"""The way to Chroma: a folder beside the catalogue, a server, or Chroma Cloud; and what goes wrong there, in a line."""

from __future__ import annotations

import logging
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, cast
from urllib.parse import SplitResult, urlsplit

from rag.disk import obstacle
from rag.errors import RagError, ServerUnavailable, StoreDamaged

if TYPE_CHECKING:
    from chromadb.api.client import Client

    from rag.settings import Settings

Made = TypeVar("Made")

CLOUD_MOST: Final = 300
"""Records that Chroma Cloud takes or gives in one call."""

_LOCKED: Final = 75
_PROBE: Final = f"""
import sqlite3, sys
try:
    db = sqlite3.connect(sys.argv[1], timeout=float(sys.argv[2]), isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    db.execute("ROLLBACK")
except sqlite3.OperationalError as error:
    sys.exit({_LOCKED} if "locked" in str(error) else 0)  # Chroma tells what else there is
except sqlite3.Error:
    pass
"""
_CLOUD: Final = "trychroma.com"
_CONNECT_SECONDS: Final = 5.0
_SHOWN: Final = 200
_SERVER_HINT = "is it running? `chroma run --host 127.0.0.1 --port 8000 --path DIR` starts one; RAG_CHROMA_URL names it"


def where(settings: Settings) -> str:
    """The server's address without a password in it, or the folder."""
    if not settings.chroma_url:
        return str(settings.chroma_path)
    return re.sub(r"//[^/@]*@", "//", settings.chroma_url)


def is_cloud(settings: Settings) -> bool:
    host = _address(settings).hostname if settings.chroma_url else None
    return host is not None and (host == _CLOUD or host.endswith(f".{_CLOUD}"))


def open_client(settings: Settings) -> Client:
    """A client of the folder or the server that the settings name; no call of it waits for ever."""
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    logging.getLogger("chromadb").setLevel(logging.ERROR)
    place = {"tenant": settings.chroma_tenant, "database": settings.chroma_database}
    if not settings.chroma_url:
        settings.chroma_path.mkdir(parents=True, exist_ok=True)
        check_lock(settings)
        local = chromadb.PersistentClient(
            _spelling(settings.chroma_path), settings=ChromaSettings(anonymized_telemetry=False), **place
        )
        return cast("Client", local)
    address = _address(settings)
    secure = address.scheme == "https"
    port = address.port or (443 if secure else 8000)
    token = settings.chroma_token.get_secret_value()

    def connect() -> Client:
        client = chromadb.HttpClient(
            host=f"{address.scheme}://{address.netloc.removesuffix(f':{port}')}:{port}{address.path.rstrip('/')}",
            port=port,
            ssl=secure,
            headers={"Authorization": f"Bearer {token}", "X-Chroma-Token": token} if token else None,
            settings=ChromaSettings(
                anonymized_telemetry=False,
                # Chroma Cloud's keys know the tenant and, where they are for one only, the database
                chroma_overwrite_singleton_tenant_database_access_from_auth=is_cloud(settings),
            ),
            **place,
        )
        return cast("Client", client)

    import httpx

    client = _within(settings.chroma_seconds, connect, undo=lambda late: late.close())
    session: httpx.Client = client._server._session  # type: ignore[attr-defined]  # made without any time-out
    session.timeout = httpx.Timeout(settings.chroma_seconds, connect=_CONNECT_SECONDS)
    return client


def readable(error: BaseException, settings: Settings) -> RagError:
    """What Chroma or the way to it raised, as one of our errors."""
    place = where(settings)
    if not settings.chroma_url:
        said = _said(error)
        return obstacle(said, settings.chroma_path) or StoreDamaged(
            f"the collection in {place} cannot be used: {said}",
            hint="rag rebuild makes it anew from the catalogue; the damaged folder is kept",
        )
    chain = _causes(error)
    kinds = {type(cause).__name__ for cause in chain}
    said = _said(chain[-1] if "ConnectError" in kinds else error)
    if kinds & {"ReadTimeout", "WriteTimeout", "PoolTimeout", "TimeoutError"}:
        return ServerUnavailable(
            f"the Chroma server at {place} did not answer within {settings.chroma_seconds:g} s",
            hint="RAG_CHROMA_SECONDS sets how long to wait; the server's log says what it is doing",
        )
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return ServerUnavailable(
            f"the certificate of the Chroma server at {place} is not trusted ({said})",
            hint="SSL_CERT_FILE names the file of an authority of your own",
        )
    if "ConnectError" in kinds:
        return ServerUnavailable(f"no Chroma server answers at {place} ({said})", hint=_SERVER_HINT)
    code = next((cause.response.status_code for cause in chain if hasattr(cause, "response")), 0)
    if code in (401, 403) or kinds & {"ChromaAuthError", "AuthorizationError"}:
        return ServerUnavailable(
            f"the Chroma server at {place} refused the access ({said})", hint="RAG_CHROMA_TOKEN holds its token"
        )
    if re.search(r"<!doctype|<html", str(error), re.IGNORECASE) or "JSONDecodeError" in kinds:
        return ServerUnavailable(
            f"what answers at {place} is no Chroma server", hint="RAG_CHROMA_URL names it, e.g. http://127.0.0.1:8000"
        )
    if "NotFoundError" in kinds and re.search(r"tenant|database", said, re.IGNORECASE):
        return ServerUnavailable(
            f"the Chroma server at {place} has no database {settings.chroma_database} of tenant "
            f"{settings.chroma_tenant} ({said})",
            hint="RAG_CHROMA_TENANT and RAG_CHROMA_DATABASE name those that it has",
        )
    what = f"failed with {code}" if code else "failed"
    return ServerUnavailable(f"the Chroma server at {place} {what}: {said}", hint="its log says more; then try again")


def check_lock(settings: Settings) -> None:
    """Raise StoreLocked where another program keeps the folder's file locked for longer than a writer waits.

    Chroma itself would wait for hours, and hold up every thread meanwhile. Another process looks, because closing the
    file in this one would let go of Chroma's own locks.
    """
    file = settings.chroma_path / "chroma.sqlite3"
    if settings.chroma_url or not file.is_file():
        return
    command = [sys.executable, "-I", "-S", "-c", _PROBE, str(file), str(settings.lock_seconds)]
    if subprocess.run(command, capture_output=True, check=False).returncode == _LOCKED:
        found = obstacle("the database is locked", file)
        assert found
        raise found


def is_failure(error: BaseException) -> bool:
    """Whether it is a failure and no interruption; a panic of Chroma's Rust core is no Exception to Python."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _within(seconds: float, call: Callable[[], Made], *, undo: Callable[[Made], object]) -> Made:
    """What `call` returns; raises TimeoutError when that takes too long, and gives its late result to `undo`.

    Chroma's first calls to a server have no time-out of their own.
    """
    outcome: list[Made] = []
    failure: list[BaseException] = []
    state = threading.Lock()
    given_up = False

    def run() -> None:
        try:
            made = call()
        except BaseException as error:
            failure.append(error)
            return
        with state:
            outcome.append(made)
            late = given_up
        if late:
            undo(made)

    thread = threading.Thread(target=run, name="chroma-call", daemon=True)
    thread.start()
    thread.join(seconds)
    with state:
        given_up = not outcome
    if failure:
        raise failure[0]
    if given_up:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return outcome[0]


def _address(settings: Settings) -> SplitResult:
    return urlsplit(settings.chroma_url if "://" in settings.chroma_url else f"http://{settings.chroma_url}")


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


def _said(error: BaseException) -> str:
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", str(error), flags=re.DOTALL | re.IGNORECASE)
    text = " ".join(text.split()) or type(error).__name__
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _spelling(folder: Path) -> str:
    """The folder, spelt as nobody else does: all clients of one spelling share one cached index in this process, and
    none would see what other processes wrote as long as another is open."""
    return str(folder) + "".join("/." if bit == "1" else "/" for bit in f"{secrets.randbits(48):b}")
