// pthread_create of the C library, counted. Linked into a test, and loaded before all others
// (LD_PRELOAD) into the command, where GPU_SIMILARITY_THREADS_FILE names a file that gets the
// counts.
//
// Written with the C library alone: it is loaded into a process that is no test.
#include "execution/counted_threads.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace {

std::atomic<int> created = 0;
std::atomic<int> alive = 0;
std::atomic<int> most = 0;
std::atomic<bool> refused = false;

struct task {
  void* (*body)(void*);
  void* argument;
};

void* run(void* given) {
  const task own = *static_cast<task*>(given);
  delete static_cast<task*>(given);
  void* const result = own.body(own.argument);
  --alive;
  return result;
}

void tell_file() {
  const char* const path = getenv("GPU_SIMILARITY_THREADS_FILE");
  if (path == nullptr) return;
  char text[64];
  const int size = snprintf(text, sizeof(text), "%d %d\n", created.load(), most.load());
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || pwrite(file, text, static_cast<size_t>(size), 0) != size) abort();
  close(file);
}

}  // namespace

namespace gpu_test {

int threads_created() {
  return created;
}

int threads_alive() {
  return alive;
}

void refuse_threads(bool is_refused) {
  refused = is_refused;
}

int most_threads_alive() {
  return most.exchange(alive);
}

}  // namespace gpu_test

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (refused) return EAGAIN;
  auto* const own = new (std::nothrow) task{body, argument};
  if (own == nullptr) abort();
  const int now = ++alive;
  for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
  }
  ++created;
  tell_file();
  const int error = real(thread, attributes, run, own);
  if (error != 0) {
    --alive;
    delete own;
  }
  return error;
}
