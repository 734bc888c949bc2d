"""Every reader under fuzzing: the saved corpus each time, and minutes of new inputs at night."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from driver import TARGETS, corpus, watched

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", TARGETS)
def test_the_saved_corpus(target: str, tmp_path: Path) -> None:
    inputs = corpus(target)
    assert watched(target, inputs[0], tmp_path)[0] in "123", "the first sample is valid"
    for content in inputs:
        watched(target, content, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("target", TARGETS)
def test_minutes_of_new_inputs(target: str) -> None:
    seconds = os.environ.get("FUZZ_SECONDS", "300")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "fuzz" / "driver.py"), target, seconds],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 0
