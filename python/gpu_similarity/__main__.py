"""`python -m gpu_similarity plot REPORT.json -o FILE`: a picture of what a run found."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Draws; 0, or 1 behind a message on standard error."""
    from .plot._report import KINDS

    parser = argparse.ArgumentParser(
        prog="python -m gpu_similarity",
        description="Pictures of what the command gpu-similarity found. Needs matplotlib.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    plot = commands.add_parser("plot", help="draw what a run found, from its report")
    plot.add_argument("report", metavar="REPORT.json", help="what --report of the run wrote")
    plot.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="picture: .png, .pdf, .svg, ..."
    )
    plot.add_argument("--kind", choices=KINDS, default="overview", help="which [overview]")
    plot.add_argument("--dpi", type=int, default=150, help="dots per inch of .png [150]")
    given = parser.parse_args(arguments)
    try:
        import matplotlib

        matplotlib.use("Agg")
        from .plot import from_report

        from_report(given.report, kind=given.kind).savefig(given.output, dpi=given.dpi)
    except (ImportError, OSError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
