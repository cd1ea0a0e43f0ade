#include "cpu/pairs/rows/decided_rows.hpp"

namespace gpu::cpu {
namespace {

class decided_search final : public pair_search {
 public:
  decided_search(const decided_rows& rows, const pair_task& task, int threads, pair_search* earlier)
      : pair_search(task, threads), rows_(rows) {
    if (earlier != nullptr) take_scratch(*earlier);
  }

  [[nodiscard]] std::string explain() const override { return rows_.explain(); }
  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    rows_.statistics(task(), tile, scratch, out);
  }
  [[nodiscard]] bool finds_above() const override { return rows_.finds_above(); }
  void above(const pair_tile& tile, const double* bars, bool /*by_magnitude*/,
             pair_scratch& scratch, pair_visitor visit) const override {
    rows_.above(task(), tile, bars, scratch, visit);
  }

 private:
  [[nodiscard]] std::size_t kernel_bytes() const override { return rows_.kernel_bytes(); }

  const decided_rows& rows_;
};

}  // namespace

std::unique_ptr<pair_search> decided_rows::search(const pair_task& task, int threads,
                                                  std::unique_ptr<pair_search> earlier) const {
  return std::make_unique<decided_search>(*this, task, threads, earlier.get());
}

}  // namespace gpu::cpu
