#!/usr/bin/env python3
"""Writes one program that holds every block of C++ of README.md and docs/, each as a function, so that what
does not compile is found. Messages of the compiler name the page and its line.

Usage: cpp_blocks.py ROOT OUTPUT

Names that a block uses and does not declare are parameters of its function, from the table below. A
paragraph that begins with struct or template stands outside. A new block gets a line in the table, if only an
empty one.
"""

import pathlib
import re
import sys

from blocks import Block, blocks

# page, first words of the block: what it finds declared.
NAMES = {
    ("README.md", "#include <gpu/similarity.hpp>"):
        "const int* data, gpu::index_t rows, gpu::index_t cols, void (&use)(gpu::node_id, gpu::node_id, double, double)",
    ("docs/index.md", "auto edges"): "gpu::matrix_view<const float> x",
    ("docs/binary_matmul.md", "const gpu::bit_matrix"): "const gpu::matrix<float>& x, const gpu::matrix<float>& y",
    ("docs/calls.md", "gpu::spearman_all_pairs"):
        "gpu::matrix_view<const float> data, gpu::matrix_view<const float> x, gpu::matrix_view<const float> y, "
        "gpu::edge_sink sink, gpu::pair_options options",
    ("docs/calls.md", "const auto library"):
        "gpu::matrix_view<const float> x, gpu::matrix_view<const float> y, gpu::edge_sink sink, gpu::pair_options options",
    ("docs/calls.md", "const gpu::device_matrix_view"):
        "const float* on_device, const void* weights, gpu::index_t patients, gpu::index_t genes, gpu::index_t rows, "
        "gpu::index_t cols",
    ("docs/calls.md", "struct table"): "const table& my_table",
    ("docs/calls.md", "gpu::column_matrix_view"):
        "const std::vector<double>& samples, gpu::index_t rows, gpu::index_t cols",
    ("docs/calls.md", "std::vector<const double*> begins"):
        "const std::vector<std::vector<double>>& frame, gpu::index_t rows",
    ("docs/calls.md", "gpu::csr_view"):
        "const std::vector<std::int32_t>& row_begin, const std::vector<std::int32_t>& column, "
        "const std::vector<float>& counts, gpu::index_t rows, gpu::index_t cols",
    ("docs/how_to.md", "const gpu::column_matrix_view"):
        "const double* memory, gpu::index_t rows, gpu::index_t cols, gpu::index_t leading_dimension",
    ("docs/calls.md", "const gpu::execution"):
        "gpu::device_matrix_view<const float> data, gpu::device_matrix_view<float> smooth, "
        "gpu::device_matrix_view<double> ranks, gpu::device_vector_view<std::uint32_t> degree, "
        "gpu::device_vector_view<std::int32_t> best, gpu::device_vector_view<gpu::index_t> rows, gpu::stream_ref stream",
    ("docs/permutation.md", "const gpu::max_t_null"):
        "gpu::matrix_view<const int> x, const gpu::pair_options& options",
    ("docs/soft_thresholds.md", "const auto found"):
        "gpu::matrix_view<const float> x, void (&use)(double)",
    ("docs/exact_p.md", "const auto edges"): "gpu::matrix_view<const float> data",
    ("docs/differential.md", "#include <gpu/differential.hpp>"):
        "gpu::matrix_view<const float> data, std::span<const gpu::index_t> tumour, std::span<const gpu::index_t> normal",
    ("docs/differential.md", "const gpu::device_matrix_view"):
        "const float* on_device, gpu::index_t rows, gpu::index_t cols, gpu::column_groups groups, gpu::stream_ref stream",
    ("docs/differential.md", "gpu::discovery_sink"):
        "gpu::measure what, gpu::matrix_view<const float> data, gpu::column_groups groups, gpu::index_t of",
    ("docs/matmul.md", "gpu::matrix<float>"):
        "const gpu::matrix<float>& a, const gpu::matrix<float>& b, gpu::matrix_view<float> c_view, "
        "gpu::device_matrix_view<const float> device_a, gpu::device_matrix_view<const float> device_b, "
        "gpu::device_matrix_view<float> device_c, gpu::stream_ref stream, gpu::index_t m, gpu::index_t n, gpu::index_t k",
    ("docs/mean_filter.md", "std::vector<double>"): "",
    ("docs/missing_values.md", "const gpu::pair_options"): "gpu::matrix_view<const float> x",
    ("docs/partial.md", "#include <gpu/similarity.hpp>"):
        "gpu::matrix_view<const float> x, gpu::matrix_view<const double> covariates, std::span<const double> weights",
    ("docs/spearman.md", "#include <gpu/all_pairs.hpp>"):
        "const int* data, gpu::index_t rows, gpu::index_t cols, gpu::matrix_view<const int> y",
    ("docs/tanimoto.md", "const gpu::bit_matrix"):
        "const gpu::matrix<std::uint8_t>& fingerprints, gpu::bit_matrix_view queries",
    ("docs/top_k.md", "auto best"):
        "std::vector<float> scores, std::vector<int> codes, gpu::index_t n, gpu::index_t m",
    ("docs/top_k.md", "const auto plan"):
        "gpu::device_vector_view<const float> data, gpu::device_vector_view<float> values, "
        "gpu::device_vector_view<gpu::index_t> indices, gpu::device_workspace workspace, gpu::stream_ref stream, gpu::index_t n",
}


def names_of(block: Block, unused: set) -> str:
    for key, names in NAMES.items():
        if key[0] == block.page and block.text.startswith(key[1]):
            unused.discard(key)
            return names
    raise SystemExit(f"{block.page}:{block.line}: no line of NAMES in {__file__} is about this block")


def function_of(block: Block, number: int, names: str) -> tuple[list[str], list[str]]:
    """Lines outside, and lines of the function."""
    outside, inside, is_outside = [], [], False
    for offset, line in enumerate(block.text.splitlines()):
        if not line:
            is_outside = False
        elif re.match(r"(struct|template)\b", line):
            is_outside = True
        place = f'#line {block.line + offset} "{block.page}"'
        if line.startswith("#include"):
            outside.append(line)
        elif line:
            (outside if is_outside else inside).extend([place, line])
    return outside, [f"void block_{number}({names}) {{", *inside, "}"]


def main() -> int:
    root, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lines = ["// Written by tests/docs/cpp_blocks.py.", "#include <gpu/similarity.hpp>", "#include <functional>",
             "#include <span>", "#include <vector>"]
    functions, unused = [], set(NAMES)
    for number, block in enumerate(blocks(root, "cpp")):
        names = names_of(block, unused)
        outside, function = function_of(block, number, names)
        lines += outside
        functions += function
    if unused:
        raise SystemExit(f"no block is like {sorted(unused)}: take the lines out of NAMES")
    output.write_text("\n".join([*lines, "namespace {", *functions, "}  // namespace", ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
