// The largest statistics of shuffled tables on CUDA: those of the textbook, and those of the CPU.
#include <cstdint>

#include "permutation/max_t_cases.hpp"
#include "support/catch.hpp"

namespace {

const gpu_test::pair_target cuda{.where = gpu::backend::cuda};
const gpu_test::pair_target cpu{.where = gpu::backend::cpu};

}  // namespace

TEST_CASE("Maxima on CUDA are those of the textbook", "[max_t][cuda]") {
  for (const gpu::measure what : gpu::all_measures()) {
    if (what == gpu::measure::kendall) continue;  // on the CPU alone
    gpu_test::maxima_are_those_of_the_textbook<double>(what, cuda);
    gpu_test::maxima_are_those_of_the_textbook<std::int8_t>(what, cuda);
  }
  gpu_test::many_pairs_have_the_maxima_of_the_textbook(cuda);
  gpu_test::rows_with_a_nan_are_left_out(cuda);
}

TEST_CASE("Cuts of maxima on CUDA keep what they say", "[max_t][cuda]") {
  gpu_test::edges_by_the_cut_have_such_p(cuda);
  gpu_test::nothing_is_rare_among_three_columns(cuda);
}

TEST_CASE("Maxima on CUDA have the bits of the CPU", "[max_t][cuda]") {
  const auto x = gpu_test::random_matrix<float>(1500, 60, 21);
  const auto y = gpu_test::random_matrix<float>(700, 60, 22);
  for (const gpu::measure what : gpu::all_measures()) {
    if (what == gpu::measure::kendall) continue;  // on the CPU alone
    INFO(gpu::to_string(what));
    for (const auto shuffle : {gpu::column_shuffle::permutation, gpu::column_shuffle::circular}) {
      const gpu::max_t_options how{.permutations = 25, .seed = 9, .shuffle = shuffle};
      CHECK(gpu::max_t(what, x, cuda.options(), how).maxima ==
            gpu::max_t(what, x, cpu.options(), how).maxima);
      CHECK(gpu::max_t(what, x, y, cuda.options(), how).maxima ==
            gpu::max_t(what, x, y, cpu.options(), how).maxima);
    }
  }
}
