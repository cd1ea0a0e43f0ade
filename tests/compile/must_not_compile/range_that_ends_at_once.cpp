// A shape is given to a range that has a name: a view of a temporary would outlive its elements.
// MESSAGE: no matching function for call to .*borrowed_elements
#include <utility>
#include <vector>

#include <gpu/matrix_input.hpp>

auto use(std::vector<double>& data) {
#ifdef MISUSE
  return gpu::as_matrix(std::move(data), 10, 10);
#else
  return gpu::as_matrix(data, 10, 10);
#endif
}
