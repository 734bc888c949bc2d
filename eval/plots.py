"""Plots as inline SVG: no script, no font, no request; colours come from the page's CSS classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_ROW = 26
_LABEL = 250
_WIDTH = 720
_VALUE = 150


def intervals(
    rows: Sequence[tuple[str, float, float, float, str]], *, low: float = 0.0, high: float = 1.0, title: str = ""
) -> str:
    """A line a row: label, a dot at the value, a bar from low to high, and the figures in words at the right.

    `rows` holds (label, value, low, high, words); the axis runs from `low` to `high`.
    """
    if not rows:
        return ""
    left, right = _LABEL, _WIDTH - _VALUE
    height = _ROW * (len(rows) + 1) + 8

    def x(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(left + min(1.0, max(0.0, share)) * (right - left), 1)

    parts = [_open(height, title)]
    for tick in range(5):
        at = low + (high - low) * tick / 4
        strong = " zero" if abs(at) < 1e-9 and low < 0 else ""
        parts.append(f'<line class="grid{strong}" x1="{x(at)}" x2="{x(at)}" y1="4" y2="{height - _ROW}"/>')
        parts.append(f'<text class="tick" x="{x(at)}" y="{height - 8}" text-anchor="middle">{at:g}</text>')
    for place, (label, value, bottom, top, words) in enumerate(rows):
        y = _ROW * place + _ROW / 2 + 4
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(label)}</text>')
        parts.append(f'<line class="range" x1="{x(bottom)}" x2="{x(top)}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle class="dot" cx="{x(value)}" cy="{y}" r="4.5"/>')
        parts.append(f'<text class="figure" x="{right + 12}" y="{y + 4}">{escape(words)}</text>')
    return "".join([*parts, "</svg>"])


def stacks(rows: Sequence[tuple[str, Mapping[str, int]]], kinds: Sequence[tuple[str, str]], *, title: str = "") -> str:
    """A bar a row, its parts in the order of `kinds` (CSS class, name) with their counts, and a legend below."""
    rows = [(label, counts) for label, counts in rows if sum(counts.values())]
    if not rows:
        return ""
    left, right = _LABEL, _WIDTH - 50
    height = _ROW * (len(rows) + 1) + 10
    parts = [_open(height, title)]
    for place, (label, counts) in enumerate(rows):
        y, total, at = _ROW * place + 4, sum(counts.values()), float(left)
        parts.append(f'<text x="{left - 10}" y="{y + 17}" text-anchor="end">{escape(label)}</text>')
        for css, name in kinds:
            if count := counts.get(css, 0):
                width = (right - left) * count / total
                parts.append(
                    f'<rect class="{css}" x="{at:.1f}" y="{y + 3}" width="{width:.1f}" height="{_ROW - 6}">'
                    f"<title>{escape(name)}: {count} of {total}</title></rect>"
                )
                if width > 20:
                    parts.append(
                        f'<text class="count" x="{at + width / 2:.1f}" y="{y + 17}" text-anchor="middle">{count}</text>'
                    )
                at += width
        parts.append(f'<text class="figure" x="{right + 10}" y="{y + 17}">{total}</text>')
    at, y = float(left), height - 10
    for css, name in kinds:
        if any(counts.get(css) for _, counts in rows):
            parts.append(f'<rect class="{css}" x="{at}" y="{y - 10}" width="11" height="11"/>')
            parts.append(f'<text class="tick" x="{at + 15}" y="{y}">{escape(name)}</text>')
            at += 26 + 6.2 * len(name)
    return "".join([*parts, "</svg>"])


def _open(height: float, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" aria-label="{escape(title, quote=True)}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>'
    )
