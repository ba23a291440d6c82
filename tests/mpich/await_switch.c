/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/mpich/await_switch.c -- preloaded into MPICH's tests, by MPI's profiling interface.
 * Many end in less time than a first switch takes, so MPI_Init returns only after that: when the
 * file that SWITCHED_ONCE names exists, which `switched` makes. It waits a minute at most;
 * `scripts/mpich` reports programs that were never switched. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void await_switch(void) {
  const struct timespec a_millisecond = {0, 1000000};
  const char* const once = getenv("SWITCHED_ONCE");
  struct timespec now;
  if (once == NULL) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (const time_t until = now.tv_sec + 60; now.tv_sec < until && access(once, F_OK) != 0;) {
    nanosleep(&a_millisecond, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
  }
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) await_switch();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) await_switch();
  return code;
}
