"""What `progress=` stands for: a bar, a line, or the caller's function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Callback = Callable[[str, int, int], Any]


def callback(progress: bool | Callback | None) -> Callback | None:
    """The function that the compiled part calls with (stage, done, total)."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    if progress is not True:
        raise TypeError(f"progress: got {progress!r}, expected True, False or a function")
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _line
    return _Bar(tqdm)


class _Bar:
    """A bar of tqdm for each stage of a call."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or stage != self._stage:
            if self._bar is not None:
                self._bar.close()
            self._stage = stage
            self._bar = self._tqdm(total=total, desc=stage, unit_scale=True, leave=False)
        self._bar.update(done - self._bar.n)
        if done >= total:
            self._bar.close()
            self._bar = None


def _line(stage: str, done: int, total: int) -> None:
    percent = 100 * done // total if total else 100
    end = "\n" if done >= total else ""
    print(f"\r{stage}: {percent} %", end=end, file=sys.stderr, flush=True)
