// Sparse tables with a few stored values and extents up to 2^63 - 1: every call that reads one
// gives its answer or a gpu::error, without a division by zero, a number that overflows or memory
// without bound.
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"

namespace {

using gpu::index_t;

constexpr index_t most = std::numeric_limits<index_t>::max();

// What the process may address: what is larger fails at once, whatever the machine has.
class address_limit {
 public:
  explicit address_limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~address_limit() { ::setrlimit(RLIMIT_AS, &before_); }
  address_limit(const address_limit&) = delete;
  address_limit& operator=(const address_limit&) = delete;

 private:
  rlimit before_{};
};

// Three rows, each with the values 1 and 2 in its first and last column.
struct thin_table {
  explicit thin_table(index_t columns)
      : cols(columns), column{0, columns - 1, 0, columns - 1, 0, columns - 1} {}
  [[nodiscard]] gpu::csr_view<const double> view() const {
    return {row_begin.data(), column.data(), values.data(), index_t{3}, cols};
  }

  index_t cols;
  std::array<std::int64_t, 4> row_begin{0, 2, 4, 6};
  std::array<std::int64_t, 6> column;
  std::array<double, 6> values{1, 2, 2, 1, 1, 3};
};

struct named_call {
  std::string name;
  std::function<void()> make;
};

std::vector<named_call> calls_of(const gpu::csr_view<const double>& x) {
  std::vector<named_call> out;
  const auto add = [&](const std::string& name, const auto& call) {
    out.push_back({name, [call] { (void)call(); }});
  };
  const gpu::pair_options options{.exec = {.target = gpu::backend::cpu, .cpu_threads = 2}};
  for (const gpu::measure what : gpu::all_measures()) {
    const std::string name(gpu::to_string(what));
    const double max_p = gpu::info_of(what).test == gpu::significance::none ? 1.0 : 0.5;
    const gpu::pair_filter keep{.max_p = max_p};
    add(name + ", dense", [=] { return gpu::all_pairs(what, x, options); });
    add(name + ", edges",
        [=] { return gpu::all_pairs(what, x, options, gpu::edge_sink{.keep = keep}); });
    add(name + ", counts",
        [=] { return gpu::all_pairs(what, x, options, gpu::count_sink{.keep = keep}); });
    add(name + ", partners",
        [=] { return gpu::all_pairs(what, x, options, gpu::top_k_sink{.k = 1}); });
    add(name + ", x against y", [=] { return gpu::all_pairs(what, x, x, options); });
    add(name + ", pairwise", [=] {
      gpu::pair_options own = options;
      own.nans = gpu::nan_policy::pairwise;
      return gpu::all_pairs(what, x, own);
    });
    add(name + ", little memory", [=] {
      gpu::pair_options own = options;
      own.exec.workspace_bytes = std::size_t{1} << 20;
      return gpu::all_pairs(what, x, own);
    });
    add(name + ", plan", [=] { return gpu::plan_all_pairs(what, x, options); });
    add(name + ", prepared", [=] { return gpu::prepare_rows(what, x, options); });
    add(name + ", max-T", [=] { return gpu::max_t(what, x, options, {.permutations = 3}); });
    add(name + ", differential", [=] {
      static constexpr std::array<index_t, 4> first{0, 1, 2, 3};
      static constexpr std::array<index_t, 4> second{4, 5, 6, 7};
      return gpu::differential_pairs(what, x, {first, second}, options);
    });
    add(name + ", connectivity",
        [=] { return gpu::all_pairs(what, x, options, gpu::connectivity_sink{.powers = {6}}); });
  }
  add("ranks", [=] { return gpu::rank_rows(x, {.exec = options.exec}); });
  add("observations", [=] { return gpu::shared_observations(x); });
  add("ties", [=] { return gpu::kendall_ties(x); });
  add("shared p", [=] {
    static constexpr std::array<gpu::edge, 1> one{{{0, 1, 0.5, 0}}};
    return gpu::shared_kendall_p(x, one);
  });
  return out;
}

// "answer", or what the error says.
std::string answer_or_error(const named_call& call) {
  try {
    call.make();
    return "answer";
  } catch (const gpu::error& refused) {
    return refused.what();
  }
}

}  // namespace

TEST_CASE("A sparse table of any extent gives an answer or an error", "[csr]") {
  const index_t cols =
      GENERATE((index_t{1} << 31) - 1, index_t{1} << 31, index_t{1} << 44, (index_t{1} << 53) + 1,
               index_t{1} << 60, index_t{1} << 61, index_t{1} << 62, most - 1, most);
  const thin_table table(cols);
  const address_limit limit(std::size_t{1} << 30);
  for (const named_call& call : calls_of(table.view())) {
    INFO(call.name << ", " << cols << " columns");
    CHECK_FALSE(answer_or_error(call).empty());
  }
}

TEST_CASE("More columns than a measure can hold are refused by their number", "[csr]") {
  const thin_table table(index_t{1} << 61);
  for (const gpu::measure what : gpu::all_measures()) {
    const std::string said =
        answer_or_error({"", [&] { (void)gpu::all_pairs(what, table.view()); }});
    INFO(said);
    CHECK(said.find("got 2305843009213693952 columns, ") != std::string::npos);
    CHECK(said.find("takes at most " + std::to_string(gpu::info_of(what).most_cols)) !=
          std::string::npos);
  }
}

TEST_CASE("A table without elements has no work, whatever its other extent", "[views]") {
  const index_t large = GENERATE(index_t{1} << 31, index_t{1} << 59, most);
  const bool has_rows = GENERATE(false, true);
  const index_t rows = has_rows ? large : 0;
  const index_t cols = has_rows ? 0 : large;
  const gpu::matrix_view<const double> x(nullptr, rows, cols);
  const gpu::execution exec{.target = gpu::backend::cpu, .cpu_threads = 2};
  std::vector<named_call> calls;
  const auto add = [&](const std::string& name, const auto& call) {
    calls.push_back({name, [call] { (void)call(); }});
  };
  for (const gpu::measure what : gpu::all_measures()) {
    const std::string name(gpu::to_string(what));
    add(name + ", dense", [=] { return gpu::all_pairs(what, x, {.exec = exec}); });
    add(name + ", edges",
        [=] { return gpu::all_pairs(what, x, {.exec = exec}, gpu::edge_sink{}); });
    add(name + ", counts",
        [=] { return gpu::all_pairs(what, x, {.exec = exec}, gpu::count_sink{}); });
    add(name + ", plan", [=] { return gpu::plan_all_pairs(what, x, {.exec = exec}); });
    add(name + ", prepared", [=] { return gpu::prepare_rows(what, x, {.exec = exec}); });
  }
  add("ranks", [=] { return gpu::rank_rows(x, {.exec = exec}); });
  add("observations", [=] { return gpu::shared_observations(x); });
  add("ties", [=] { return gpu::kendall_ties(x); });
  add("filter", [=] { return gpu::mean_filter(x, {.window = 3, .exec = exec}); });
  add("top-k", [=] { return gpu::top_k(x, 2, {.exec = exec}); });
  add("distinct", [=] { return gpu::top_k_distinct(x, 2, {.exec = exec}); });
  add("bits", [=] { return gpu::pack_bits(x, 0.0, exec); });
  add("product of bits", [=] {
    const gpu::bit_matrix_view bits(nullptr, rows, cols);
    return gpu::binary_matmul(bits, bits, {.exec = exec});
  });
  add("tanimoto", [=] {
    return gpu::tanimoto_all_pairs(gpu::bit_matrix_view(nullptr, rows, cols), {.exec = exec});
  });
  add("product",
      [=] { return gpu::matmul(x, x, {.b = gpu::transposition::transpose, .exec = exec}); });
  const address_limit limit(std::size_t{1} << 30);
  for (const named_call& call : calls) {
    INFO(call.name << ", [" << rows << ", " << cols << "]");
    const auto start = std::chrono::steady_clock::now();
    const std::string said = answer_or_error(call);
    CHECK_FALSE(said.empty());
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  }
}
