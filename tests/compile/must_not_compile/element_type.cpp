// Only the documented element types are taken.
// MESSAGE: data: its elements have a type that is not taken, expected int8_t
#include <string>

#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const int> numbers, gpu::matrix_view<const std::string> words) {
#ifdef MISUSE
  static_cast<void>(numbers);
  return gpu::spearman_all_pairs(words);
#else
  static_cast<void>(words);
  return gpu::spearman_all_pairs(numbers);
#endif
}
