// function_ref: what the loops of an instruction set call back through.

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "base/function_ref.hpp"
#include "support/catch.hpp"

namespace {

using gpu::function_ref;

int call_twice(function_ref<int(int)> function) {
  return function(1) + function(10);
}

struct counter {
  int calls = 0;
  int operator()(int by) { return calls += by; }
};

struct always_three {
  int operator()(int) const noexcept { return 3; }
};

static_assert(std::is_trivially_copyable_v<function_ref<int(int)>>);
static_assert(sizeof(function_ref<int(int)>) == 2 * sizeof(void*));
static_assert(!std::is_default_constructible_v<function_ref<int(int)>>);
static_assert(std::is_constructible_v<function_ref<int(int) noexcept>, always_three&>);
static_assert(!std::is_constructible_v<function_ref<int(int) noexcept>, counter&>);
static_assert(!std::is_constructible_v<function_ref<int(int)>, const counter&>);
static_assert(!std::is_constructible_v<function_ref<int(int)>, std::string&>);
static_assert(noexcept(std::declval<function_ref<int(int) noexcept>>()(1)));
static_assert(!noexcept(std::declval<function_ref<int(int)>>()(1)));

}  // namespace

TEST_CASE("A function_ref calls the object itself, and a copy of it does", "[base][function_ref]") {
  counter sum;
  const function_ref<int(int)> first = sum;
  const function_ref<int(int)> copy = first;
  CHECK(first(5) == 5);
  CHECK(copy(7) == 12);
  CHECK(call_twice(copy) == 13 + 23);
  CHECK(sum.calls == 23);
}

TEST_CASE("A function_ref takes const objects, temporaries and results that convert",
          "[base][function_ref]") {
  const always_three three;
  CHECK(call_twice(three) == 6);
  CHECK(call_twice([](int x) { return static_cast<short>(2 * x); }) == 22);
  CHECK(function_ref<int(int) noexcept>(three)(9) == 3);
}

TEST_CASE("A function_ref hands arguments on as they are", "[base][function_ref]") {
  std::string text = "a";
  const auto append = [](std::string& to, std::unique_ptr<int> from) {
    to += std::to_string(*from);
  };
  const function_ref<void(std::string&, std::unique_ptr<int>)> call = append;
  call(text, std::make_unique<int>(42));
  CHECK(text == "a42");
}

TEST_CASE("What the object throws passes through a function_ref", "[base][function_ref]") {
  const auto refuse = [](int x) -> int { throw std::runtime_error(std::to_string(x)); };
  CHECK_THROWS_AS(call_twice(refuse), std::runtime_error);
}
