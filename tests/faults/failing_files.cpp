// A library to be loaded before all others (LD_PRELOAD): one call of the system on a file of a
// chosen folder fails, or all from then on. What it does is set by the environment:
//
// - GPU_SIMILARITY_FAULT_FOLDER: only files below it count.
// - GPU_SIMILARITY_FAULT_OUTPUT: with 1 standard output counts too.
// - GPU_SIMILARITY_FAULT_CALL: create, open, read, write, fsync, close or rename.
// - GPU_SIMILARITY_FAULT_NTH: which of these calls fails, from 1.
// - GPU_SIMILARITY_FAULT_ERROR: the errno it fails with; with 0 it reads or writes only half, with
// -1
//   the process is killed in front of it.
// - GPU_SIMILARITY_FAULT_NEW and GPU_SIMILARITY_FAULT_OLD: in front of that call, which does not
//   fail then, the first file takes the name of the second.
// - GPU_SIMILARITY_FAULT_STAYS: with 1 every later call fails too, as on a full disk.
// - GPU_SIMILARITY_FAULT_MARK: a file that is made when the fault happens.
//
// Written with the C library alone: it is loaded into a process that is no test.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace {

constexpr int most_descriptors = 1024;
std::atomic<bool> is_watched[most_descriptors];
std::atomic<long> calls = 0;

const char* text_of(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? "" : value;
}

bool is_in_folder(const char* path) {
  const char* const folder = text_of("GPU_SIMILARITY_FAULT_FOLDER");
  return *folder != '\0' && strncmp(path, folder, strlen(folder)) == 0;
}

bool is_counted(int descriptor) {
  if (descriptor == STDOUT_FILENO && *text_of("GPU_SIMILARITY_FAULT_OUTPUT") == '1') return true;
  return descriptor >= 0 && descriptor < most_descriptors && is_watched[descriptor];
}

void watch(int descriptor, bool watched) {
  if (descriptor >= 0 && descriptor < most_descriptors) is_watched[descriptor] = watched;
}

enum class fault { none, fails, halves };

/// What becomes of this call; sets errno where it fails.
fault next_fault(const char* call) {
  if (strcmp(call, text_of("GPU_SIMILARITY_FAULT_CALL")) != 0) return fault::none;
  const long nth = atol(text_of("GPU_SIMILARITY_FAULT_NTH"));
  const long number = ++calls;
  const bool stays = *text_of("GPU_SIMILARITY_FAULT_STAYS") == '1';
  if (number != nth && !(stays && number > nth)) return fault::none;
  const long mark = syscall(SYS_openat, AT_FDCWD, text_of("GPU_SIMILARITY_FAULT_MARK"),
                            O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (mark >= 0) syscall(SYS_close, mark);
  if (const char* const new_file = text_of("GPU_SIMILARITY_FAULT_NEW"); *new_file != '\0') {
    syscall(SYS_renameat2, AT_FDCWD, new_file, AT_FDCWD, text_of("GPU_SIMILARITY_FAULT_OLD"), 0);
    return fault::none;
  }
  errno = atoi(text_of("GPU_SIMILARITY_FAULT_ERROR"));
  if (errno == -1) kill(getpid(), SIGKILL);
  return errno == 0 ? fault::halves : fault::fails;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int open_counted(const char* name, const char* path, int flags, mode_t mode) {
  const bool is_own = is_in_folder(path);
  if (is_own && next_fault((flags & O_CREAT) != 0 ? "create" : "open") == fault::fails) return -1;
  const int descriptor = real<int(const char*, int, ...)>(name)(path, flags, mode);
  watch(descriptor, is_own);
  return descriptor;
}

size_t allowed(fault what, size_t count) {
  return what == fault::halves && count > 1 ? count / 2 : count;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_counted("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_counted("open64", path, flags, mode);
}

/// A name in a folder that is open counts as that folder does.
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const bool is_own = *path == '/' || folder == AT_FDCWD ? is_in_folder(path) : is_counted(folder);
  if (is_own && next_fault((flags & O_CREAT) != 0 ? "create" : "open") == fault::fails) return -1;
  const int descriptor = real<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
  watch(descriptor, is_own);
  return descriptor;
}

int dup(int descriptor) {
  const bool counted = is_counted(descriptor);
  const int copy = real<int(int)>("dup")(descriptor);
  watch(copy, counted);
  return copy;
}

ssize_t read(int descriptor, void* to, size_t count) {
  const fault what = is_counted(descriptor) ? next_fault("read") : fault::none;
  if (what == fault::fails) return -1;
  return real<ssize_t(int, void*, size_t)>("read")(descriptor, to, allowed(what, count));
}

ssize_t pread(int descriptor, void* to, size_t count, off_t at) {
  const fault what = is_counted(descriptor) ? next_fault("read") : fault::none;
  if (what == fault::fails) return -1;
  return real<ssize_t(int, void*, size_t, off_t)>("pread")(descriptor, to, allowed(what, count),
                                                           at);
}

ssize_t pread64(int descriptor, void* to, size_t count, off64_t at) {
  const fault what = is_counted(descriptor) ? next_fault("read") : fault::none;
  if (what == fault::fails) return -1;
  return real<ssize_t(int, void*, size_t, off64_t)>("pread64")(descriptor, to, allowed(what, count),
                                                               at);
}

ssize_t write(int descriptor, const void* from, size_t count) {
  const fault what = is_counted(descriptor) ? next_fault("write") : fault::none;
  if (what == fault::fails) return -1;
  return real<ssize_t(int, const void*, size_t)>("write")(descriptor, from, allowed(what, count));
}

ssize_t pwrite(int descriptor, const void* from, size_t count, off_t at) {
  const fault what = is_counted(descriptor) ? next_fault("write") : fault::none;
  if (what == fault::fails) return -1;
  return real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, from,
                                                                  allowed(what, count), at);
}

ssize_t pwrite64(int descriptor, const void* from, size_t count, off64_t at) {
  const fault what = is_counted(descriptor) ? next_fault("write") : fault::none;
  if (what == fault::fails) return -1;
  return real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(descriptor, from,
                                                                      allowed(what, count), at);
}

/// Files of the folder are left to the system: hundreds of runs would wait for a disk.
int fsync(int descriptor) {
  if (is_counted(descriptor)) return next_fault("fsync") == fault::fails ? -1 : 0;
  return real<int(int)>("fsync")(descriptor);
}

/// The descriptor is gone even where this fails, as on Linux.
int close(int descriptor) {
  const fault what = is_counted(descriptor) ? next_fault("close") : fault::none;
  const int error_number = errno;
  watch(descriptor, false);
  const int closed = real<int(int)>("close")(descriptor);
  if (what != fault::fails) return closed;
  errno = error_number;
  return -1;
}

int rename(const char* from, const char* to) {
  if (is_in_folder(to) && next_fault("rename") == fault::fails) return -1;
  return real<int(const char*, const char*)>("rename")(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  const bool is_own =
      *to == '/' || to_folder == AT_FDCWD ? is_in_folder(to) : is_counted(to_folder);
  if (is_own && next_fault("rename") == fault::fails) return -1;
  return real<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder,
                                                                   to);
}

}  // extern "C"
