"""Packages that only some functions need, imported when one is called."""

from __future__ import annotations

import importlib
from typing import Any


def needed(package: str, extra: str) -> Any:
    """The package, which the extra of that name installs.

    Raises
    ------
    ModuleNotFoundError
        Where it is not installed, with the line that installs it.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:  # it is there, and lacks something itself
            raise
        raise ModuleNotFoundError(
            f"{package} is not installed: pip install {package}, or 'gpu-similarity[{extra}]'",
            name=package,
        ) from None
