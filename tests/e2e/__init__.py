# SPDX-License-Identifier: BSD-3-Clause
"""The end-to-end scenarios: real MPI jobs, switched while they run, and judged by what they prove. A module is a topic."""
