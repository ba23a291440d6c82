# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges Python objects of many sizes with mpi4py, and checks each. usage: ring.py STOP-FILE"""
import hashlib
import os
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
stop_file = sys.argv[1]


def thing(round_number, source, target):
    length = (round_number * 7919 + source * 31 + target) % 50000
    return {"from": source, "round": round_number, "text": hashlib.sha256(b"%d" % length).hexdigest() * (length // 64)}


number = 0
while comm.bcast(not os.path.exists(stop_file) if rank == 0 else None):
    right, left = (rank + 1) % size, (rank - 1) % size
    got = comm.sendrecv(thing(number, rank, right), dest=right, source=left)
    assert got == thing(number, left, rank), f"round {number}: wrong object from {left}"
    everything = comm.alltoall([thing(number, rank, target) for target in range(size)])
    assert everything == [thing(number, source, rank) for source in range(size)], f"round {number}: alltoall"
    assert comm.allreduce(rank + number) == sum(range(size)) + number * size
    number += 1
print(f"ok {number} rounds", flush=True)
