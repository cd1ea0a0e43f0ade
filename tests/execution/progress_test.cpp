// The progress callback of every operation on the CPU: it is asked while the work goes on, on the
// calling thread, and what it answers ends the call.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/generators.hpp"

namespace {

using gpu::progress_reply;

struct operation {
  std::string name;  // and its stage, for all but pairs
  std::function<void(const gpu::execution&)> call;
};

std::vector<operation> row_operations(const gpu::matrix<double>& x) {
  const gpu::matrix_view<const double> view = x.view();
  std::vector<operation> all;
  all.push_back(
      {"rank_rows", [=](const auto& exec) { (void)gpu::rank_rows(view, {.exec = exec}); }});
  for (const auto variant :
       {gpu::mean_filter_variant::automatic, gpu::mean_filter_variant::direct}) {
    all.push_back({"mean_filter", [=](const auto& exec) {
                     gpu::matrix<double> out(view.rows(), view.cols());
                     gpu::mean_filter(view, out.view(),
                                      {.window = 3, .variant = variant, .exec = exec});
                   }});
  }
  all.push_back({"convolve", [=](const auto& exec) {
                   const std::vector<double> weights{1, 2, 1};
                   gpu::matrix<double> out(view.rows(), view.cols());
                   gpu::convolve(view, weights, out.view(), {.exec = exec});
                 }});
  for (const auto variant : {gpu::top_k_variant::automatic, gpu::top_k_variant::sort}) {
    all.push_back({"top_k", [=](const auto& exec) {
                     (void)gpu::top_k(view, 3, {.variant = variant, .exec = exec});
                   }});
  }
  all.push_back({"top_k_distinct",
                 [=](const auto& exec) { (void)gpu::top_k_distinct(view, 3, {.exec = exec}); }});
  all.push_back({"matmul", [=](const auto& exec) {
                   gpu::matmul_options options{.variant = gpu::matmul_variant::naive, .exec = exec};
                   options.b = gpu::transposition::transpose;
                   (void)gpu::matmul(view, view, options);
                 }});
  // Many rows: those above are packed before a second thread has begun.
  const auto many = std::make_shared<gpu::matrix<std::int8_t>>(
      gpu_test::random_matrix<std::int8_t>(40'000, 300, 7));
  all.push_back({"pack_bits", [=](const auto& exec) {
                   (void)gpu::pack_bits(many->view(), std::int8_t{0}, exec);
                 }});
  all.push_back({"binary_matmul", [=](const auto& exec) {
                   const auto bits = gpu::pack_bits(view, 0.0, {.target = gpu::backend::cpu});
                   (void)gpu::binary_matmul(bits, bits, {.exec = exec});
                 }});
  return all;
}

std::vector<operation> pair_operations(const gpu::matrix<double>& x) {
  const gpu::matrix_view<const double> view = x.view();
  std::vector<operation> all;
  all.push_back({"prepare", [=](const auto& exec) {
                   (void)gpu::prepare_rows(gpu::measure::spearman, view, {.exec = exec});
                 }});
  all.push_back({"prepare", [=](const auto& exec) {
                   (void)gpu::prepare_rows(gpu::measure::pearson, view, {.exec = exec});
                 }});
  all.push_back({"prepare", [=](const auto& exec) {
                   (void)gpu::spearman_all_pairs(view, {.exec = exec}, gpu::count_sink{});
                 }});
  all.push_back({"prepare", [=](const auto& exec) {
                   (void)gpu::pearson_all_pairs(view, {.exec = exec}, gpu::count_sink{});
                 }});
  return all;
}

/// Asks a call to end by its second question. It is asked again as soon as the call's loops poll:
/// the first answer takes longer than the time between two questions.
class second_question {
 public:
  explicit second_question(int threads) {
    exec_.target = gpu::backend::cpu;
    exec_.cpu_threads = threads;
    exec_.on_progress = [this](const gpu::progress& state) {
      stage_ = state.stage;
      is_of_caller_ &= std::this_thread::get_id() == caller_;
      is_in_range_ &= state.done <= state.total && state.total > 0;
      if (++questions_ > 1) return progress_reply::cancel;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return progress_reply::proceed;
    };
  }
  [[nodiscard]] const gpu::execution& exec() const { return exec_; }
  void check_asked(const std::string& stage) const {
    CHECK(questions_ == 2);
    CHECK(stage_ == stage);
    CHECK(is_of_caller_);
    CHECK(is_in_range_);
  }

 private:
  gpu::execution exec_;
  std::thread::id caller_ = std::this_thread::get_id();
  int questions_ = 0;
  std::string stage_;
  bool is_of_caller_ = true;
  bool is_in_range_ = true;
};

void check_cancelled(const operation& each) {
  CAPTURE(each.name);
  const second_question asked(1);
  CHECK_THROWS_AS(each.call(asked.exec()), gpu::cancelled);
  asked.check_asked(each.name);
}

/// The same with other threads, which may leave the calling one nothing to do in so short a call.
void check_cancelled_beside_others(const operation& each) {
  CAPTURE(each.name);
  constexpr int most_tries = 100;  // on a machine with other work, most calls leave it nothing
  for (int tries = 0; tries < most_tries; ++tries) {
    const second_question asked(3);
    try {
      each.call(asked.exec());
    } catch (const gpu::cancelled&) {
      asked.check_asked(each.name);
      return;
    }
  }
  FAIL_CHECK("the calling thread never asked in " << most_tries << " calls");
}

}  // namespace

TEST_CASE("Operations on rows are cancelled while they work", "[progress]") {
  const auto x = gpu_test::random_matrix<double>(700, 300, 1);
  for (const operation& each : row_operations(x)) {
    check_cancelled(each);
    check_cancelled_beside_others(each);
  }
}

// The first of the loops that prepare rows polls: an answer that ends the call later is not enough
// for this table, whose stage "prepare" has more than one loop.
TEST_CASE("The preparation of rows is cancelled while it works", "[progress]") {
  const auto x = gpu_test::random_matrix<double>(20000, 30, 2);
  for (const operation& each : pair_operations(x)) {
    check_cancelled(each);
    check_cancelled_beside_others(each);
  }
}

TEST_CASE("One long row is cancelled while it is worked on", "[progress]") {
  const auto x = gpu_test::random_matrix<float>(1, 9'000'000, 3);
  const std::span<const float> row(x.data(), 9'000'000);
  const std::vector<operation> all{
      {"rank_rows", [&](const auto& exec) { (void)gpu::rank_rows(x.view(), {.exec = exec}); }},
      {"top_k", [&](const auto& exec) { (void)gpu::top_k(row, 3, {.exec = exec}); }},
      {"top_k",
       [&](const auto& exec) {
         (void)gpu::top_k(row, 3'000'000, {.variant = gpu::top_k_variant::sort, .exec = exec});
       }},
      {"top_k_distinct",
       [&](const auto& exec) { (void)gpu::top_k_distinct(row, 3, {.exec = exec}); }}};
  for (const operation& each : all) check_cancelled(each);
}

TEST_CASE("A large product by OpenBLAS is cancelled between its parts", "[progress]") {
  const auto x = gpu_test::random_matrix<float>(2048, 2048, 4);
  check_cancelled({"matmul", [&](const auto& exec) { (void)gpu::matmul(x, x, {.exec = exec}); }});
}

TEST_CASE("What the callback throws ends the call, and the next call is right", "[progress]") {
  const auto x = gpu_test::random_matrix<double>(700, 300, 5);
  const gpu::matrix<double> expected = gpu::rank_rows(x, {.exec = {.target = gpu::backend::cpu}});
  gpu::execution exec{.target = gpu::backend::cpu, .cpu_threads = 3};
  exec.on_progress = [](const gpu::progress&) -> progress_reply {
    throw std::runtime_error("own");
  };
  for (const auto& operations : {row_operations(x), pair_operations(x)}) {
    for (const operation& each : operations) {
      CAPTURE(each.name);
      CHECK_THROWS_AS(each.call(exec), std::runtime_error);
    }
  }
  exec.on_progress = {};
  const gpu::matrix<double> ranks = gpu::rank_rows(x, {.exec = exec});
  CHECK(std::equal(ranks.data(), ranks.data() + 700 * 300, expected.data()));
}

TEST_CASE("A callback may call the library without being asked about that", "[progress]") {
  const auto x = gpu_test::random_matrix<double>(700, 300, 6);
  gpu::execution exec{.target = gpu::backend::cpu, .cpu_threads = 1};
  const std::vector<operation> operations = row_operations(x);
  int questions = 0;
  int depth = 0;
  int deepest = 0;
  exec.on_progress = [&](const gpu::progress&) {
    deepest = std::max(deepest, ++depth);
    if (++questions <= 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      for (const operation& each : operations) each.call({.target = gpu::backend::cpu});
    }
    --depth;
    return progress_reply::proceed;
  };
  CHECK_NOTHROW(gpu::rank_rows(x, {.exec = exec}));
  CHECK(questions >= 2);
  CHECK(deepest == 1);
}
