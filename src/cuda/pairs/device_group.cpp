// All pairs on several devices of one host: an engine for each of them.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/rows/budget.hpp"
#include "cuda/pairs/team/team.hpp"
#include "cuda/transfer/staging_copy.hpp"
#include "cuda_runtime/device_info.hpp"

namespace gpu::cuda {
namespace {

class pair_device_group final : public detail::pair_engine {
 public:
  pair_device_group(const detail::measure_traits& what, const detail::pair_input& input,
                    std::span<const device_info> devices, pair_variant variant);
  ~pair_device_group() override;
  pair_device_group(const pair_device_group&) = delete;
  pair_device_group& operator=(const pair_device_group&) = delete;

  [[nodiscard]] const detail::row_info& rows() const override { return info_; }
  // Every device finds the same patterns.
  [[nodiscard]] std::optional<detail::folded_rows> take_folded() {
    std::optional<detail::folded_rows> found = engines_.front()->take_folded();
    for (auto& engine : engines_) static_cast<void>(engine->take_folded());
    return found;
  }
  [[nodiscard]] std::string device() const override { return device_name_; }
  [[nodiscard]] pair_variant variant() const override { return engines_.front()->variant(); }

  // Each device writes its own rows.
  void dense(matrix_view<double> out) override {
    share([&](cuda_engine& engine) { engine.dense(out); });
  }
  void dense(matrix_view<float> out) override {
    share([&](cuda_engine& engine) { engine.dense(out); });
  }
  void top_k(const detail::top_k_request& request, neighbor_table& out) override {
    share([&](cuda_engine& engine) { engine.top_k(request, out); });
  }
  void connectivity(const detail::connectivity_request& request, matrix_view<double> out) override {
    share([&](cuda_engine& engine) { engine.connectivity(request, out); });
  }
  void edges(const detail::edge_request& request, detail::edge_receiver& receiver) override;
  void counts(const detail::count_request& request, pair_counts& out) override;
  [[nodiscard]] detail::bin_counts bin_statistics(const detail::bin_request& request) override;

 private:
  [[nodiscard]] int members() const { return static_cast<int>(engines_.size()); }
  void prepare(const detail::measure_traits& what, detail::pair_input input,
               std::span<const device_info> devices, pair_variant variant);
  // Runs work(engine) or work(engine, team, member) for every engine, sharing one call.
  template <class Work>
  void share(const Work& work);

  std::string device_name_;
  progress_callback on_progress_;
  std::vector<std::unique_ptr<cuda_engine>> engines_;
  detail::row_info info_;
};

// Every device gets the same bound, so that all of them take the same decisions.
std::size_t common_workspace(std::size_t asked, std::span<const device_info> devices) {
  if (asked != 0) return asked;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const device_info& device : devices) {
    const device_guard guard(device.ordinal);
    const auto engines = std::count_if(devices.begin(), devices.end(), [&](const device_info& d) {
      return d.ordinal == device.ordinal;
    });
    least = std::min(least, pair_budget(0).limit() / static_cast<std::size_t>(engines));
  }
  return least;
}

// Lets the devices write to each other's memory, directly; false where they cannot.
bool connect(std::span<const device_info> devices) {
  for (const device_info& owner : devices) {
    cudaMemPool_t pool = nullptr;
    GPU_SIMILARITY_CUDA_CHECK(cudaDeviceGetMemPool(&pool, owner.ordinal));
    for (const device_info& other : devices) {
      if (other.ordinal == owner.ordinal) continue;
      int can = 0;
      GPU_SIMILARITY_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, other.ordinal, owner.ordinal));
      if (can == 0) return false;
      cudaMemAccessDesc access{};
      access.location = {.type = cudaMemLocationTypeDevice, .id = other.ordinal};
      access.flags = cudaMemAccessFlagsProtReadWrite;
      if (cudaMemPoolSetAccess(pool, &access, 1) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        return false;
      }
    }
  }
  return true;
}

template <class Count>
void add(std::vector<Count>& sums, const std::vector<Count>& part) {
  std::transform(part.begin(), part.end(), sums.begin(), sums.begin(), std::plus<>());
}

pair_device_group::pair_device_group(const detail::measure_traits& what,
                                     const detail::pair_input& input,
                                     std::span<const device_info> devices, pair_variant variant)
    : device_name_(describe_devices(devices)),
      on_progress_(input.exec.on_progress),
      engines_(devices.size()) {
  const auto start = std::chrono::steady_clock::now();
  prepare(what, input, devices, variant);
  info_ = engines_.front()->rows();
  info_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

pair_device_group::~pair_device_group() {
  for (auto& engine : engines_) {
    if (!engine) continue;
    const device_guard guard(engine->ordinal());
    engine.reset();
  }
}

void pair_device_group::prepare(const detail::measure_traits& what, detail::pair_input input,
                                std::span<const device_info> devices, pair_variant variant) {
  input.exec.cpu_threads = std::max(1, staging_threads(input.exec.cpu_threads) / members());
  input.exec.workspace_bytes = common_workspace(input.exec.workspace_bytes, devices);
  const bool connected = connect(devices);
  pair_team team(members(), on_progress_);
  team.run([&](int member, pair_share& share) {
    detail::pair_input own = input;
    // Where each device prepares all rows by itself, one of them reports.
    own.exec.on_progress = {};
    if (member == 0 && on_progress_) {
      own.exec.on_progress = [&](const progress& state) {
        progress_reply reply = progress_reply::proceed;
        team.call([&] { reply = on_progress_(state); });
        return reply;
      };
    }
    const auto at = static_cast<std::size_t>(member);
    const device_guard guard(devices[at].ordinal);
    engines_[at] = std::make_unique<cuda_engine>(what, own, devices[at], variant,
                                                 connected ? &share : nullptr);
  });
}

template <class Work>
void pair_device_group::share(const Work& work) {
  pair_team team(members(), on_progress_);
  team.run([&](int member, pair_share& share) {
    cuda_engine& engine = *engines_[static_cast<std::size_t>(member)];
    engine.join(share);
    if constexpr (std::is_invocable_v<Work, cuda_engine&>) {
      work(engine);
    } else {
      work(engine, team, static_cast<std::size_t>(member));
    }
  });
}

// What one member of a team hands to the receiver of the call, on the calling thread.
class member_receiver final : public detail::edge_receiver {
 public:
  member_receiver(pair_team& team, bool is_first, detail::edge_receiver& to)
      : team_(team), is_first_(is_first), to_(to) {}

  // All members look at the same sample.
  void begin(const detail::edge_estimate& estimate) override {
    if (is_first_) team_.call([&] { to_.begin(estimate); });
  }
  void take(const detail::edge_batch& batch) override {
    team_.call([&] { to_.take(batch); });
  }
  [[nodiscard]] bool takes_packed() const override { return to_.takes_packed(); }
  void take_packed(const detail::packed_edges& edges, const pair_checksum& sum) override {
    team_.call([&] { to_.take_packed(edges, sum); });
  }
  [[nodiscard]] bool wants_more() const override { return to_.wants_more(); }

 private:
  pair_team& team_;
  bool is_first_;
  detail::edge_receiver& to_;
};

void pair_device_group::edges(const detail::edge_request& request,
                              detail::edge_receiver& receiver) {
  share([&](cuda_engine& engine, pair_team& team, std::size_t member) {
    member_receiver own(team, member == 0, receiver);
    engine.edges(request, own);
  });
}

void pair_device_group::counts(const detail::count_request& request, pair_counts& out) {
  std::vector<pair_counts> parts(engines_.size());
  share([&](cuda_engine& engine, pair_team&, std::size_t member) {
    engine.counts(request, parts[member]);
  });
  out.kept = parts.front().kept;
  out.degree = std::move(parts.front().degree);
  out.histogram = std::move(parts.front().histogram);
  for (std::size_t part = 1; part < parts.size(); ++part) {
    out.kept += parts[part].kept;
    add(out.degree, parts[part].degree);
    add(out.histogram, parts[part].histogram);
  }
}

detail::bin_counts pair_device_group::bin_statistics(const detail::bin_request& request) {
  std::vector<cuda_engine::bin_share> parts(engines_.size());
  share([&](cuda_engine& engine, pair_team&, std::size_t member) {
    parts[member] = engine.bin_own_share(request);
  });
  cuda_engine::bin_share out = std::move(parts.front());
  for (std::size_t part = 1; part < parts.size(); ++part) {
    out.counts.below += parts[part].counts.below;
    out.counts.at_or_above += parts[part].counts.at_or_above;
    add(out.counts.bins, parts[part].counts.bins);
  }
  return engines_.front()->complete(std::move(out));
}

}  // namespace

detail::made_engine make_device_group(const detail::measure_traits& what,
                                      const detail::pair_input& input,
                                      std::span<const device_info> devices, pair_variant variant) {
  auto group = std::make_unique<pair_device_group>(what, input, devices, variant);
  std::optional<detail::folded_rows> folded = group->take_folded();
  return {.engine = std::move(group), .folded = std::move(folded)};
}

}  // namespace gpu::cuda
