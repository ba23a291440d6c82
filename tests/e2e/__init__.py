# SPDX-License-Identifier: BSD-3-Clause
"""The end-to-end scenarios: real MPI jobs, switched while they run, judged by their proofs. One module per topic."""
