#pragma once
// What a call is refused with.

#include <string>
#include <string_view>

#include <gpu/error.hpp>

#include "support/catch.hpp"

namespace gpu_test {

/// The words of the Error that call() throws; empty where it throws nothing.
template <class Error = gpu::error, class Call>
std::string refusal_of(const Call& call) {
  try {
    call();
  } catch (const Error& refusal) {
    return refusal.what();
  }
  return {};
}

/// That call() throws an Error whose words begin so.
template <class Error = gpu::error, class Call>
void check_refused(const Call& call, std::string_view begin) {
  const std::string said = refusal_of<Error>(call);
  INFO("got '" << said << "', expected '" << begin << "'");
  CHECK((!said.empty() && said.starts_with(begin)));
}

}  // namespace gpu_test
