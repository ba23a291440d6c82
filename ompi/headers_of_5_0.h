// SPDX-License-Identifier: BSD-3-Clause
// ompi/headers_of_5_0.h -- those of Open MPI 5.0's own headers that C++ does not accept as they
// are, or that others include but no package has. Included only by compat.h, before the rest.
//
// Open MPI 5.0 installs its internal headers (--with-devel-headers, as Debian does), but not the
// three of opal/mca/threads/pthreads/, which give names to types and calls of POSIX threads.
#pragma once

#include <opal/constants.h>
#include <pthread.h>

#include <string_view>

static_assert(std::string_view(MCA_threads_mutex_base_include_HEADER).find("/pthreads/") !=
                  std::string_view::npos,
              "this Open MPI was configured for other threads than POSIX's");
#undef MCA_threads_base_include_HEADER
#undef MCA_threads_mutex_base_include_HEADER
#undef MCA_threads_tsd_base_include_HEADER
#define MCA_threads_base_include_HEADER "ompi/headers_of_5_0.h"  // this file: it has all three
#define MCA_threads_mutex_base_include_HEADER "ompi/headers_of_5_0.h"
#define MCA_threads_tsd_base_include_HEADER "ompi/headers_of_5_0.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;
typedef pthread_key_t opal_tsd_key_t;
#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER PTHREAD_COND_INITIALIZER

extern "C" {

extern void (*opal_threads_pthreads_yield_fn)(void);  // chosen when Open MPI starts

static inline void opal_thread_yield() { opal_threads_pthreads_yield_fn(); }

/// The headers ask for no recursive mutexes.
static inline int opal_thread_internal_mutex_init(pthread_mutex_t* mutex, bool) {
  return pthread_mutex_init(mutex, nullptr) == 0 ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}
static inline void opal_thread_internal_mutex_lock(pthread_mutex_t* mutex) {
  pthread_mutex_lock(mutex);
}
static inline int opal_thread_internal_mutex_trylock(pthread_mutex_t* mutex) {
  return pthread_mutex_trylock(mutex) == 0 ? 0 : 1;
}
static inline void opal_thread_internal_mutex_unlock(pthread_mutex_t* mutex) {
  pthread_mutex_unlock(mutex);
}
static inline void opal_thread_internal_mutex_destroy(pthread_mutex_t* mutex) {
  pthread_mutex_destroy(mutex);
}
static inline int opal_thread_internal_cond_init(pthread_cond_t* condition) {
  return pthread_cond_init(condition, nullptr) == 0 ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}
static inline void opal_thread_internal_cond_signal(pthread_cond_t* condition) {
  pthread_cond_signal(condition);
}
static inline void opal_thread_internal_cond_destroy(pthread_cond_t* condition) {
  pthread_cond_destroy(condition);
}
static inline int opal_tsd_get(pthread_key_t key, void** value) {
  *value = pthread_getspecific(key);
  return OPAL_SUCCESS;
}

// event.h opens extern "C" and does not close it.
#pragma push_macro("BEGIN_C_DECLS")
#pragma push_macro("END_C_DECLS")
#undef BEGIN_C_DECLS
#undef END_C_DECLS
#define BEGIN_C_DECLS
#define END_C_DECLS
#include <opal/util/event.h>
#pragma pop_macro("BEGIN_C_DECLS")
#pragma pop_macro("END_C_DECLS")
}

#include <opal/mca/pmix/pmix-internal.h>
#include <opal/mca/threads/thread_usage.h>

// In C the last argument converts to any pointer implicitly; communicator.h relies on it.
#include <opal/class/opal_hash_table.h>
#define opal_hash_table_get_value_ptr(table, key, bytes, value) \
  opal_hash_table_get_value_ptr(table, key, bytes, static_cast<void**>(value))
#include <ompi/communicator/communicator.h>
#undef opal_hash_table_get_value_ptr
