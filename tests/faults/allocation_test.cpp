// Every entry point with its n-th allocation failing, n swept, alone and with all that follow: the
// call ends in gpu::out_of_memory or in its right answer, and after it the same
// call is right. Its own program: it replaces operator new.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "faults/replaced_new.hpp"

namespace {

constexpr std::int64_t never = -1;
std::atomic<std::int64_t> allocations_left{never};
std::atomic<bool> all_that_follow{false};
std::atomic<bool> failed_one{false};

bool fails_now() {
  if (allocations_left.load() == never) return false;
  const std::int64_t left = allocations_left.fetch_sub(1);
  if (left != 1 && !(all_that_follow && left < 1)) return false;
  failed_one = true;
  return true;
}

}  // namespace

void* gpu_test::allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (fails_now()) throw std::bad_alloc();
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) throw std::bad_alloc();
  return memory;
}

void gpu_test::release(void* memory) {
  std::free(memory);
}

namespace {

using gpu::index_t;

const gpu::execution cpu{.target = gpu::backend::cpu, .cpu_threads = 2};

// One entry point: runs it and gives a number that depends on the whole answer.
struct entry {
  std::string name;
  std::function<double()> call;
};

template <class T>
gpu::matrix<T> numbers(index_t rows, index_t cols) {
  gpu::matrix<T> data(rows, cols);
  std::uint64_t state = 7;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      data(i, j) = static_cast<T>((state >> 33) % 50);
    }
  }
  return data;
}

template <class Values>
double sum_of(const Values& values) {
  double sum = 0;
  double weight = 1;
  for (const auto& value : values) sum += static_cast<double>(value) * (weight += 0.5);
  return sum;
}

template <class T>
double sum_of(const gpu::matrix<T>& values) {
  double sum = 0;
  for (index_t i = 0; i < values.rows(); ++i)
    sum += sum_of(values.row(i)) * static_cast<double>(i + 1);
  return sum;
}

double sum_of(const gpu::pair_summary& s) {
  return static_cast<double>(s.pairs_kept) + 0.5 * static_cast<double>(s.pairs_tested);
}

template <class Edges>
double sum_of_edges(const Edges& edges) {
  double sum = 0;
  for (const auto& e : edges) sum = sum * 0.75 + e.statistic + e.p;
  return sum;
}

template <class Pairs>
void add_pairs(std::vector<entry>& out, const std::string& name, const Pairs& pairs) {
  const gpu::pair_filter keep{.min_abs = 0.6};
  const gpu::pair_filter adjusted{.max_p = 0.5, .adjust = gpu::adjustment::benjamini_hochberg};
  out.push_back({name + " dense", [=] { return sum_of(pairs(gpu::dense_sink{}).row(1)); }});
  out.push_back({name + " dense f32", [=] { return sum_of(pairs(gpu::dense_sink_f32{}).row(1)); }});
  out.push_back({name + " edges", [=] { return sum_of_edges(pairs(gpu::edge_sink{keep}).edges); }});
  out.push_back({name + " edges adjusted",
                 [=] { return sum_of_edges(pairs(gpu::edge_sink{adjusted}).edges); }});
  out.push_back({name + " top_k",
                 [=] { return sum_of(pairs(gpu::top_k_sink{.k = 3, .keep = keep}).index); }});
  out.push_back({name + " top_k with q", [=] {
                   const auto best = pairs(
                       gpu::top_k_sink{.k = 3, .keep = adjusted, .q = gpu::neighbor_q::exact});
                   return sum_of(best.index) + (best.count[0] > 0 ? best.q(0, 0) : 0.0);
                 }});
  out.push_back({name + " counts", [=] {
                   const auto c = pairs(gpu::count_sink{.keep = keep, .histogram_bins = 20});
                   return sum_of(c.degree) + sum_of(c.histogram);
                 }});
  out.push_back({name + " stream", [=] {
                   double sum = 0;
                   const auto consume = [&](std::span<const gpu::edge> batch) {
                     sum += static_cast<double>(batch.size());
                   };
                   const auto s = pairs(gpu::stream_sink{.keep = keep, .consume = consume});
                   return sum + sum_of(s);
                 }});
}

template <class T>
void add_all_pairs(std::vector<entry>& out, const gpu::matrix<T>& data, const std::string& what,
                   const gpu::pair_options& options) {
  add_pairs(out, "spearman " + what, [&data, options](const auto& sink) {
    return gpu::spearman_all_pairs(data, options, sink);
  });
  add_pairs(out, "pearson " + what, [&data, options](const auto& sink) {
    gpu::pair_options unfolded = options;
    unfolded.fold = gpu::row_folding::automatic;
    return gpu::pearson_all_pairs(data, unfolded, sink);
  });
  out.push_back(
      {"plan " + what, [&data, options] {
         return gpu::plan_all_pairs(gpu::measure::spearman, data, options, {.max_p = 0.1})
                    .kept_estimate +
                gpu::plan_all_pairs(gpu::measure::pearson, data, {.exec = cpu}).kept_estimate;
       }});
}

void add_selections(std::vector<entry>& out, const gpu::matrix<double>& data,
                    const std::vector<float>& vector) {
  for (const auto variant : {gpu::top_k_variant::threshold, gpu::top_k_variant::sort}) {
    const gpu::top_k_options options{.variant = variant, .exec = cpu};
    const std::string name(gpu::to_string(variant));
    out.push_back({"top_k " + name,
                   [=, &vector] { return sum_of(gpu::top_k(vector, 20, options).indices); }});
    out.push_back({"top_k of rows " + name,
                   [=, &data] { return sum_of(gpu::top_k(data, 3, options).indices); }});
    out.push_back({"top_k_distinct " + name, [=, &vector] {
                     return sum_of(gpu::top_k_distinct(vector, 20, options).counts);
                   }});
    out.push_back({"top_k_distinct of rows " + name,
                   [=, &data] { return sum_of(gpu::top_k_distinct(data, 3, options).found); }});
  }
  out.push_back(
      {"plan_top_k",
       [] { return static_cast<double>(gpu::plan_top_k<float>(2, 9, 3, {.exec = cpu}).entries); }});
}

constexpr double weights[] = {1, 2, 3};

void add_filters(std::vector<entry>& out, const gpu::matrix<double>& data,
                 const std::vector<float>& vector) {
  for (const auto variant :
       {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::block_sums}) {
    for (const auto nans : {gpu::nan_policy::propagate, gpu::nan_policy::omit}) {
      const gpu::mean_filter_options options{
          .window = 7, .nans = nans, .variant = variant, .exec = cpu};
      const std::string name(gpu::to_string(variant));
      out.push_back({"mean_filter " + name,
                     [=, &vector] { return sum_of(gpu::mean_filter(vector, options)); }});
      out.push_back({"mean_filter of rows " + name,
                     [=, &data] { return sum_of(gpu::mean_filter(data, options)); }});
    }
  }
  out.push_back(
      {"convolve", [&data] { return sum_of(gpu::convolve(data, weights, {.exec = cpu})); }});
  out.push_back({"plan_convolve", [] {
                   const auto plan = gpu::plan_convolve<float>(2, 90, 3, {.exec = cpu});
                   return static_cast<double>(plan.output_cols);
                 }});
  out.push_back({"plan_mean_filter", [] {
                   const auto plan = gpu::plan_mean_filter<float>(2, 90, {.exec = cpu});
                   return static_cast<double>(plan.output_cols);
                 }});
}

void add_tanimoto(std::vector<entry>& out, const gpu::matrix<double>& data) {
  const auto pairs = [&data](const auto& sink) {
    const gpu::bit_matrix bits = gpu::pack_bits(data, 25, cpu);
    return gpu::tanimoto_all_pairs(bits, {.exec = cpu}, sink);
  };
  const gpu::pair_filter keep{.min_abs = 0.3};
  out.push_back({"tanimoto dense", [=] { return sum_of(pairs(gpu::dense_sink{}).row(1)); }});
  out.push_back({"tanimoto edges", [=] {  // which have no p
                   double sum = 0;
                   for (const gpu::edge& e : pairs(gpu::edge_sink{keep}).edges) {
                     sum += e.statistic * (e.row + 2.0 * e.col);
                   }
                   return sum;
                 }});
  out.push_back({"tanimoto top_k", [=] { return sum_of(pairs(gpu::top_k_sink{.k = 3}).index); }});
  out.push_back({"tanimoto counts", [=] {
                   const auto c = pairs(gpu::count_sink{.keep = keep, .histogram_bins = 20});
                   return sum_of(c.degree) + sum_of(c.histogram);
                 }});
  out.push_back({"tanimoto stream", [=] {
                   double sum = 0;
                   const auto consume = [&](std::span<const gpu::edge> batch) {
                     sum += static_cast<double>(batch.size());
                   };
                   const auto s = pairs(gpu::stream_sink{.keep = keep, .consume = consume});
                   return sum + sum_of(s);
                 }});
}

void add_products(std::vector<entry>& out, const gpu::matrix<double>& data) {
  for (const auto variant : {gpu::matmul_variant::automatic, gpu::matmul_variant::naive}) {
    out.push_back(
        {"matmul " + std::string(gpu::to_string(variant)), [=, &data] {
           return sum_of(gpu::matmul(
               data, data, {.b = gpu::transposition::transpose, .variant = variant, .exec = cpu}));
         }});
  }
  out.push_back({"plan_matmul", [] {
                   const auto plan = gpu::plan_matmul<float>(2, 3, 4, {.exec = cpu});
                   return static_cast<double>(plan.result_bytes);
                 }});
  out.push_back({"binary_matmul", [&data] {
                   const gpu::bit_matrix bits = gpu::pack_bits(data, 25, cpu);
                   return sum_of(gpu::binary_matmul(bits, bits, {.exec = cpu}));
                 }});
  add_tanimoto(out, data);
  out.push_back({"plan_binary_matmul", [] {
                   const auto plan = gpu::plan_binary_matmul(2, 3, 4, {.exec = cpu});
                   return static_cast<double>(plan.result_bytes);
                 }});
}

// Tables whose rows are gathered.
void add_layouts(std::vector<entry>& out, const gpu::matrix<double>& data) {
  out.push_back({"rank_rows of columns",
                 [&data] { return sum_of(gpu::rank_rows(gpu::transposed(data), {.exec = cpu})); }});
  out.push_back({"edges of columns", [&data] {
                   return sum_of_edges(gpu::pearson_all_pairs(gpu::transposed(data), {.exec = cpu},
                                                              gpu::edge_sink{.keep = {.max_p = 1}})
                                           .edges);
                 }});
  out.push_back({"edges of large integers", [] {
                   auto large = numbers<std::int64_t>(12, 9);
                   for (index_t k = 0; k < 108; ++k) large.data()[k] += std::int64_t{1} << 60;
                   return sum_of_edges(
                       gpu::spearman_all_pairs(large, {.exec = cpu}, gpu::edge_sink{}).edges);
                 }});
}

void add_others(std::vector<entry>& out, const gpu::matrix<double>& data) {
  out.push_back({"matrix", [] { return static_cast<double>(gpu::matrix<int>(3, 4).cols()); }});
  out.push_back({"matrix clone", [&data] { return sum_of(data.clone()); }});
  out.push_back({"bit_matrix", [] { return static_cast<double>(gpu::bit_matrix(3, 4).cols()); }});
  for (const auto variant : {gpu::rank_variant::counting, gpu::rank_variant::sort}) {
    out.push_back({"rank_rows", [=, &data] {
                     return sum_of(gpu::rank_rows(data, {.variant = variant, .exec = cpu}));
                   }});
  }
  out.push_back({"plan_rank_rows", [] {
                   const auto plan = gpu::plan_rank_rows<float>(2, 9, {.exec = cpu});
                   return static_cast<double>(plan.workspace_bytes);
                 }});
  out.push_back(
      {"available_backends", [] { return static_cast<double>(gpu::available_backends().size()); }});
  out.push_back(
      {"available_devices", [] { return static_cast<double>(gpu::available_devices().size()); }});
  out.push_back({"resolve_backend", [] {
                   return static_cast<double>(gpu::resolve_backend(cpu) == gpu::backend::cpu);
                 }});
  out.push_back({"correlation_p_value", [] { return gpu::correlation_p_value(0.3, 12); }});
  out.push_back({"critical_correlation", [] { return gpu::critical_correlation(0.3, 12); }});
}

// Runs `e` with its n-th allocation failing; whether one failed.
bool survives(const entry& e, std::int64_t n, bool follow, double expected) {
  all_that_follow = follow;
  failed_one = false;
  bool right = false;
  allocations_left = n;
  try {
    right = e.call() == expected;
    allocations_left = never;
  } catch (const gpu::out_of_memory&) {
    allocations_left = never;
    right = true;
  } catch (const std::exception& other) {
    allocations_left = never;
    std::printf("%s, allocation %lld: threw %s\n", e.name.c_str(), static_cast<long long>(n),
                other.what());
  }
  const bool failed = failed_one;
  if (!right || e.call() != expected) {
    std::printf("%s, allocation %lld%s: FAILED\n", e.name.c_str(), static_cast<long long>(n),
                follow ? " and all that follow" : "");
    std::exit(EXIT_FAILURE);
  }
  return failed;
}

}  // namespace

int main() {
  const gpu::matrix<double> data = numbers<double>(40, 12);
  const gpu::matrix<std::int32_t> counts = numbers<std::int32_t>(60, 5);
  std::vector<float> vector(3000);
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = static_cast<float>(i * 7 % 1000);

  std::vector<entry> entries;
  add_all_pairs(entries, data, "of doubles", {.exec = cpu});
  add_all_pairs(entries, counts, "folded", {.fold = gpu::row_folding::always, .exec = cpu});
  add_selections(entries, data, vector);
  add_filters(entries, data, vector);
  add_products(entries, data);
  add_layouts(entries, data);
  add_others(entries, data);

  std::int64_t injected = 0;
  for (const entry& e : entries) {
    const double expected = e.call();
    std::int64_t of_entry = 0;
    for (const bool follow : {false, true}) {
      // The first 64, then ever larger steps: long lists of allocations are of one loop.
      for (std::int64_t n = 1; survives(e, n, follow, expected); n += 1 + n / 64) ++of_entry;
    }
    std::printf("%s: %lld\n", e.name.c_str(), static_cast<long long>(of_entry));
    std::fflush(stdout);
    injected += of_entry;
  }
  std::printf("%zu entry points, %lld failed allocations survived\n", entries.size(),
              static_cast<long long>(injected));
  return EXIT_SUCCESS;
}
