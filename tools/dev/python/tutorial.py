"""Runs the blocks of Python of Markdown pages.

Usage: tutorial.py [PAGE...] (README.md and docs/ unless named); the current directory is the root of
the checkout. What stands behind >>> is run as doctest runs it: fences become blank lines, so that doctest
sees where an expected output ends, and later blocks of a page see what earlier ones made. Any other block
is run as a program, with the names of namespace() declared, in a folder of its own, in which /shared is.
Blocks about Dask or Spark are left out where these are not installed, and fail instead with
GPU_SIMILARITY_REQUIRE_CLUSTERS=1.
"""

import contextlib
import doctest
import importlib.util
import os
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests" / "docs"))
from blocks import Block, blocks_of, pages


def run_prompts(page: pathlib.Path) -> tuple[int, int]:
    """Examples that were run, and that failed."""
    lines = page.read_text().splitlines()
    source = "\n".join("" if line.startswith("```") else line for line in lines)
    test = doctest.DocTestParser().get_doctest(source, {}, str(page), str(page), 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.DocTestRunner(optionflags=flags).run(test)
    return results.attempted, results.failed


@contextlib.contextmanager
def namespace(block: Block, shared: pathlib.Path):
    """What the blocks find declared: gs; x, a table of rows in pairs; its file; pandas; the clients of clusters."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 30))
    x[1::2] += 4 * x[::2]
    np.save(shared / "x.npy", x)
    pathlib.Path("edges.tsv").write_text("name_i\tname_j\trho\tt\tp\nNA\t007\t0.5\t2.3\t0.03\n")
    import gpu_similarity
    import gpu_similarity.distributed

    names: dict[str, object] = {"gs": gpu_similarity, "x": x}
    if "pandas." in block.text:
        import pandas

        names["pandas"] = pandas
    with contextlib.ExitStack() as stack:
        if "client" in block.text:
            import distributed

            cluster = stack.enter_context(
                distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None))
            names["client"] = stack.enter_context(distributed.Client(cluster))
        if "spark" in block.text:
            from pyspark.sql import SparkSession

            os.environ["PYSPARK_PYTHON"] = sys.executable  # of the workers
            names["spark"] = SparkSession.builder.master("local[2]").getOrCreate()
            stack.callback(names["spark"].stop)
        yield names


def can_run(block: Block) -> bool:
    needs = [name for word, name in (("client", "distributed"), ("spark", "pyspark")) if word in block.text]
    absent = [name for name in needs if importlib.util.find_spec(name) is None]
    if absent and os.environ.get("GPU_SIMILARITY_REQUIRE_CLUSTERS") == "1":
        raise SystemExit(f"{block.page}:{block.line}: {' and '.join(absent)} not installed")
    return not absent


def run_program(block: Block) -> bool:
    """Whether the block fails. Its lines have the numbers of the page in messages."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        try:
            shared = pathlib.Path(work, "shared")
            shared.mkdir()
            source = "\n" * (block.line - 1) + block.text.replace("/shared/", f"{shared}/")
            with namespace(block, shared) as names:
                exec(compile(source, block.page, "exec"), names)
            return False
        except Exception as error:
            print(f"FAILED: {block.page}:{block.line}: {type(error).__name__}: {error}\n{block.text}")
            return True
        finally:
            os.chdir(home)


def run(page: pathlib.Path, root: pathlib.Path) -> int:
    listed = [block for block in blocks_of(page, root) if block.language == "python"]
    prompts = any(block.text.startswith(">>>") for block in listed)
    attempted, failed = run_prompts(page) if prompts else (0, 0)
    programs = [block for block in listed if not block.text.startswith(">>>")]
    runnable = [block for block in programs if can_run(block)]
    failed += sum(run_program(block) for block in runnable)
    if listed:
        print(f"{page.relative_to(root)}: {attempted} examples, {len(runnable)} of {len(programs)} programs, {failed} failed")
    return failed


if __name__ == "__main__":
    here = pathlib.Path.cwd()
    named = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or pages(here)
    sys.exit(1 if sum([run(page, here) for page in named]) else 0)
