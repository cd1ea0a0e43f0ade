// Which reference does each query resemble most? Every row of one table against every row of
// another, without the pairs within either.
//
//   spearman_against [queries] [references]     rows of 30 counts, 200 and 20,000 by default
//
// Finds the best partner of each query, and the significant pairs; then the same pairs in three
// parts, as three processes would, whose checksums add up to that of the whole.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>

#include <gpu/all_pairs.hpp>

namespace {

constexpr gpu::index_t observations = 30;

// Counts with many ties. Every query is a noisy copy of one of the references.
gpu::matrix<int> references(gpu::index_t rows) {
  gpu::matrix<int> out(rows, observations);
  std::mt19937 engine(1);
  std::uniform_int_distribution<int> count(0, 40);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (int& value : out.row(i)) value = count(engine);
  }
  return out;
}

gpu::matrix<float> queries(gpu::index_t rows, const gpu::matrix<int>& table) {
  gpu::matrix<float> out(rows, observations);
  std::mt19937 engine(2);
  std::normal_distribution<float> noise(0, 4);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const gpu::index_t from = i * 97 % table.rows();
    for (gpu::index_t k = 0; k < observations; ++k) {
      out(i, k) = static_cast<float>(table(from, k)) + noise(engine);
    }
  }
  return out;
}

int run(gpu::index_t query_rows, gpu::index_t reference_rows) {
  const gpu::matrix<int> y = references(reference_rows);
  const gpu::matrix<float> x = queries(query_rows, y);  // another element type is fine

  const gpu::neighbor_table best = gpu::spearman_all_pairs(x, y, gpu::top_k_sink{.k = 1});
  gpu::index_t right = 0;
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    right += gpu::index_t{best.index(i, 0)} == i * 97 % y.rows() ? 1 : 0;
  }
  std::printf("%lld of %lld queries found the reference they were made from\n",
              static_cast<long long>(right), static_cast<long long>(x.rows()));

  // The family of tests is the rectangle alone.
  const gpu::edge_sink sink{.keep = {.max_p = 0.01, .adjust = gpu::adjustment::bonferroni}};
  const gpu::edge_list edges = gpu::spearman_all_pairs(x, y, sink);
  std::printf("%zu of %llu pairs with an adjusted p <= 0.01\n", edges.edges.size(),
              static_cast<unsigned long long>(edges.summary.pairs_tested));

  gpu::pair_checksum sum;
  for (gpu::index_t part = 0; part < 3; ++part) {
    const gpu::pair_options options{.part = {.index = part, .of = 3}};
    sum += gpu::spearman_all_pairs(x, y, options, sink).summary.checksum;
  }
  const bool same = sum == edges.summary.checksum;
  std::printf("three parts: %llu pairs, checksum %016llx %016llx, %s\n",
              static_cast<unsigned long long>(sum.count), static_cast<unsigned long long>(sum.mix1),
              static_cast<unsigned long long>(sum.mix2), same ? "as the whole" : "WRONG");
  return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::stoll(argv[1]) : 200, argc > 2 ? std::stoll(argv[2]) : 20000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spearman_against: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
