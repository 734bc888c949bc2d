"""What the Dockerfile and compose.yaml promise. No container engine is asked for: the files are parsed, and at night
the Dockerfile's steps are run in an empty folder as a user without rights."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
import yaml
from gradio_client import Client
from servers import free_port

from rag.cli import app as cli
from rag.embedding import Embedder
from rag.settings import Settings, load_settings
from rag.store import Store

ROOT = Path(__file__).parents[1]
HEALTHCHECK = ROOT / "docker" / "healthcheck.py"
PAGES = [ROOT / name for name in ("Dockerfile", "compose.yaml", "README.md", "SECURITY.md", "CHANGELOG.md")]
UID = "10001"


@dataclass(frozen=True)
class Instruction:
    """One of the Dockerfile; `stage` counts from 0, -1 before the first FROM."""

    stage: int
    name: str
    text: str

    @property
    def words(self) -> list[str]:
        return [word for word in shlex.split(self.text) if not word.startswith("--")]


def instructions() -> list[Instruction]:
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found, stage = [], -1
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            stage += name == "FROM"
            found.append(Instruction(stage, name, rest.strip()))
    return found


DOCKERFILE = instructions()
LAST = max(one.stage for one in DOCKERFILE)


def last(name: str) -> Instruction:
    """The one that holds for the image."""
    return [one for one in DOCKERFILE if one.name == name and one.stage == LAST][-1]


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


# -- the Dockerfile ---------------------------------------------------------------------------------------------------


def test_only_known_instructions_stand_in_it() -> None:
    known = {"ARG", "FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"}
    assert {one.name for one in DOCKERFILE} <= known
    assert DOCKERFILE[0].name in ("ARG", "FROM")


def test_the_base_is_slim_pinned_and_of_a_supported_python() -> None:
    argument = next(one for one in DOCKERFILE if one.name == "ARG" and one.stage == -1)
    name, _, tag = argument.text.partition("=")
    assert {one.words[0] for one in DOCKERFILE if one.name == "FROM"} == {f"python:${{{name}}}"}
    version = re.fullmatch(r"3\.(\d+)\.\d+-slim-\w+", tag)
    assert version, f"{tag} is not a slim tag with a patch version"
    assert 11 <= int(version[1]) <= 13


def test_torch_is_the_cpu_build_at_the_version_of_the_constraints() -> None:
    runs = [one.text for one in DOCKERFILE if one.name == "RUN"]
    torch = next(run for run in runs if run.endswith("torch"))
    assert '--index-url "$TORCH_INDEX"' in torch
    assert all("-c constraints.txt" in run for run in runs if "pip install" in run)
    index = next(one.text for one in DOCKERFILE if one.name == "ARG" and one.text.startswith("TORCH_INDEX="))
    assert index.endswith("/whl/cpu")
    assert re.search(r"^torch==[\d.]+$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_extras_are_the_projects() -> None:
    wanted = next(one.text for one in DOCKERFILE if one.name == "ARG" and one.text.startswith("EXTRAS="))
    declared = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(wanted.partition("=")[2].split(",")) <= set(declared)


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps a path out of the build; the last rule that fits decides."""
    out = False
    for rule in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = rule.removeprefix("!").removeprefix("**/")
        if rule and not rule.startswith("#"):
            parts = [path, *map(str, Path(path).parents)]
            if any(fnmatch.fnmatch(part, pattern) or fnmatch.fnmatch(Path(part).name, pattern) for part in parts[:-1]):
                out = not rule.startswith("!")
    return out


def test_what_is_copied_exists_and_nothing_else_is_sent_to_the_build() -> None:
    copied = [word for one in DOCKERFILE if one.name == "COPY" and "--from" not in one.text for word in one.words[:-1]]
    assert {"rag", "ui", "eval", "constraints.txt", "pyproject.toml"} <= set(copied)
    for path in copied:
        assert (ROOT / path).exists(), path
        assert not ignored(path), path
    for path in (".git/config", ".env", "rag.toml", "tests/conftest.py", "rag/__pycache__/cli.pyc", "data/x.sqlite"):
        assert ignored(path), path


def test_it_runs_as_a_user_of_a_fixed_number_who_owns_the_data() -> None:
    made = next(one.text for one in DOCKERFILE if one.name == "RUN" and one.stage == LAST)
    user = re.search(r"useradd --uid (\d+) .* (\w+)\s+&& install -d -o (\w+) -g (\w+) (\S+)$", made)
    assert user
    assert last("USER").text == f"{user[1]}:{user[1]}" == f"{UID}:{UID}"
    assert user[2] == user[3] == user[4]
    assert last("VOLUME").text == user[5] == environment_of_the_image()["RAG_DATA"]
    after = [one.name for one in DOCKERFILE if one.stage == LAST]
    assert "RUN" not in after[after.index("USER") :]


def environment_of_the_image() -> dict[str, str]:
    pairs = [word.partition("=") for one in DOCKERFILE if one.name == "ENV" and one.stage == LAST for word in one.words]
    return {name: value for name, _, value in pairs}


def test_it_serves_where_it_says_and_is_asked_how_it_is() -> None:
    command = json.loads(last("CMD").text)
    assert command == ["rag", "serve", "--host", "0.0.0.0"]
    asked = json.loads(last("HEALTHCHECK").text.partition("CMD ")[2])
    script = next(one for one in DOCKERFILE if one.name == "COPY" and "healthcheck" in one.text)
    assert asked == ["python", script.words[-1]]
    assert ROOT / script.words[0] == HEALTHCHECK
    brought = next(one for one in DOCKERFILE if one.name == "COPY" and "--from=build" in one.text)
    assert script.words[-1].startswith(f"{brought.words[0]}/")
    assert f":{last('EXPOSE').text}/healthz" in HEALTHCHECK.read_text(encoding="utf-8")


# -- the health check -------------------------------------------------------------------------------------------------


def check(url: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", str(HEALTHCHECK), url]  # -S: no package is needed
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **variables}
    )


@pytest.fixture
def answers() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    """A server that answers what stands in the list."""
    script: list[tuple[int, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = script[0]
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep the test's output clean."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/healthz", script
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        (200, b'{"status": "ok"}', 0),
        (200, b'{"status": "unavailable"}', 1),
        (200, b"<html>a page</html>", 1),
        (200, b'["ok"]', 1),
        (503, b'{"status": "unavailable", "reason": "the store is damaged"}', 1),
        (401, b"", 1),
    ],
)
def test_the_health_check_believes_only_ok(
    answers: tuple[str, list[tuple[int, bytes]]], code: int, body: bytes, expected: int
) -> None:
    url, script = answers
    script.append((code, body))
    done = check(url, http_proxy="http://127.0.0.1:9")
    assert (done.returncode, done.stderr) == (expected, "")
    assert len(done.stdout.splitlines()) == 1
    if code == 503:
        assert "the store is damaged" in done.stdout


def test_the_health_check_when_nobody_listens() -> None:
    done = check(f"http://127.0.0.1:{free_port()}/healthz")
    assert (done.returncode, done.stderr) == (1, "")
    assert "no answer" in done.stdout


def test_the_health_check_asks_a_real_app(sample_copy: Path, embedder: Embedder) -> None:
    """Started as the image starts it: by the environment alone, and with a login."""
    port = free_port()
    command = [sys.executable, "-c", "from rag.cli import main; main()", "serve", "--port", str(port)]
    environment = {**os.environ, **environment_of_the_image(), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    environment |= {"RAG_DATA": str(sample_copy), "HF_HOME": str(sample_copy), "RAG_AUTH": "ann:a-password"}
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        until_healthy(process, f"{url}/healthz")
        assert httpx.get(f"{url}/config").status_code == 401
        store = Store(load_settings(data=sample_copy), embedder)
        store.collection.delete(list(store.collection.ids())[:1])
        store.catalogue.count_change()
        store.close()
        time.sleep(2.5)  # longer than a look is remembered
        assert check(f"{url}/healthz").returncode == 1
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0, "what stops a container ends it in order"


def until_healthy(process: subprocess.Popen[str], url: str) -> None:
    deadline = time.monotonic() + 180
    while check(url).returncode:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.5)


# -- compose ----------------------------------------------------------------------------------------------------------

# The part of the compose specification that is used here: the type of each attribute.
SERVICE = {
    "build": str, "image": str, "ports": list, "environment": dict, "volumes": list, "depends_on": dict,
    "read_only": bool, "tmpfs": list, "cap_drop": list, "security_opt": list, "restart": str, "healthcheck": dict,
    "entrypoint": list, "command": list, "profiles": list,
}  # fmt: skip


def test_compose_has_the_structure_of_the_specification() -> None:
    loaded = compose()
    assert set(loaded) <= {"name", "services", "volumes"}
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", loaded["name"])
    services = loaded["services"]
    used = set()
    for name, service in services.items():
        for key, value in service.items():
            assert isinstance(value, SERVICE[key]), (name, key)
        for other, condition in service.get("depends_on", {}).items():
            assert other in services
            known = ("service_started", "service_healthy", "service_completed_successfully")
            assert condition["condition"] in known
            if condition["condition"] == "service_healthy":
                assert services[other]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
            if services[other].get("profiles") and not service.get("profiles"):
                assert condition["required"] is False, f"{name} would not start without the profile of {other}"
        assert service.get("restart", "no") in ("no", "always", "on-failure", "unless-stopped")
        assert all(isinstance(value, str) for value in service.get("environment", {}).values())
        used |= {volume.partition(":")[0] for volume in service.get("volumes", ()) if re.match(r"\w+:", volume)}
    assert used == set(loaded["volumes"])


def test_compose_opens_the_app_to_this_machine_only_and_gives_it_no_rights() -> None:
    services = compose()["services"]
    app = services["app"]
    assert app["ports"] == ["127.0.0.1:${PORT:-7860}:7860"]
    assert [name for name, service in services.items() if "ports" in service] == ["app"]
    assert (app["read_only"], app["cap_drop"], app["tmpfs"]) == (True, ["ALL"], ["/tmp"])
    assert any(volume.endswith(f":{environment_of_the_image()['RAG_DATA']}") for volume in app["volumes"])
    assert app["environment"]["RAG_OLLAMA_URL"] == "http://ollama:11434"


def test_compose_pulls_the_model_once_that_the_app_asks_for() -> None:
    services = compose()["services"]
    model = services["model"]
    assert model["restart"] == "no"
    assert model["command"] == ["${MODEL:-llama3.2}"]
    assert "${MODEL:-llama3.2}" in services["app"]["environment"]["RAG_LLM"]
    assert services["app"]["depends_on"]["model"]["condition"] == "service_completed_successfully"
    assert services["chroma"]["profiles"] == ["chroma"]


def test_images_are_pinned_and_chroma_is_of_the_version_that_was_tested() -> None:
    images = {service["image"] for service in compose()["services"].values() if "build" not in service}
    assert all(re.fullmatch(r"[\w/]+:\d+\.\d+\.\d+", image) for image in images)
    tested = re.search(r"^chromadb==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert tested
    assert f"chromadb/chroma:{tested[1]}" in images


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name)
def test_every_variable_named_is_a_setting(page: Path) -> None:
    settings = {f"RAG_{name.upper()}" for name in Settings.model_fields}
    serve = typer.main.get_command(cli).commands["serve"]  # type: ignore[attr-defined]
    options = {variable for option in serve.params for variable in (option.envvar or "").split()}
    for_tests = {"RAG_SHARED"}
    named = set(re.findall(r"\bRAG_[A-Z][A-Z_]*[A-Z]\b", page.read_text(encoding="utf-8")))
    assert named - settings - options - for_tests == set()


# -- at night: the steps of the Dockerfile ----------------------------------------------------------------------------


def as_nobody(folder: Path) -> list[str]:
    """What runs a command as a user without rights: the image's, where this is root."""
    if os.geteuid():
        return []
    setpriv = shutil.which("setpriv")
    if not setpriv:
        pytest.skip("setpriv is not here, and this is root")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, int(UID), int(UID))
    return [setpriv, f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all"]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """An empty folder that another user can reach; pytest's are the user's alone."""
    with tempfile.TemporaryDirectory(prefix="askabstracts-image-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def usable_python(prefix: list[str]) -> str:
    """One of this version that such a user may run."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (shutil.which(version, path="/usr/local/bin:/usr/bin") or "", sys._base_executable):  # type: ignore[attr-defined]
        try:
            if (
                candidate
                and not subprocess.run(
                    [*prefix, "sh", "-c", f"{candidate} -c 'import ensurepip'"], check=False
                ).returncode
            ):
                return str(candidate)
        except OSError:
            continue
    pytest.skip(f"no {version} here that another user may run")


@pytest.mark.nightly
def test_the_steps_of_the_dockerfile_make_an_app_that_answers(open_folder: Path) -> None:
    """Paths of the image stand below an empty folder; what only root can do (the user) is left out. TORCH_INDEX and
    other ARGs are taken from the environment where they are set there, as --build-arg would."""
    image = open_folder / "image"
    places = {path: image / path.lstrip("/") for path in ("/src", "/opt/askabstracts", "/data", "/home/askabstracts")}
    for place in places.values():
        place.mkdir(parents=True)
    context = open_folder / "context"
    for one in DOCKERFILE:
        if one.name == "COPY" and "--from" not in one.text:
            for path in one.words[:-1]:
                target = context / path
                target.parent.mkdir(parents=True, exist_ok=True)
                source = ROOT / path
                unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
                shutil.copytree(source, target, ignore=unwanted) if source.is_dir() else shutil.copy(source, target)
    prefix = as_nobody(open_folder)

    def moved(text: str) -> str:
        for path, place in places.items():
            text = re.sub(rf"(?<![\w/.]){re.escape(path)}(?![\w])", str(place), text)
        return text

    scratch = places["/home/askabstracts"]
    interpreter = usable_python(prefix)
    programs = scratch / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(interpreter)
    known = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "SSL_", "LANG"))}
    bare = {
        **known,
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "PATH": f"{programs}:/usr/bin:/bin",
    }

    def run(command: list[str], environment: dict[str, str], where: Path) -> None:
        done = subprocess.run(
            [*prefix, *command], cwd=where, env=environment, capture_output=True, text=True, timeout=1800, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"

    environment, where = dict(bare), context
    for one in DOCKERFILE:
        if one.stage == LAST and one.name in ("FROM", "RUN", "ENV"):
            break
        if one.name == "ARG":
            name, _, value = one.text.partition("=")
            environment[name] = os.environ.get(name, value)
        elif one.name == "WORKDIR":
            where = Path(moved(one.text))
        elif one.name == "ENV":
            for word in one.words:
                name, _, value = word.partition("=")
                environment[name] = moved(value).replace("$PATH", environment["PATH"])
        elif one.name == "RUN":
            run(["sh", "-ec", moved(one.text)], environment, where)
        elif one.name == "COPY":
            *copied, target = one.words
            there = (where / moved(target)).resolve()
            for path in copied:
                into = there / Path(path).name if target.endswith("/") else there
                run(["cp", "-r", str(context / path), str(into)], bare, where)

    image_environment = {name: moved(value) for name, value in environment_of_the_image().items()}
    image_environment["PATH"] = image_environment["PATH"].replace("$PATH", "/usr/bin:/bin")
    serving = {"HOME": str(scratch), "TMPDIR": str(scratch), "LANG": "C.UTF-8", **image_environment}
    program = str(places["/opt/askabstracts"] / "bin" / "rag")
    sample = context / "rag" / "data" / "iclr2026_sample.jsonl"
    run([program, "ingest", str(sample)], serving, scratch)
    port = free_port()
    command = [*prefix, program, *json.loads(last("CMD").text)[1:2], "--port", str(port)]
    process = subprocess.Popen(
        command, env=serving, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        until_healthy(process, f"http://127.0.0.1:{port}/healthz")
        script = json.loads(last("HEALTHCHECK").text.partition("CMD ")[2])[1]
        run(["python", moved(script), f"http://127.0.0.1:{port}/healthz"], serving, scratch)
        asked = "By what factor does TNT speed up training?"
        assert "17" in Client(f"http://127.0.0.1:{port}", verbose=False).predict(asked, api_name="/ask")["text"]
    finally:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    for line in told.splitlines():
        assert json.loads(line)["level"] in ("info", "warning"), line
