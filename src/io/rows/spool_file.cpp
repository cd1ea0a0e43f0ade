#include "io/rows/spool_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "io/io_error.hpp"
#include "io/write/output_file.hpp"

namespace gpu::io {
namespace {

std::string temporary_folder() {
  const char* const given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/tmp";
}

/// A file of that folder which has no name (any more); negative where there is none.
int open_nameless(const std::string& folder) {
#if defined(O_TMPFILE)
  constexpr mode_t mode = 0600;
  const int opened = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (opened >= 0) return opened;
#endif
  std::string name = folder + "/gpu-similarity.XXXXXX";  // as file systems without O_TMPFILE take
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor >= 0) ::unlink(name.c_str());
  return descriptor;
}

}  // namespace

spool_file::spool_file() : descriptor_(open_nameless(temporary_folder())) {
  if (descriptor_ < 0) fail("cannot be created");
}

spool_file::~spool_file() {
  ::close(descriptor_);
}

void spool_file::fail(const char* what) const {
  throw output_error("a temporary file in " + temporary_folder(),
                     std::string(what) + ": " + system_message(errno));
}

void spool_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void spool_file::copy_to(output_file& out) const {
  constexpr std::size_t block_bytes = std::size_t{1} << 20;
  const auto block = std::make_unique_for_overwrite<char[]>(block_bytes);
  for (off_t position = 0;;) {
    const ssize_t got = ::pread(descriptor_, block.get(), block_bytes, position);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read");
    if (got == 0) return;
    out.write({block.get(), static_cast<std::size_t>(got)});
    position += got;
  }
}

}  // namespace gpu::io
