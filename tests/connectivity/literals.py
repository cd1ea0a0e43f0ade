"""Prints the literals of connectivity_test: scale-free fits and topological overlaps by NumPy.

The steps are those that the pages of R's functions cut, hist and lm describe; no code is shared with
the library. Run it with NumPy and paste what it prints.
"""

import numpy as np


def connectivity(rows: int, power: int) -> np.ndarray:
    """The made-up connectivities of the test."""
    share = np.array([(i * 7919 % 1009 + 1) / 1009.0 for i in range(rows)])
    values = np.full(rows, 100.0)
    for _ in range(power):
        values = values * share
    return values


def r_squared(y: np.ndarray, *regressors: np.ndarray) -> tuple[float, float]:
    """R squared and the first slope of a least squares fit with an intercept."""
    columns = np.stack([np.ones_like(y), *regressors], axis=1)
    solution, *_ = np.linalg.lstsq(columns, y, rcond=None)
    rest = y - columns @ solution
    return 1 - rest @ rest / ((y - y.mean()) @ (y - y.mean())), solution[1]


def fit(k: np.ndarray, bins: int, drop: bool) -> list[float]:
    """R squared, slope, adjusted truncated R squared, mean, median, maximum."""
    breaks = np.linspace(k.min(), k.max(), bins + 1)
    gaps = np.abs(k[:, None] - breaks[None, 1:-1]) / np.ptp(k)
    assert gaps.min() > 1e-9, "a value on a break: rounding would decide"
    place = np.clip(np.searchsorted(breaks, k, side="left") - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    sums = np.bincount(place, weights=k, minlength=bins)
    middle = (breaks[:-1] + breaks[1:]) / 2
    mean = np.where(count > 0, sums / np.maximum(count, 1), middle)
    mean = np.where(mean == 0, middle, mean)
    log_k = np.log10(mean)[drop:]
    log_p = np.log10(count / len(k) + 1e-9)[drop:]
    line, slope = r_squared(log_p, log_k)
    curve, _ = r_squared(log_p, log_k, 10**log_k)
    points = len(log_k)
    adjusted = 1 - (1 - curve) * (points - 1) / (points - 3)
    return [line, slope, adjusted, k.mean(), np.median(k), k.max()]


def overlap(r: np.ndarray, power: float) -> np.ndarray:
    """Topological overlap of an unsigned network."""
    a = np.abs(r) ** power
    np.fill_diagonal(a, 0)
    k = a.sum(axis=1)
    out = (a @ a + a) / (np.minimum(k[:, None], k[None, :]) + 1 - a)
    np.fill_diagonal(out, 1)
    return out


def main() -> None:
    for bins, drop in ((10, False), (10, True), (25, False)):
        print(f"{bins} bins, {'without' if drop else 'with'} the first")
        for power in (1, 2, 4, 8):
            numbers = ", ".join(f"{value:.15g}" for value in fit(connectivity(301, power), bins, drop))
            print(f"    {{{power}, {numbers}}},")
    sparse = np.array([0.0, 0.0, 0.0, 33.0, 57.0, 100.0])
    print("bins without rows:", ", ".join(f"{value:.15g}" for value in fit(sparse, 10, False)))
    r = np.array(
        [
            [1, 0.9, -0.8, 0.1],
            [0.9, 1, -0.7, 0.2],
            [-0.8, -0.7, 1, -0.3],
            [0.1, 0.2, -0.3, 1],
        ]
    )
    for i, row in enumerate(overlap(r, 6)):
        print("overlap:", ", ".join(f"{value:.15g}" for value in row[i + 1 :]))


if __name__ == "__main__":
    main()
