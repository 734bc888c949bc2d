"""What a call of an endpoint may say: checked before Gradio sees it, and again where a call comes another way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, MutableMapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag.errors import RagError
from ui.safety import Application, Message, Receive, Send
from ui.session import LONGEST_QUESTION

MOST_PAPERS = 50
_MOST_BYTES = 1_000_000  # of a call; a conversation of a hundred long answers has a third of it
_ADDRESS = re.compile(r"/gradio_api/call/(?:v2/)?(?P<name>[^/]*)/?")

Question = Annotated[str, Field(max_length=LONGEST_QUESTION)]


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Ask(_Call):
    """`top_k` 0 is the configured number; `history` has [question, answer] pairs. In the order of the endpoint's
    arguments, as the others are: a call may give them by place."""

    question: Question
    top_k: int = Field(default=0, ge=0, le=MOST_PAPERS)
    year: str = ""
    venue: str = ""
    keyword: str = ""
    source: str = ""
    model: str = ""
    history: list[Annotated[list[str], Field(min_length=2, max_length=2)]] | None = None
    author: str = ""


class Search(_Call):
    question: Question
    top_k: int = Field(default=10, ge=1, le=MOST_PAPERS)
    year: str = ""
    venue: str = ""
    keyword: str = ""
    source: str = ""
    author: str = ""


class GetPaper(_Call):
    paper_id: str


CALLS: Mapping[str, type[_Call]] = {"ask": Ask, "search": Search, "paper": GetPaper}


Kind = TypeVar("Kind", bound=_Call)


def checked(kind: type[Kind], arguments: Mapping[str, Any]) -> Kind:
    """The call with these arguments. Raises RagError, which says what is wrong and quotes nothing of what was sent."""
    try:
        return kind.model_validate(arguments)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {_said(one)}" for one in error.errors()[:3])
        raise RagError(told, hint=f"arguments are {', '.join(kind.model_fields)}") from error


def _said(problem: Any) -> str:
    words = {"missing": "is missing", "extra_forbidden": "is no argument", "int_type": "has to be a whole number"}
    words |= {"string_type": "has to be a text", "list_type": "has to be a list"}
    return str(words.get(problem["type"], problem["msg"]))


class Calls:
    """ASGI middleware that answers calls of what is no endpoint with 404, and of an endpoint with wrong arguments with
    422; both say why in `detail`."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        found = _ADDRESS.fullmatch(scope.get("path", "")) if scope.get("method") == "POST" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        kind = CALLS.get(found["name"])
        if kind is None:
            await _answer(send, 404, f"there is no such endpoint; there are {', '.join(CALLS)}")
            return
        body = await _read(receive)
        try:
            if body is None:
                raise RagError(f"a call has at most {_MOST_BYTES:,} bytes")
            sent = json.loads(body)
            if not isinstance(sent, dict):
                raise RagError("a call is a JSON object", hint=f"arguments are {', '.join(kind.model_fields)}")
            if "/v2/" in scope["path"]:
                checked(kind, sent)
            else:
                body = json.dumps(sent | {"data": _by_place(kind, sent.get("data"))}).encode()
        except RagError as error:
            await _answer(send, 422, "; ".join(filter(None, (error.message, error.hint))))
        except (ValueError, RecursionError):
            await _answer(send, 422, "a call is a JSON object, and this is no JSON")
        else:
            sent_as = [pair for pair in scope["headers"] if pair[0] != b"content-type"]
            headers = [*sent_as, (b"content-type", b"application/json")]  # whatever it was called: it is JSON
            await self._app({**scope, "headers": headers}, _again(body or b"", receive), send)


def _by_place(kind: type[_Call], data: Any) -> list[Any]:
    """All arguments of a call that gives them by place; those that it leaves out at the end as they are by default."""
    places = tuple(kind.model_fields)
    if not isinstance(data, list) or len(data) > len(places):
        raise RagError(f"data is a list of up to {len(places)} values", hint=f"arguments are {', '.join(places)}")
    call = checked(kind, dict(zip(places, data, strict=False)))
    return [getattr(call, place) for place in places]


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None where it is too long."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MOST_BYTES:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Hands out a body that was read already, then whatever comes after it."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def messages() -> Message:
        return left.pop() if left else await receive()

    return messages


async def _answer(send: Send, status: int, detail: str) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"detail": detail}).encode()})
