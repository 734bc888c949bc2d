"""What goes wrong between us and a model's server, told in one line with what to do about it.

The SDKs each have exceptions of their own, over two HTTP libraries; they are told apart by status code and by the
names in the chain of causes, so that no SDK has to be imported to explain another's error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag.errors import ModelUnavailable
from rag.generation.models import Model

KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openai-compatible": (),
}
INSTALL = "pip install 'askabstracts[hosted]'"
_NO_MODEL = "RAG_LLM=extractive answers without a model"
_MAY_PASS = {429, 503}
_SHOWN_DETAIL = 200
# What servers and HTTP libraries repeat of a call: "Incorrect API key provided: sk-…", "…?key=AIza…", "Bearer …".
_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][\w-]{6,}|\bAIza[\w-]{10,}"
    r"|(?<=key=)[^\s&'\"]+|(?<=token=)[^\s&'\"]+|(?<=bearer )[^\s'\"]+",
    re.IGNORECASE,
)


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, what caused that, …"""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def status(error: BaseException) -> int | None:
    """The HTTP status the server gave, if the error is about one."""
    for cause in causes(error):
        for attribute in ("status_code", "code"):
            value = getattr(cause, attribute, None)
            if isinstance(value, int) and 100 <= value < 600:
                return value
    return None


def is_refused(error: BaseException) -> bool:
    """Nobody listens at that address (or it has no such host)."""
    return _named(error, "ConnectError", "ConnectionRefusedError", "ConnectTimeout", "gaierror")


def may_pass(error: BaseException) -> bool:
    """Worth another try a moment later: nobody listens yet, the server is busy or is still loading the model."""
    return status(error) in _MAY_PASS or (status(error) is None and is_refused(error))


def retry_after(error: BaseException) -> float:
    """Seconds the server asked us to wait, 0 when it did not say."""
    for cause in causes(error):
        headers = getattr(getattr(cause, "response", None), "headers", None)
        value = headers.get("retry-after", "") if headers is not None else ""
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
    return 0.0


def explain(error: BaseException, model: Model, *, begun: bool = False, html: bool = False) -> ModelUnavailable:
    """`error` as one readable line; `begun` tells that a part of the answer had come."""
    if isinstance(error, ModelUnavailable):
        return error
    code = status(error)
    if code is not None:
        return _by_status(code, error, model)
    if begun:
        return ModelUnavailable(
            f"The connection to {model.name} at {model.url} broke off in mid-answer ({_detail(error)})",
            hint=f"ask again; {_restart(model)}",
        )
    if is_refused(error):
        return not_running(model, _detail(error))
    if _named(error, "ReadTimeout", "APITimeoutError", "TimeoutException", "WriteTimeout"):
        return too_slow(model, model.first_token_seconds, begun=False)
    if html or _named(error, "JSONDecodeError", "ValidationError", "UnicodeDecodeError"):
        return not_a_model(model, html=html)
    if _named(error, "RemoteProtocolError", "ReadError", "ConnectionResetError", "WriteError", "ProtocolError"):
        return ModelUnavailable(
            f"{model.url} closed the connection before {model.name} answered ({_detail(error)})", hint=_restart(model)
        )
    if isinstance(error, TypeError | AttributeError | ImportError) and not begun:
        return ModelUnavailable(
            f"The installed packages for {model.provider} do not fit together ({_detail(error)})",
            hint=f"{INSTALL} brings versions that were tested; {_NO_MODEL}",
        )
    return ModelUnavailable(f"{model.name} at {model.url} failed: {_detail(error)}", hint=_NO_MODEL)


def not_running(model: Model, detail: str = "connection refused") -> ModelUnavailable:
    if model.provider == "ollama":
        return ModelUnavailable(
            f"Ollama does not answer at {model.url} ({detail})",
            hint=f"start it with `ollama serve`, or set RAG_OLLAMA_URL to where it listens; {_NO_MODEL}",
        )
    where = "RAG_LLM_URL" if model.provider == "openai-compatible" else "the network and its proxy settings"
    return ModelUnavailable(f"Nothing answers at {model.url} ({detail})", hint=f"check {where}; {_NO_MODEL}")


def not_pulled(model: Model, present: Sequence[str]) -> ModelUnavailable:
    """`present` are the names the server does have."""
    there = f"there are: {', '.join(present)}" if present else "there is none yet"
    return ModelUnavailable(
        f"Ollama at {model.url} has no model {model.bare_name}; {there}",
        hint=f"`ollama pull {model.bare_name}` fetches it",
    )


def too_slow(model: Model, seconds: float, *, begun: bool) -> ModelUnavailable:
    what, setting = (
        ("paused in mid-answer", "RAG_BETWEEN_TOKENS_SECONDS")
        if begun
        else ("did not begin", "RAG_FIRST_TOKEN_SECONDS")
    )
    return ModelUnavailable(
        f"{model.name} at {model.url} {what} for {seconds:g} s, and was given up",
        hint=f"a smaller model or a smaller RAG_TOP_K is faster; {setting} sets how long to wait",
    )


def endless(model: Model, length: int) -> ModelUnavailable:
    return ModelUnavailable(
        f"{model.name} at {model.url} did not stop after {length:,} characters, and was given up",
        hint=f"another model or server heeds RAG_ANSWER_TOKENS; {_NO_MODEL}",
    )


def not_a_model(model: Model, *, html: bool = False) -> ModelUnavailable:
    got = "a web page (HTML)" if html else "something that is no chat answer"
    hint = "most such servers want a URL that ends in /v1" if model.provider == "openai-compatible" else _restart(model)
    return ModelUnavailable(f"{model.url} answered {model.name}'s call with {got}", hint=hint)


def no_key(provider: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"There is no API key for {provider}", hint=f"set {' or '.join(('RAG_LLM_KEY', *KEY_VARIABLES[provider]))}"
    )


def _by_status(code: int, error: BaseException, model: Model) -> ModelUnavailable:
    detail = _detail(error)
    if code in (401, 403):
        variables = " or ".join(("RAG_LLM_KEY", *KEY_VARIABLES.get(model.provider, ())))
        return ModelUnavailable(f"{model.url} refused the API key for {model.name} ({code})", hint=f"check {variables}")
    if code == 404 and model.provider == "ollama" and "model" in detail:
        return not_pulled(model, ())
    if code == 404:
        address = " and RAG_LLM_URL (most end in /v1)" if model.provider == "openai-compatible" else ""
        return ModelUnavailable(
            f"{model.url} knows no model {model.bare_name} (404)", hint=f"check the name in RAG_LLM{address}"
        )
    if code == 429:
        wait = retry_after(error)
        when = f"ask again in {wait:.0f} s" if wait else "ask again later"
        return ModelUnavailable(
            f"{model.url} allows no more requests for now (429)",
            hint=f"{when}, or check the account's quota; {_NO_MODEL}",
        )
    if code in (400, 413, 422) and re.search(r"context|too long|exceed|maximum.*tokens", detail, re.IGNORECASE):
        return ModelUnavailable(
            f"The question and its abstracts are too long for {model.name}: {detail}",
            hint="set RAG_CONTEXT to the model's context window, or take a smaller RAG_TOP_K",
        )
    if code == 503:
        return ModelUnavailable(
            f"{model.url} is overloaded or still loading {model.name} (503)", hint="ask again in a minute"
        )
    return ModelUnavailable(f"{model.url} failed with {code}: {detail}", hint=_restart(model))


def _restart(model: Model) -> str:
    if model.provider == "ollama":
        return f"its log says more (`ollama serve` shows it); {_NO_MODEL}"
    return _NO_MODEL


def _named(error: BaseException, *names: str) -> bool:
    """Whether a cause, or a class it is made from, bears one of these names."""
    return any(kind.__name__ in names for cause in causes(error) for kind in type(cause).__mro__)


def _detail(error: BaseException) -> str:
    """The innermost words about it, without markup, in one short line."""
    texts = [str(cause) for cause in causes(error) if str(cause)]
    text = texts[0] if status(error) is not None and texts else texts[-1] if texts else type(error).__name__
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    text = _KEY.sub("***", " ".join(text.split()))
    return text if len(text) <= _SHOWN_DETAIL else text[: _SHOWN_DETAIL - 1] + "…"
