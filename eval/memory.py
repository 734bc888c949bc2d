"""How much memory a process holds."""

from __future__ import annotations

import sys
from pathlib import Path

_STATUS = "/proc/{process}/status"


def peak_memory_mb() -> float | None:
    """The most that this one has held, in MiB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def resident_memory_mb(process: int | None = None) -> float | None:
    """What this process, or the one with that id, holds now, in MiB; None where the system does not tell."""
    status = Path(_STATUS.format(process=process or "self"))
    if not status.exists():
        return None
    line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS:"))
    return round(int(line.split()[1]) / 1024, 1)
