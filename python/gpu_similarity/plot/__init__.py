"""Pictures of results. Needs matplotlib; the heat map and the tail SciPy, the network igraph.

Each function draws into `ax`, or into a new figure, and gives back what it drew into.
`python -m gpu_similarity plot REPORT.json -o FILE` draws what a run of the command found.
"""

from ._degrees import PowerLaw, degrees, fit_tail
from ._heat_map import heat_map
from ._histogram import histogram, null_share
from ._network import network
from ._report import from_report
from ._scatters import scatters

__all__ = [
    "PowerLaw",
    "degrees",
    "fit_tail",
    "from_report",
    "heat_map",
    "histogram",
    "network",
    "null_share",
    "scatters",
]
