// SPDX-License-Identifier: BSD-3-Clause
// control/place/fork_watch.h -- what must not live on in a forked child: locks that say "this member is
// alive", and ZeroMQ, which a child may not even close.
//
// A child that does not exec keeps copies of our descriptors; those listed here are closed in it at
// once. Threads: any.
#pragma once

namespace livebtl::control {

/// At most 64 at a time; the registration of a closed descriptor must be forgotten first.
void close_in_child(int fd) noexcept;
void forget_in_child(int fd) noexcept;

/// This process is a child of one that had called close_in_child(), and no member. True also in a child of a
/// bare clone(), which runs no handlers and keeps the descriptors.
bool in_forked_child() noexcept;

}  // namespace livebtl::control
