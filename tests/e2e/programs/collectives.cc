// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/collectives.cc -- collectives, blocking and non-blocking, on the world and on
// halves of it; every element of every result is checked. Counts as messages: one per collective
// and rank.
#include <numeric>

#include "proof.h"

namespace {

using e2e::Proof;
using Values = std::vector<std::int64_t>;

struct Group {
  Proof& proof;
  MPI_Comm comm;
  int rank = 0;
  int size = 1;
  std::int64_t salt = 0;  // differs between rounds, the same on all ranks
};

std::int64_t value(const Group& group, int rank, std::size_t index) {
  return group.salt * 1000003 + rank * 7919 + static_cast<std::int64_t>(index);
}

Values mine(const Group& group, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(group, group.rank, i);
  return values;
}

std::int64_t sum_of(const Group& group, int ranks, std::size_t index) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value(group, rank, index);
  return sum;
}

void count_one(Group& group, const Values& values) {
  group.proof.note_sent(values.size() * sizeof(std::int64_t));
  group.proof.note_received(values.size() * sizeof(std::int64_t));
}

template <class Expected>
void check(Group& group, const Values& values, const char* what, Expected expected) {
  count_one(group, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == expected(i)) continue;
    group.proof.error(Proof::Fault::kCorrupt,
                      std::string(what) + ": element " + std::to_string(i) + " is wrong");
    return;
  }
}

void one_to_all(Group& group, std::size_t count) {
  for (int root = 0; root < group.size; ++root) {
    Values values = group.rank == root ? mine(group, count) : Values(count);
    MPI_Bcast(values.data(), static_cast<int>(count), MPI_INT64_T, root, group.comm);
    check(group, values, "bcast", [&](std::size_t i) { return value(group, root, i); });
  }
  const std::size_t n = count / static_cast<std::size_t>(group.size) + 1;
  const Values all = mine(group, n * static_cast<std::size_t>(group.size));
  Values part(n);
  MPI_Scatter(all.data(), static_cast<int>(n), MPI_INT64_T, part.data(), static_cast<int>(n),
              MPI_INT64_T, 0, group.comm);
  check(group, part, "scatter", [&](std::size_t i) {
    return value(group, 0, static_cast<std::size_t>(group.rank) * n + i);
  });
}

void all_to_one(Group& group, std::size_t count) {
  const Values values = mine(group, count);
  const int root = group.size - 1;
  Values result(count);
  MPI_Reduce(values.data(), result.data(), static_cast<int>(count), MPI_INT64_T, MPI_SUM, root,
             group.comm);
  if (group.rank == root)
    check(group, result, "reduce", [&](std::size_t i) { return sum_of(group, group.size, i); });
  Values gathered(count * static_cast<std::size_t>(group.size));
  MPI_Gather(values.data(), static_cast<int>(count), MPI_INT64_T, gathered.data(),
             static_cast<int>(count), MPI_INT64_T, root, group.comm);
  if (group.rank == root) {
    check(group, gathered, "gather",
          [&](std::size_t i) { return value(group, static_cast<int>(i / count), i % count); });
  }
}

void all_to_all(Group& group, std::size_t count) {
  const auto size = static_cast<std::size_t>(group.size);
  const auto n = static_cast<int>(count);
  const Values out = mine(group, count * size);
  Values in(count * size);
  MPI_Alltoall(out.data(), n, MPI_INT64_T, in.data(), n, MPI_INT64_T, group.comm);
  check(group, in, "alltoall", [&](std::size_t i) {
    return value(group, static_cast<int>(i / count),
                 static_cast<std::size_t>(group.rank) * count + i % count);
  });
  MPI_Allgather(out.data(), n, MPI_INT64_T, in.data(), n, MPI_INT64_T, group.comm);
  check(group, in, "allgather",
        [&](std::size_t i) { return value(group, static_cast<int>(i / count), i % count); });
  Values sum(count);
  MPI_Allreduce(out.data(), sum.data(), n, MPI_INT64_T, MPI_SUM, group.comm);
  check(group, sum, "allreduce", [&](std::size_t i) { return sum_of(group, group.size, i); });
  MPI_Scan(out.data(), sum.data(), n, MPI_INT64_T, MPI_SUM, group.comm);
  check(group, sum, "scan", [&](std::size_t i) { return sum_of(group, group.rank + 1, i); });
  MPI_Reduce_scatter_block(out.data(), sum.data(), n, MPI_INT64_T, MPI_SUM, group.comm);
  check(group, sum, "reduce_scatter_block", [&](std::size_t i) {
    return sum_of(group, group.size, static_cast<std::size_t>(group.rank) * count + i);
  });
}

/// Rank r sends r + 1 elements to each.
void uneven(Group& group) {
  const auto size = static_cast<std::size_t>(group.size);
  std::vector<int> out_counts(size, group.rank + 1), out_places(size), in_counts(size),
      in_places(size);
  for (std::size_t i = 0; i < size; ++i) in_counts[i] = static_cast<int>(i) + 1;
  std::exclusive_scan(out_counts.begin(), out_counts.end(), out_places.begin(), 0);
  std::exclusive_scan(in_counts.begin(), in_counts.end(), in_places.begin(), 0);
  const Values out = mine(group, size * static_cast<std::size_t>(group.rank + 1));
  Values in(size * (size + 1) / 2), expected;
  MPI_Alltoallv(out.data(), out_counts.data(), out_places.data(), MPI_INT64_T, in.data(),
                in_counts.data(), in_places.data(), MPI_INT64_T, group.comm);
  for (std::size_t source = 0; source < size; ++source) {
    for (std::size_t i = 0; i <= source; ++i) {
      expected.push_back(value(group, static_cast<int>(source),
                               static_cast<std::size_t>(group.rank) * (source + 1) + i));
    }
  }
  check(group, in, "alltoallv", [&](std::size_t i) { return expected[i]; });
}

/// Several at once, completed together.
void non_blocking(Group& group, std::size_t count) {
  const auto n = static_cast<int>(count);
  const Values out = mine(group, count);
  Values sum(count), gathered(count * static_cast<std::size_t>(group.size));
  Values cast = group.rank == 0 ? out : Values(count);
  MPI_Request requests[4];
  MPI_Iallreduce(out.data(), sum.data(), n, MPI_INT64_T, MPI_SUM, group.comm, &requests[0]);
  MPI_Iallgather(out.data(), n, MPI_INT64_T, gathered.data(), n, MPI_INT64_T, group.comm,
                 &requests[1]);
  MPI_Ibcast(cast.data(), n, MPI_INT64_T, 0, group.comm, &requests[2]);
  MPI_Ibarrier(group.comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  check(group, sum, "iallreduce", [&](std::size_t i) { return sum_of(group, group.size, i); });
  check(group, gathered, "iallgather",
        [&](std::size_t i) { return value(group, static_cast<int>(i / count), i % count); });
  check(group, cast, "ibcast", [&](std::size_t i) { return value(group, 0, i); });
}

void round(Proof& proof, MPI_Comm comm, e2e::Chance& chance) {
  Group group{proof, comm, 0, 1, static_cast<std::int64_t>(proof.round())};
  MPI_Comm_rank(comm, &group.rank);
  MPI_Comm_size(comm, &group.size);
  const std::size_t count = 1 + chance.below(proof.options().bytes_max / 64 + 1);
  one_to_all(group, count);
  all_to_one(group, count);
  all_to_all(group, count);
  uneven(group);
  non_blocking(group, count);
  MPI_Barrier(comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "collectives");
    e2e::Chance chance(proof.options().seed);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, proof.rank() % 2, proof.rank(), &half);
    while (proof.next_round()) {
      round(proof, MPI_COMM_WORLD, chance);
      round(proof, half, chance);
    }
    MPI_Comm_free(&half);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
