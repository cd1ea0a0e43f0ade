"""Axes and words that all pictures share."""

from __future__ import annotations

from typing import Any

# No label is longer: what is left out is shown as an ellipsis.
_LONGEST = 24


def axes_of(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """`ax`, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def short(label: Any) -> str:
    """A label as a picture has room for it; a dollar sign is no formula."""
    text = str(label)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return text.replace("$", r"\$")


def symbol_of(symbol: str) -> str:
    """The symbol of a statistic as it is printed."""
    letters = {"rho": "\N{GREEK SMALL LETTER RHO}", "tau": "\N{GREEK SMALL LETTER TAU}"}
    return letters.get(symbol, symbol)
