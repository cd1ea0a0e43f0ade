"""bench/publish with programs that stand in for those of a build: they answer as the real ones do."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from publishing import cases, measuring, page, plane  # noqa: E402

PAIR_JOB = """#!/usr/bin/env python3
import sys
measure, rows, cols, *rest = sys.stdin.read().split()
print(f"{measure} {rows}x{cols} p<={rest[3]} {rest[4]} kept 1000 (0.5) s 0.00200 best 0.00190 "
      "worst 0.00300 prepare 0.00010 pairs 0.00100 edges/s 5e5")
if len(rest) > 6:
    open(rest[6].removeprefix("table="), "w").close()
"""
BENCH = """#!/usr/bin/env python3
import json, re, sys
pattern = re.compile(next(a.split("=", 1)[1] for a in sys.argv[1:] if "filter" in a))
names = {names!r}
print("a line before")
print(json.dumps({{"benchmarks": [
    {{"name": n + "/manual_time", "real_time": t, "time_unit": "us"}} for n, t in names.items()
    if pattern.search(n + "/manual_time")] + [
    {{"name": "x", "error_occurred": True, "error_message": "no such device"}}]}}))
"""
NVIDIA_SMI = "#!/bin/sh\necho NVIDIA H200\n"


class Stand(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bench").mkdir()
        self.put("bench/pair_job", PAIR_JOB)
        self.put("nvidia-smi", NVIDIA_SMI)
        patches = [mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}", "COMMIT": "abc"}),
                   mock.patch.object(measuring, "RESULTS", self.folder / "results"),
                   mock.patch.object(measuring, "PEERS", self.folder / "peers")]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        (self.folder / "peers").mkdir()

    def put(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def measure(self, *only):
        asked = types.SimpleNamespace(release="9.9", build=self.folder, machine=None, only=list(only))
        with contextlib.redirect_stdout(io.StringIO()):
            code = measuring.run(asked)
        return code, json.loads((self.folder / "results/9.9/h200.json").read_text())


class Measuring(Stand):
    def test_pairs_take_the_median_and_a_scaled_peer(self):
        (self.folder / "peers/edges_torch.py").write_text("print('torch spearman 5x5 p<=1 kept 1 s 0.00400 best 0 worst 0')")
        code, told = self.measure("pairs")
        self.assertEqual((code, told["short"], told["commit"]), (0, "H200", "abc"))
        self.assertEqual(len(told["rows"]), len(cases.PAIRS))
        by_job = {row["job"]: row for row in told["rows"]}
        whole = by_job["Spearman edges, p <= 1e-9, 22,283 x 57, rows alike"]
        self.assertEqual((whole["seconds"], whole["peer_seconds"]), (0.002, 0.004))
        self.assertNotIn("peer_on", whole)
        part = by_job["Spearman edges, Bonferroni 0.05, 2,000,000 x 128"]
        self.assertAlmostEqual(part["peer_seconds"], 0.004 * (2e6 * (2e6 - 1)) / (6e4 * (6e4 - 1)))
        self.assertEqual(part["peer_on"], "60,000 rows")
        self.assertGreater(part["limit_seconds"], 0.26)

    def test_benchmarks_beside_one_of_their_program_and_a_script(self):
        ours, cub = "cuda_centred_ranks_counts/9879896/30", "cuda_peer_cub_segmented_sort_counts/9879896/30"
        self.put("bench/rank_bench", BENCH.format(names={ours: 700.0, cub: 7000.0, ours + "0": 1.0}))
        name = "cuda_mean_filter<double>/10000000/5/0"
        self.put("bench/mean_filter_bench", BENCH.format(names={name: 50.0}))
        (self.folder / "peers/mean_filter_peers.py").write_text(
            "print('cupyx uniform_filter1d float64      10000000     5     0.0636 ms   71.0 % of the copy')")
        _, told = self.measure("rank", "mean_filter")
        rank, mean = told["rows"]
        self.assertAlmostEqual(rank["peer_seconds"] / rank["seconds"], 10)
        self.assertAlmostEqual(mean["peer_seconds"], 63.6e-6)
        self.assertIn("x: no such device", told["left_out"])

    def test_a_least_time_behind_a_name_is_no_part_of_it(self):
        base = "matmul/float/cuda/256x256x256/nn"
        self.put("bench/matmul_bench", BENCH.format(names={f"{base}/automatic/min_time:0.050": 10.0,
                                                           f"{base}/peer_cublas/min_time:0.050": 9.0}))
        _, told = self.measure("matmul")
        (row,) = told["rows"]
        self.assertAlmostEqual(row["peer_seconds"] / row["seconds"], 0.9)
        self.assertTrue(any("matmul_bench gave no time of" in line for line in told["left_out"]))

    def test_wide_tables_are_cells_of_the_plane(self):
        name, title = next(iter(cases.WIDE.items()))
        cell = json.dumps({"name": name, "measure": "pearson", "rows": 1000, "cols": 1200, "ms": 1.5, "peer_ms": 3.0})
        (self.folder / "peers/plane.py").write_text(
            f"import sys; open(sys.argv[sys.argv.index('--output') + 1], 'w').write({cell!r})")
        _, told = self.measure("wide")
        (row,) = told["rows"]
        self.assertEqual((row["job"], row["seconds"], row["peer_seconds"]), (title, 0.0015, 0.003))
        self.assertGreater(row["limit_seconds"], 0)
        self.assertTrue(any("plane.py" in line for line in told["left_out"]))  # the other cells

    def test_what_is_missing_is_said_and_other_rows_stay(self):
        self.measure("pairs")
        _, told = self.measure("top_k")
        self.assertIn("top_k_bench is not in the build", told["left_out"])
        self.assertEqual({row["operation"] for row in told["rows"]}, {"pairs"})
        with self.assertRaises(SystemExit):
            self.measure("no_operation")


def plane_line(way, seconds, sink="counts", backend="cpu", **more):
    return json.dumps({"backend": backend, "measure": "pearson", "sink": sink, "rows": 10, "cols": 30, "way": way,
                       "seconds": seconds, "calls": 5, **more})


class Plane(Stand):
    def write(self, *lines):
        told = self.folder / "plane.jsonl"
        told.write_text("\n".join(lines) + "\n")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = plane.write(types.SimpleNamespace(release="9.9", machine="h200", file=told, commit="abc1234"))
        self.assertEqual(code, 0)
        return out.getvalue(), json.loads((self.folder / "results/9.9/h200.json").read_text())

    def test_a_cell_is_the_chosen_and_the_best_way(self):
        self.measure("pairs")
        said, told = self.write(plane_line("chosen", 3.0), plane_line("screen", 2.0), plane_line("every", 1.0, stopped=True),
                                plane_line("chosen", 1.0, "edges"), plane_line("search", 1.0, "edges"),
                                plane_line("search", 1.0, "dense"))
        counts, edges = told["plane"]  # there is no chosen way of the dense sink
        self.assertEqual((counts["chosen"], counts["best"], counts["way"]), (3.0, 2.0, "screen"))
        self.assertEqual((edges["sink"], edges["way"], plane.ratio_of(edges)), ("edges", "chosen", 1.0))
        self.assertIn("1.50 times screen: cpu pearson counts 10 x 30", said)
        self.assertIn("2 cells, 1 of more than 1.3", said)
        self.assertEqual(len(told["rows"]), len(cases.PAIRS))

    def test_another_backend_and_a_new_measurement_leave_the_plane(self):
        self.measure("pairs")
        self.write(plane_line("chosen", 3.0))
        _, told = self.write(plane_line("chosen", 1.0, backend="cuda"))
        self.assertEqual([cell["backend"] for cell in told["plane"]], ["cpu", "cuda"])
        _, told = self.write(plane_line("chosen", 2.0))
        self.assertEqual([cell["chosen"] for cell in told["plane"]], [1.0, 2.0])
        _, told = self.measure("pairs")
        self.assertEqual((len(told["plane"]), told["plane_commit"]), (2, "abc1234"))
        self.assertEqual(page.source_of([told], {"abc"}), "all of commit abc (the map of choices: abc1234)")
        self.assertEqual(page.source_of([told], {"abc1234"}), "all of commit abc1234")

    def test_what_is_no_plane_is_refused(self):
        with self.assertRaises(SystemExit):
            self.write(plane_line("chosen", 1.0))  # of a machine that was not measured
        self.measure("pairs")
        with self.assertRaises(SystemExit):
            self.write(plane_line("screen", 1.0))


class Page(unittest.TestCase):
    def text(self, rows, **more):
        result = {"machine": "a machine", "short": "M", "commit": "abc", "rows": rows, "curves": [], **more}
        with mock.patch.object(page, "load", lambda _: [result]):
            return page.text_of("9.9")

    def test_a_row_has_its_rate_share_and_ratio(self):
        text = self.text([{"operation": "rank", "job": "a job", "seconds": 2e-3, "work": 4e9, "limit_seconds": 1e-3,
                           "peer": "P", "peer_seconds": 1e-3}])
        self.assertIn("| a job | M | **2 ms** | 2.0e12 | 50 % | P | 1 ms | 0.50 |", text)
        self.assertIn("- ranking, a job (M): P takes 0.50 of the time.", text)
        self.assertIn("all of commit abc", text)

    def test_a_plane_has_its_picture(self):
        row = {"operation": "rank", "job": "a job", "seconds": 1.0}
        cell = {"backend": "cpu", "measure": "pearson", "sink": "counts", "rows": 10, "cols": 30, "chosen": 1.0,
                "best": 1.0, "way": "chosen"}
        self.assertIn("images/benchmarks_plane.svg", self.text([row], plane=[cell], plane_commit="abc"))
        self.assertNotIn("images/benchmarks_plane.svg", self.text([row]))

    def test_a_page_that_is_too_long_is_refused(self):
        rows = [{"operation": o, "job": f"job {i}", "seconds": 1.0, "peer": "P", "peer_seconds": 0.5}
                for o in cases.OPERATIONS for i in range(8)]
        with mock.patch.object(page, "MOST_LINES", 90), self.assertRaises(SystemExit):
            self.text(rows)

    def test_the_page_of_the_checkout_is_what_its_results_say(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(page.check(), 0)
            changed = page.PAGE.read_text().replace(" ms**", " s**", 1)
            with mock.patch.object(page, "PAGE", mock.Mock(read_text=lambda: changed)):
                self.assertEqual(page.check(), 1)


if __name__ == "__main__":
    unittest.main()
