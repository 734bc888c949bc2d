"""Every setting there is: `RAG_*` in the environment, then `.env`, then `rag.toml`, then the default."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from rag.errors import SettingsError

_LOGIN = re.compile(r"(?<=//)[^/@\s]+@")  # in an address, "user:password@"
_KEY_VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "HF_TOKEN")


class LogSettings(BaseSettings):
    """How to log: read before all else, so that a setting with a bad value can be told in that form."""

    model_config = SettingsConfigDict(
        env_prefix="RAG_", env_file=".env", toml_file="rag.toml", extra="ignore", validate_default=True
    )

    log: Literal["text", "json"] = Field(
        default="text", description="Log on stderr: warnings in words, or every event as one JSON object a line."
    )
    log_questions: bool = Field(default=False, description="Whether what is asked may stand in the log.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, dotenv_settings, TomlConfigSettingsSource(settings_cls)


class Settings(LogSettings):
    """What can be set. Read once by the command line or the app and passed on from there."""

    data: Path = Field(
        default_factory=lambda: user_data_path("askabstracts", appauthor=False),
        description="Folder of the catalogue, the collection and the last answer.",
    )

    llm: str = Field(
        "auto",
        description="auto, extractive, or ollama/NAME; openai, anthropic, google and openai-compatible likewise.",
    )
    llm_url: str = Field(
        "", description="Base URL of the server for openai-compatible/NAME, e.g. http://127.0.0.1:8080/v1."
    )
    llm_key: SecretStr = Field(
        SecretStr(""), description="API key; else OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY."
    )
    ollama_url: str = Field(
        default_factory=lambda: _ollama_url(os.environ.get("OLLAMA_HOST", "")),
        description="Where Ollama listens; OLLAMA_HOST is honoured.",
    )
    context: int = Field(8192, ge=1024, description="Context window asked of the model, in tokens (Ollama's num_ctx).")
    answer_tokens: int = Field(400, ge=32, description="The longest answer, in tokens.")
    temperature: float = Field(0.0, ge=0.0, le=2.0, description="Sampling temperature of the model.")
    first_token_seconds: float = Field(600, gt=0, description="How long to wait for a model's first token.")
    between_tokens_seconds: float = Field(120, gt=0, description="How long a model may pause in mid-answer.")

    embed_model: str = Field("minilm", description="minilm (packaged, no network), or a Hugging Face name or folder.")
    embed_precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto", description="auto takes bf16 where the processor has units for it."
    )

    chroma_url: str = Field(
        "", description="A Chroma server, e.g. http://host:8000; empty: a folder beside the catalogue."
    )
    chroma_token: SecretStr = Field(SecretStr(""), description="Token for the Chroma server or Chroma Cloud.")
    chroma_tenant: str = Field("default_tenant", description="Chroma tenant.")
    chroma_database: str = Field("default_database", description="Chroma database.")
    chroma_collection: str = Field("abstracts", min_length=3, description="Chroma collection.")
    chroma_seconds: float = Field(30, gt=0, description="How long one call of the Chroma server may take.")

    top_k: int = Field(5, ge=1, le=50, description="Papers given to the writer.")
    candidates: int = Field(100, ge=10, le=1000, description="Hits taken from each of the two rankings before fusion.")
    rerank_model: str = Field("", description="A sentence-transformers cross-encoder that reorders the top papers.")

    verifier: str = Field(
        "located",
        description="How sentences are checked: located, auto (odds where the model gives them), odds, nli:MODEL, llm.",
    )
    verifier_llm: str = Field("", description="The model that checks, as in RAG_LLM; empty: the one that answers.")
    verify_seconds: float = Field(20, ge=0, description="How long sentences are checked after an answer's last word.")
    unsupported: Literal["mark", "drop"] = Field("mark", description="What happens to sentences found in no abstract.")
    history_tokens: int = Field(
        1500, ge=0, description="How much of the conversation is kept for follow-ups, in tokens."
    )

    hosts: str = Field(
        "",
        description="Names the app may be opened by, as a proxy sends them, separated by commas. Empty: on 127.0.0.1 "
        "without a password localhost and addresses, else any.",
    )

    lock_seconds: float = Field(30, ge=0, description="How long a second writer waits for the first.")

    @field_validator("verifier")
    @classmethod
    def _known_verifier(cls, value: str) -> str:
        if value in ("auto", "located", "odds", "llm") or value.removeprefix("nli:") not in ("", value):
            return value
        raise ValueError("use auto, located, odds, nli:MODEL or llm")

    @property
    def catalogue_path(self) -> Path:
        return self.data / "catalogue.sqlite"

    @property
    def chroma_path(self) -> Path:
        return self.data / "chroma"

    @property
    def calibrations_path(self) -> Path:
        """What is known of how well models check."""
        return self.data / "verifiers.json"

    @property
    def hub_models(self) -> tuple[str, ...]:
        """The models that are asked for by a Hugging Face name; without any, the hub is never tried."""
        reader = self.verifier.removeprefix("nli:") if self.verifier.startswith("nli:") else ""
        embedder = "" if self.embed_model == "minilm" else self.embed_model
        return tuple(name for name in (embedder, self.rerank_model, reader) if name and not Path(name).is_dir())


def log_settings() -> LogSettings:
    """How to log, whatever else is wrong with the settings; `load_settings` tells that."""
    try:
        return LogSettings()
    except ValueError:
        return LogSettings.model_construct(log="text", log_questions=False)


def secret_values(settings: Settings) -> list[str]:
    """Every secret that is set, also the keys that the providers' own variables hold: what no log line may show."""
    ours = [getattr(settings, name) for name in Settings.model_fields]
    theirs = [os.environ.get(name, "") for name in _KEY_VARIABLES]
    return [*(value.get_secret_value() for value in ours if isinstance(value, SecretStr)), *theirs]


def load_settings(**overrides: Any) -> Settings:
    """The settings in force. Raises SettingsError with one line for each value that cannot be used."""
    try:
        return Settings(**{key: value for key, value in overrides.items() if value is not None})
    except ValidationError as error:
        lines = [
            f"RAG_{'_'.join(str(part) for part in item['loc']).upper()}: {item['msg']} (got {item['input']!r})"
            for item in error.errors()
        ]
        raise SettingsError("; ".join(lines), hint="rag config shows every setting and where it comes from") from None
    except OSError as error:
        raise SettingsError(
            f"the settings files of this folder cannot be read: {error}",
            hint="start in another folder, or get the right to read .env and rag.toml here",
        ) from error
    except ValueError as error:  # a rag.toml that is no TOML
        raise SettingsError(f"rag.toml cannot be read: {error}") from error


def _ollama_url(host: str) -> str:
    """OLLAMA_HOST as Ollama itself reads it: scheme and port may be left out, 0.0.0.0 means this machine."""
    if not host:
        return "http://127.0.0.1:11434"
    scheme, _, rest = host.rpartition("://")
    name, _, port = rest.strip("/").partition(":")
    default_port = {"http": "80", "https": "443"}.get(scheme, "11434")
    return f"{scheme or 'http'}://{'127.0.0.1' if name in ('', '0.0.0.0') else name}:{port or default_port}"


def unknown() -> Iterator[str]:
    """A line for each variable or key of a file that is set and is no setting, such as a mistyped one."""
    known = {f"RAG_{name}".upper() for name in Settings.model_fields} | {"RAG_AUTH"}  # that of `rag serve`
    here = {name.upper() for source in (EnvSettingsSource, DotEnvSettingsSource) for name in source(Settings).env_vars}
    here |= {f"RAG_{name}".upper() for name in TomlConfigSettingsSource(Settings).toml_data}
    for name in sorted(name for name in here - known if name.startswith("RAG_")):
        near = difflib.get_close_matches(name, known, n=1)
        yield f"{name} is no setting" + (f"; {near[0]} is" if near else "; rag config shows them all")


@dataclass(frozen=True, slots=True)
class Origin:
    """A setting as it stands: the variable that sets it, its value (secrets masked), where that came from, and what
    it is for."""

    variable: str
    value: str
    where: str
    description: str


def origins(settings: Settings) -> list[Origin]:
    """Every setting with its value and where that came from: "environment", ".env", "rag.toml" or "default"."""
    places = {
        "environment": EnvSettingsSource(Settings)(),
        ".env": DotEnvSettingsSource(Settings)(),
        "rag.toml": TomlConfigSettingsSource(Settings)(),
    }
    found = []
    for name, declared in Settings.model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = "set" if value.get_secret_value() else ""
        value = _LOGIN.sub("…@", str(value))
        where = next((place for place, values in places.items() if name in values), "default")
        found.append(Origin(f"RAG_{name.upper()}", value, where, declared.description or ""))
    return found
