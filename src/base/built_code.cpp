#include "base/built_code.hpp"

#include <charconv>
#include <optional>

namespace gpu::inline v0::detail {
namespace {

using form = built_architecture::form;
using scope = built_architecture::scope;

// Takes `ending` off the end of `text`.
bool take_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

void read_architecture(std::string_view name, std::vector<built_architecture>& out) {
  const bool machine_alone = take_ending(name, "-real");
  const bool portable_alone = !machine_alone && take_ending(name, "-virtual");
  built_architecture found;
  if (take_ending(name, "a")) found.reach = scope::exact;
  if (take_ending(name, "f")) found.reach = scope::family;
  const char* const end = name.data() + name.size();
  const auto [last, problem] = std::from_chars(name.data(), end, found.capability);
  if (problem != std::errc{} || last != end || found.capability <= 0) return;
  if (!portable_alone) out.push_back(found);
  found.what = form::portable;
  if (!machine_alone) out.push_back(found);
}

bool runs_on(const built_architecture& code, int capability) {
  if (code.reach == scope::exact) return code.capability == capability;
  const bool same_family = code.capability / 10 == capability / 10;
  return code.capability <= capability &&
         (same_family || (code.what == form::portable && code.reach == scope::later));
}

std::optional<int> newest(int capability, form what, const std::vector<built_architecture>& built) {
  std::optional<int> best;
  for (const built_architecture& code : built) {
    if (code.what != what || !runs_on(code, capability)) continue;
    if (!best || *best < code.capability) best = code.capability;
  }
  return best;
}

}  // namespace

std::vector<built_architecture> read_architectures(std::string_view list) {
  std::vector<built_architecture> out;
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    read_architecture(list.substr(0, end), out);
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return out;
}

offered_code offered_to(int capability, const std::vector<built_architecture>& built) {
  if (const auto code = newest(capability, form::machine, built)) return {*code, true};
  if (const auto code = newest(capability, form::portable, built)) return {*code, false};
  return {};
}

std::string_view built_architectures() {
#ifdef GPU_SIMILARITY_ARCHITECTURES
  return GPU_SIMILARITY_ARCHITECTURES;
#else
  return {};
#endif
}

offered_code offered_to(int capability) {
  static const std::vector<built_architecture> built = read_architectures(built_architectures());
  return built.empty() ? offered_code{capability, true} : offered_to(capability, built);
}

}  // namespace gpu::inline v0::detail
