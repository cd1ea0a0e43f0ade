"""Where something stands in a table, in the words of whoever made the table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._shared.errors import InvalidArgument

Result = TypeVar("Result")
_PLACE = re.compile(r"^(\w+)(: .*?\bat )row (\d+), column (\d+)")


class Places(NamedTuple):
    """How the rows and columns of a table are called.

    Attributes
    ----------
    variables, observations : sequence or None
        Names; None where they have but numbers.
    in_columns : bool
        Whether the table has its variables in columns.
    """

    variables: Any
    observations: Any
    in_columns: bool

    def told(self, variable: int, observation: int) -> str:
        """A place in the table as its maker wrote it."""
        names = name_of(self.variables, variable), name_of(self.observations, observation)
        row, column = reversed(names) if self.in_columns else names
        return f"row {row}, column {column}"


def computed(
    function: Callable[..., Result], places: dict[str, Places] | None, *arguments: Any
) -> Result:
    """function(*arguments), whose errors name places as `places` has them for each table."""
    try:
        return function(*arguments)
    except InvalidArgument as error:
        if places is not None:
            error.args = (_with_names(str(error), places), *error.args[1:])
        raise


def _with_names(message: str, places: dict[str, Places]) -> str:
    def name(found: re.Match[str]) -> str:
        if found[1] not in places:
            return found[0]
        return found[1] + found[2] + places[found[1]].told(int(found[3]), int(found[4]))

    return _PLACE.sub(name, message)


def name_of(names: Any, number: int) -> str:
    """The name of a variable or an observation as a message has it, or its number."""
    if names is None:
        return str(number)
    name = names[number]
    return repr(name.item() if isinstance(name, np.generic) else name)
