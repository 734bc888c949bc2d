"""How much memory this process holds."""

from __future__ import annotations

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_memory_mb() -> float | None:
    """The most that it has held, in MiB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def resident_memory_mb() -> float | None:
    """What it holds now, in MiB; None where the system does not tell."""
    if not _STATUS.exists():
        return None
    line = next(line for line in _STATUS.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS:"))
    return round(int(line.split()[1]) / 1024, 1)
