// What the calls of the misuses are made with: nothing is linked.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gpu/similarity.hpp>

extern gpu::matrix<float> matrix;
extern gpu::matrix_view<const float> host;
extern gpu::matrix_view<const double> doubles;
extern gpu::matrix_view<const std::int32_t> whole;
extern gpu::matrix_view<const std::int64_t> longer;
extern gpu::matrix_view<const std::string> words;
extern gpu::device_matrix_view<const float> device;
extern gpu::device_matrix_view<const std::int64_t> device_longer;
extern gpu::device_matrix_view<float> device_out;
extern gpu::device_matrix_view<double> device_means;
extern gpu::device_matrix_view<const double> device_fixed;
extern gpu::device_matrix_view<std::int32_t> device_narrow;
extern gpu::device_matrix_view<gpu::index_t> device_places;
extern std::vector<float> floats;
extern std::vector<double> numbers;
extern const gpu::pair_options options;
extern const gpu::pair_filter keep;
extern CUstream_st* stream;
