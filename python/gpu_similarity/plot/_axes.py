"""Axes and words that all pictures share."""

from __future__ import annotations

from typing import Any

from .._shared.messages import integer

# No label is longer: what is left out is shown as an ellipsis.
_LONGEST = 24


def axes_of(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """`ax`, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    # As "constrained", also where the shape of the axes is given: no label leaves the figure.
    return pyplot.subplots(figsize=size, layout="compressed")[1]


def at_least_one(argument: str, value: Any) -> int:
    """`value` as a number of things to draw."""
    number = integer(argument, value)
    if number < 1:
        raise ValueError(f"{argument}: got {number}, expected at least 1")
    return number


def short(label: Any) -> str:
    """A label as a picture has room for it; a dollar sign is no formula."""
    text = str(label)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return text.replace("$", r"\$")


def symbol_of(symbol: str) -> str:
    """The symbol of a statistic as it is printed."""
    letters = {"rho": "\N{GREEK SMALL LETTER RHO}", "tau": "\N{GREEK SMALL LETTER TAU}"}
    return letters.get(symbol, symbol)
