#pragma once
// A function of the caller's, for as long as a call lasts.

#include <memory>
#include <type_traits>

namespace gpu::inline v0 {
namespace detail {

template <bool Noexcept, class Result, class... Arguments>
class function_ref_of {
 public:
  template <class Callable>
    requires(!std::is_base_of_v<function_ref_of, std::remove_cvref_t<Callable>> &&
             !std::is_function_v<std::remove_reference_t<Callable>> &&
             (Noexcept ? std::is_nothrow_invocable_r_v<Result, Callable&, Arguments...>
                       : std::is_invocable_r_v<Result, Callable&, Arguments...>))
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  function_ref_of(Callable&& callable) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Arguments... arguments) noexcept(Noexcept) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(
              static_cast<Arguments&&>(arguments)...);
        }) {}

  /// Always a part of who calls: files compiled for one instruction set share no copy of it with
  /// others.
  [[gnu::always_inline]] Result operator()(Arguments... arguments) const noexcept(Noexcept) {
    return call_(object_, static_cast<Arguments&&>(arguments)...);
  }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...) noexcept(Noexcept);
};

}  // namespace detail

/// Calls an object that lives elsewhere, at least as long as this: two words, never empty, and it
/// allocates nothing. For functions that are arguments of a call across a boundary at which
/// templates end, such as that of a loop compiled for one instruction set. A signature that is
/// noexcept takes objects whose call is.
template <class Signature>
class function_ref;

template <class Result, class... Arguments>
class function_ref<Result(Arguments...)>
    : public detail::function_ref_of<false, Result, Arguments...> {
  using detail::function_ref_of<false, Result, Arguments...>::function_ref_of;
};

template <class Result, class... Arguments>
class function_ref<Result(Arguments...) noexcept>
    : public detail::function_ref_of<true, Result, Arguments...> {
  using detail::function_ref_of<true, Result, Arguments...>::function_ref_of;
};

}  // namespace gpu::inline v0
