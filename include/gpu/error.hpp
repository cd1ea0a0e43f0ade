#pragma once
/// @file
/// The exceptions of the library: one base with a code, few leaves. Every message names the
/// argument, what was got and what was expected. The library never prints, aborts or exits.
///
/// A value outside its documented range is invalid_argument, for every measure, device and backend;
/// a request that is valid but that this measure, type, device or backend does not offer is
/// unsupported.

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>

#include <gpu/export.hpp>
#include <gpu/index.hpp>

namespace gpu {
inline namespace v0 {

/// What went wrong, for callers that map errors to exit codes or to another language.
enum class error_code {
  invalid_argument,     ///< An argument is outside its documented range.
  unsupported,          ///< Valid, but not offered for this type, shape, device or backend.
  backend_unavailable,  ///< CUDA was asked for and cannot be used here.
  out_of_memory,        ///< Host or device memory, or the workspace limit, does not suffice.
  capacity_exceeded,    ///< The result is larger than the capacity the caller set.
  cancelled,            ///< The caller's progress callback asked to stop.
  cuda                  ///< A CUDA call failed.
};

/// What every exception of the library is, besides the exception of the standard library that fits
/// best: `catch (const gpu::error&)` catches all of them, and so does `catch (const
/// std::exception&)`; invalid_argument is a std::invalid_argument, and out_of_memory a
/// std::bad_alloc.
class GPU_SIMILARITY_EXPORT error {
 public:
  virtual ~error();
  /// What went wrong, as a value.
  [[nodiscard]] error_code code() const noexcept { return code_; }
  /// The whole message.
  [[nodiscard]] virtual const char* what() const noexcept;

 protected:
  /// `what` is the whole message.
  error(error_code code, const std::string& what);
  /// Copies share the message and do not throw.
  error(const error&) noexcept = default;
  /// As the copy.
  error& operator=(const error&) noexcept = default;

 private:
  error_code code_;
  std::runtime_error message_;
};

/// An argument is outside its documented range.
class GPU_SIMILARITY_EXPORT invalid_argument : public std::invalid_argument, public error {
 public:
  /// `what` is the whole message.
  explicit invalid_argument(const std::string& what);
  ~invalid_argument() override;
  /// The whole message.
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
};

/// The request is valid but not offered for this type, shape, device or backend.
class GPU_SIMILARITY_EXPORT unsupported : public std::runtime_error, public error {
 public:
  /// `what` is the whole message.
  explicit unsupported(const std::string& what);
  ~unsupported() override;
  /// The whole message.
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
};

/// CUDA was asked for and cannot be used: built without it, no device, or no driver.
class GPU_SIMILARITY_EXPORT backend_unavailable : public std::runtime_error, public error {
 public:
  /// `what` is the whole message.
  explicit backend_unavailable(const std::string& what);
  ~backend_unavailable() override;
  /// The whole message.
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
};

/// Memory or the workspace limit does not suffice.
class GPU_SIMILARITY_EXPORT out_of_memory : public std::bad_alloc, public error {
 public:
  /// `what` is the whole message.
  out_of_memory(const std::string& what, std::size_t requested_bytes);
  ~out_of_memory() override;
  /// The whole message.
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
  /// Bytes that were asked for when memory ran out.
  [[nodiscard]] std::size_t requested_bytes() const noexcept { return requested_bytes_; }

 private:
  std::size_t requested_bytes_;
};

/// The result does not fit the capacity that the caller set. Nothing was dropped silently.
class GPU_SIMILARITY_EXPORT capacity_exceeded : public std::runtime_error, public error {
 public:
  /// `what` is the whole message.
  capacity_exceeded(const std::string& what, index_t required);
  ~capacity_exceeded() override;
  /// The whole message.
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
  /// The capacity that the whole result needs, in elements.
  [[nodiscard]] index_t required() const noexcept { return required_; }

 private:
  index_t required_;
};

/// The caller's progress callback asked to stop.
class GPU_SIMILARITY_EXPORT cancelled : public std::runtime_error, public error {
 public:
  /// `what` is the whole message.
  explicit cancelled(const std::string& what);
  ~cancelled() override;
  /// The whole message.
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
};

/// A CUDA call failed; the message names the call, the file and the line.
class GPU_SIMILARITY_EXPORT cuda_error : public std::runtime_error, public error {
 public:
  /// `what` is the whole message.
  cuda_error(const std::string& what, int status);
  ~cuda_error() override;
  /// The whole message.
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
  /// The cudaError_t value.
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  int status_;
};

}  // namespace v0
}  // namespace gpu
