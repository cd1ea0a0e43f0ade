// The filters take other element types than the pairs do: no long integers.
// MESSAGE: in: its elements have a type that is not taken, expected int8_t
#include <cstdint>
#include <vector>

#include <gpu/mean_filter.hpp>

auto use(const std::vector<std::int32_t>& numbers, const std::vector<std::int64_t>& longer) {
#ifdef MISUSE
  static_cast<void>(numbers);
  return gpu::mean_filter(longer);
#else
  static_cast<void>(longer);
  return gpu::mean_filter(numbers);
#endif
}
