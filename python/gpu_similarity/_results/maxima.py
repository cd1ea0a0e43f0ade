"""The largest statistics of shuffled tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._shared.messages import real
from .._shared.options import Measure, Tail
from .._tables.arrays import doubles


class MaxT:
    """The largest statistics of shuffled tables, and what follows from them.

    Attributes
    ----------
    maxima : ndarray of float64, shape (permutations,)
        Descending: of each shuffled table the largest abs(statistic), of a one-sided tail the
        largest statistic, or negated one.
    measure, tail : str
        Of what, and in which direction.
    seed : int
        Which permutations these are.
    shuffle : str
        How columns were shuffled: "permutation" or "circular".
    backend, device : str
        Where it ran.
    seconds : float
        What it took.
    """

    __slots__ = ("backend", "device", "maxima", "measure", "seconds", "seed", "shuffle", "tail")

    def __init__(
        self,
        maxima: npt.NDArray[np.float64],
        measure: Measure,
        tail: Tail = "two-sided",
        seed: int = 0,
        ran: tuple[str, str, float] = ("", "", 0.0),
        shuffle: str = "permutation",
    ) -> None:
        self.maxima = maxima
        self.measure = measure
        self.tail = tail
        self.seed = seed
        self.shuffle = shuffle
        self.backend, self.device, self.seconds = ran

    def cut(self, level: float = 0.05) -> float:
        """The least `min_abs` whose pairs all have an adjusted p of at most `level`.

        Infinity where no statistic can be so rare; `min_abs` takes that too. With a one-sided tail
        give `tail` to the call as well.

        Raises
        ------
        ValueError
            For a level above 1, or below 1 / (1 + permutations): no adjusted p is smaller.
        """
        return float(_core.max_t_cut(self.maxima, self.tail, real("level", level)))

    def adjusted_p(self, statistic: npt.ArrayLike) -> Any:
        """(1 + maxima that are at least as large) / (1 + permutations) of each statistic.

        The probability, where no row depends on another, that any pair is as large. NaN of NaN; of
        the shape of `statistic`.
        """
        values = doubles(statistic, "statistic")
        p = _core.max_t_p(self.maxima, self.tail, values.reshape(-1)).reshape(values.shape)
        return float(p) if p.ndim == 0 else p

    def __len__(self) -> int:
        return len(self.maxima)

    def __repr__(self) -> str:
        shuffles = "circular shifts" if self.shuffle == "circular" else "permutations"
        return (
            f"MaxT: {len(self):,} {shuffles}, {self.measure}, {self.tail}, "
            f"maxima from {self.maxima[-1]:.6g} to {self.maxima[0]:.6g}"
        )
