"""Imports run one way, and what is heavy is loaded only when it is used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "rag").rglob("*.py"))

# A module may import from its own level and from those above it.
LEVELS = [
    {"rag", "rag.errors", "rag.language", "rag.names"},
    {"rag.settings", "rag.papers", "rag.markup", "rag.quantities", "rag.minilm", "rag.logs"},
    {"rag.text", "rag.identity", "rag.disk", "rag.hub"},
    {"rag.readers", "rag.embedding", "rag.chunks", "rag.database", "rag.catalogue", "rag.chroma"},
    {"rag.metadata"},
    {"rag.collection", "rag.sync"},
    {
        "rag.store",
        "rag.answer",
        "rag.evidence",
        "rag.fulltext",
        "rag.authors",
        "rag.suggestion",
        "rag.events",
        "rag.spelling",
    },
    {"rag.retrieval", "rag.recovery"},
    {"rag.subject", "rag.followup"},
    {
        "rag.answerability",
        "rag.ellipsis",
        "rag.topic",
        "rag.parts",
        "rag.record",
        "rag.smalltalk",
        "rag.generation",
        "rag.conversation",
        "rag.grounding",
    },
    {
        "rag.inquiry",
        "rag.shelf",
        "rag.composition",
        "rag.verification",
        "rag.asking",
        "rag.engine",
        "rag.query_engine",
        "rag.writers",
    },
    {"rag.export", "rag.doctor", "rag.terminal"},
    {"rag.chat"},
    {"rag.cli"},
]
PURE = {"rag.errors", "rag.language", "rag.markup", "rag.text", "rag.quantities", "rag.papers", "rag.identity"}
HEAVY = ("torch", "gradio", "chromadb", "transformers", "sentence_transformers", "llama_index", "httpx", "rich")
# (module, what it imports): the one place where a lower level hands out an upper one, when asked for it
GIVEN = {("rag.engine", "rag.query_engine")}


def unit(module: str) -> str:
    """The module or package of LEVELS that a module belongs to."""
    return ".".join(module.split(".")[:2])


def imports(file: Path, *, lazy: bool = True) -> set[str]:
    """What of ours a file imports; with `lazy` False only what importing the file imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes: list[ast.AST] = list(ast.walk(tree)) if lazy else list(tree.body)
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{file}: relative import"
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] in ("rag", "ui", "eval")}


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_module_has_a_level() -> None:
    placed = set().union(*LEVELS)
    assert {unit(module_of(file)) for file in FILES} - placed == set()
    assert placed - {unit(module_of(file)) for file in FILES} == set()


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_imports_run_one_way(file: Path) -> None:
    level = {name: index for index, names in enumerate(LEVELS) for name in names}
    mine = unit(module_of(file))
    ours = {unit(name) for name in imports(file) if name.startswith("rag")}
    upwards = {name for name in ours if level[name] > level[mine] and (mine, name) not in GIVEN}
    assert upwards == set()


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_rag_knows_neither_app_nor_evaluation(file: Path) -> None:
    """Only the command line does, when one of their commands runs."""
    module = module_of(file)
    others = {name for name in imports(file, lazy=module != "rag.cli") if not name.startswith("rag")}
    assert others == set()


@pytest.mark.parametrize(
    "package", ["rag", "rag.settings", "rag.errors", "rag.papers", "rag.store", "rag.engine", "rag.cli"]
)
def test_importing_loads_nothing_heavy(package: str) -> None:
    heavy = [name for name in HEAVY if not (package == "rag.engine" and name in ("httpx", "llama_index", "rich"))]
    program = f"import sys, {package}; print([name for name in {heavy} if name in sys.modules])"
    assert run(program) == "[]"


def test_pure_modules_import_only_pure_ones() -> None:
    ours = {module_of(file): imports(file) for file in FILES if unit(module_of(file)) in PURE}
    assert {(module, name) for module, names in ours.items() for name in names if unit(name) not in PURE} == set()


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["--version"], ["config"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    heavy = [name for name in HEAVY if name != "rich"]
    program = (
        "import atexit, sys\n"
        f"sys.argv = ['rag', *{arguments}]\n"
        f"atexit.register(lambda: print('loaded:', [name for name in {heavy} if name in sys.modules]))\n"
        "from rag.cli import main\nmain()"
    )
    assert run(program).endswith("loaded: []")


def run(program: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
