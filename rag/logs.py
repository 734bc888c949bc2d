"""The log on stderr: words for a person, or one JSON object a line for a machine (`RAG_LOG=json`).

No log line holds a secret, and none holds what was asked or what an abstract says, unless RAG_LOG_QUESTIONS asks for
it: messages are written that way, and of an exception that is not ours only the kind and the place are told, because
its message may quote anything.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
import traceback
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from rag.errors import RagError
from rag.settings import LogSettings, Settings, load_settings, log_settings, secret_values

_OURS = ("rag", "ui", "eval")
_SHORTEST_SECRET = 4  # characters; masking shorter ones would garble every line
_MASK = "***"
_SPEAKS_FOR_ITSELF = (RagError, OSError)  # "No space left on device" is what a reader of the log has to know


def logged_settings(**overrides: Any) -> Settings:
    """The settings in force, with the log begun as they say. Raises SettingsError, which the log's form applies to."""
    start_log(log_settings())
    settings = load_settings(**overrides)
    start_log(settings)
    return settings


def start_log(settings: LogSettings, *, secrets: Iterable[str] = ()) -> None:
    """Send the log of this process to stderr; to be called again when more is known.

    `secrets` are masked beside those in the settings. As JSON it takes stderr over, so that what libraries print
    there comes as JSON too, and tells requests and other events beside warnings.
    """
    form = settings.log
    hidden = {*secrets, *(secret_values(settings) if isinstance(settings, Settings) else ())}
    masked = sorted((secret for secret in hidden if len(secret) >= _SHORTEST_SECRET), key=len, reverse=True)
    formatter = (_Json if form == "json" else _Text)(masked, settings.log_questions)
    handler = _Handler()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    for old in [one for one in root.handlers if isinstance(one, _Handler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO if form == "json" else logging.WARNING)
    if form == "json" and not isinstance(sys.stderr, _Lines):
        sys.stderr = _Lines(sys.stderr)
        logging.captureWarnings(True)
        sys.excepthook = _log_exception
        threading.excepthook = lambda said: _log_exception(said.exc_type, said.exc_value, said.exc_traceback)


def is_json() -> bool:
    """Whether stderr is one JSON object a line."""
    return isinstance(sys.stderr, _Lines)


def adopt(*names: str) -> None:
    """Let these loggers of libraries, which bring handlers of their own, write where all others do."""
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True


def fields(**values: object) -> dict[str, Any]:
    """`extra` of a log call: values that stand in the line beside the message."""
    return {"fields": values}


class _Handler(logging.StreamHandler[Any]):
    """Writes to what stderr is at that time, past the wrapper that turns print into log lines."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def emit(self, record: logging.LogRecord) -> None:
        stream = sys.stderr
        self.stream = stream.beneath if isinstance(stream, _Lines) else stream
        super().emit(record)


class _Formatter(logging.Formatter):
    def __init__(self, secrets: list[str], questions: bool) -> None:
        super().__init__()
        self._secrets = secrets
        self._questions = questions

    def masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text

    def said(self, error: BaseException) -> str:
        """An exception in one line: always its kind, its message where that cannot quote a question."""
        kind = type(error).__name__
        return f"{kind}: {error}" if self._questions or isinstance(error, _SPEAKS_FOR_ITSELF) else kind


class _Text(_Formatter):
    """`12:00:00 warning rag.store: message key=value`, and the places of an exception below it."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        values = "".join(f" {name}={value}" for name, value in _fields(record).items())
        lines = [f"{when} {record.levelname.lower()} {record.name}: {record.getMessage()}{values}"]
        if error := _error(record):
            lines += [f"  {place}" for place in _places(error)]
            lines.append(f"  {self.said(error)}")
        return self.masked("\n".join(lines))


class _Json(_Formatter):
    """One object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if error := _error(record):
            told |= {"error": self.said(error), "places": _places(error)}
        return json.dumps({name: self._plain(value) for name, value in told.items()}, ensure_ascii=False)

    def _plain(self, value: object) -> object:
        """Masked before it becomes JSON, which spells some characters otherwise."""
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        return value if value is None or isinstance(value, bool | int | float) else self.masked(str(value))


class _Lines(io.TextIOBase):
    """Stands in for stderr: every line that is printed there becomes a line of the log."""

    def __init__(self, beneath: Any) -> None:
        self.beneath = beneath
        self._started = threading.local()

    def write(self, text: str) -> int:
        *lines, rest = (getattr(self._started, "line", "") + text).split("\n")
        self._started.line = rest
        for line in lines:
            if line.strip():
                logging.getLogger("stderr").warning("%s", line.rstrip())
        return len(text)

    def flush(self) -> None:
        self.beneath.flush()

    def fileno(self) -> int:
        return int(self.beneath.fileno())

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(self.beneath.encoding)


def _log_exception(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt | SystemExit) or error is None:
        return
    logging.getLogger("rag").critical("the program failed", exc_info=(kind, error, trace))


def _fields(record: logging.LogRecord) -> Mapping[str, object]:
    found: Mapping[str, object] = getattr(record, "fields", {})
    return found


def _error(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _places(error: BaseException) -> list[str]:
    """Where it came from, outermost first; the lines of the program itself are not told."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
