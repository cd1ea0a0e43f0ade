// Which backend a call runs on: the option, then the environment, then what is there.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "api/arguments.hpp"
#include "base/memory_errors.hpp"
#include "base/parallel.hpp"
#include "cpu/platform/instruction_set.hpp"
#include "cuda_runtime/device_info.hpp"

namespace gpu::inline v0 {
namespace {

constexpr std::string_view backend_variable = "GPU_SIMILARITY_BACKEND";

// The CPU, with the instruction set that the environment may ask for.
backend usable_cpu() {
  (void)cpu::usable_instruction_set();  // throws where the variable has an illegal value
  return backend::cpu;
}

/// A call on the CPU has no use for devices: they are refused, not left out.
backend cpu_without_devices(const execution& exec) {
  if (!exec.devices.empty()) {
    throw invalid_argument(fmt::format(
        "execution.devices: got {} with {}, expected none: they are CUDA devices",
        exec.devices.size(),
        exec.target == backend::cpu ? "execution.target cpu" : "GPU_SIMILARITY_BACKEND=cpu"));
  }
  return usable_cpu();
}

void check_devices(const execution& exec) {
  if (exec.devices.empty()) return;  // describing devices takes longer than a small call
  const std::vector<device_info> devices = available_devices();
  const auto& asked = exec.devices;
  const auto unknown = std::find_if_not(asked.begin(), asked.end(), [&](int ordinal) {
    return std::any_of(devices.begin(), devices.end(),
                       [&](const device_info& device) { return device.ordinal == ordinal; });
  });
  if (unknown != asked.end()) {
    throw invalid_argument(fmt::format("execution.devices: got ordinal {}, expected 0 to {}",
                                       *unknown, static_cast<long>(devices.size()) - 1));
  }
  const auto twice = std::find_if(asked.begin(), asked.end(), [&](int ordinal) {
    return std::count(asked.begin(), asked.end(), ordinal) > 1;
  });
  if (twice != asked.end()) {
    throw invalid_argument(
        fmt::format("execution.devices: got ordinal {} twice, expected different ones", *twice));
  }
}

}  // namespace

backend detail::asked_backend(const execution& exec) {
  if (exec.target != backend::automatic) return exec.target;
  const char* text = std::getenv(backend_variable.data());
  const std::string_view value = text == nullptr ? "" : text;
  if (value.empty() || value == "auto" || value == "automatic") return backend::automatic;
  if (value == "cpu") return backend::cpu;
  if (value == "cuda") return backend::cuda;
  throw invalid_argument(
      fmt::format("{}: got '{}', expected cpu, cuda or auto", backend_variable, value));
}

std::string_view detail::name_of_asked(const execution& exec) {
  return exec.target != backend::automatic ? "execution.target" : backend_variable;
}

backend detail::choose_backend(const execution& exec, const backend_seconds& job) {
  // What calls took longer on the CPU, because no device was started for each of them alone: once
  // that is as much as the start takes, it pays.
  static std::atomic<double> lost{0};
  check_execution(exec);
  if (job.cpu <= job.cuda) return usable_cpu();
  const double before = lost.load(std::memory_order_relaxed);
  if (before + job.cpu - job.cuda > job.cuda_start || cuda::has_context()) {
    return resolve_backend(exec);
  }
  lost.store(before + job.cpu - job.cuda, std::memory_order_relaxed);
  return usable_cpu();
}

void detail::check_backend(const execution& exec) {
  check_execution(exec);
  if (asked_backend(exec) == backend::automatic && exec.devices.empty()) {
    static_cast<void>(usable_cpu());  // which of the two runs, the job says
  } else {
    static_cast<void>(resolve_backend(exec));
  }
}

std::string detail::words_of_automatic() {
  const backend best = resolve_backend({});
  if (best == backend::cpu || asked_backend({}) != backend::automatic) {
    return std::string(to_string(best));
  }
  return fmt::format(
      "cuda, or cpu for all pairs that it is expected to end first ({:.2g} s to start a device "
      "included)",
      default_cuda_costs.context_start);
}

std::vector<backend_info> available_backends() {
  return detail::with_memory_errors("available_backends", [&] {
    backend_info cpu{.kind = backend::cpu, .name = "cpu", .usable = true};
    try {
      cpu.description = fmt::format("{}, {} threads", to_string(cpu::usable_instruction_set()),
                                    detail::thread_count(0));
    } catch (const invalid_argument& illegal) {  // a variable of the environment
      cpu.usable = false;
      cpu.reason = illegal.what();
    }
    return std::vector<backend_info>{cpu, cuda::describe_backend()};
  });
}

std::vector<device_info> available_devices() {
  return detail::with_memory_errors("available_devices", [&] { return cuda::list_devices(); });
}

backend resolve_backend(const execution& exec) {
  return detail::with_memory_errors("resolve_backend", [&] {
    detail::check_execution(exec);
    const backend asked = detail::asked_backend(exec);
    if (asked == backend::cpu) return cpu_without_devices(exec);
    if (cuda::is_usable()) {
      check_devices(exec);
      return backend::cuda;
    }
    if (asked == backend::cuda) {
      const backend_info cuda_backend = cuda::describe_backend();
      throw backend_unavailable(
          fmt::format("execution.target: cuda was asked for, but {}", cuda_backend.reason));
    }
    if (!exec.devices.empty()) {
      throw backend_unavailable(fmt::format("execution.devices: got device {}, but {}",
                                            exec.devices.front(), cuda::describe_backend().reason));
    }
    return usable_cpu();
  });
}

void detail::check_device_call(const execution& exec) {
  check_execution(exec);
  if (exec.target == backend::cpu) {
    throw invalid_argument(
        "execution.target: got cpu for data in device memory, expected automatic or cuda");
  }
  execution on_device = exec;
  on_device.target = backend::cuda;
  static_cast<void>(resolve_backend(on_device));
}

std::string_view to_string(device_code code) noexcept {
  return detail::name_in(code, {"machine", "portable", "none"});
}

std::string_view to_string(backend kind) noexcept {
  return detail::name_in(kind, {"automatic", "cpu", "cuda"});
}

}  // namespace gpu::inline v0
