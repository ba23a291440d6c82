// SPDX-License-Identifier: BSD-3-Clause
// provider/poll.cc -- poll sets: which of these queues and counters have something to read?
#include <algorithm>
#include <vector>

#include "provider/domain.h"
#include "provider/provider.h"
#include "provider/wait.h"

namespace livebtl::fi {
namespace {

struct PollSet final : fid_poll {
  PollSet(Domain& owner) noexcept : fid_poll{}, domain(owner) {}
  Domain& domain;
  std::vector<Waitable*> members;
};

PollSet& poll_set_of(fid_poll* set) noexcept { return *static_cast<PollSet*>(set); }

int close_poll_set(fid_t object) {
  PollSet* const set = &poll_set_of(reinterpret_cast<fid_poll*>(object));
  set->domain.drop();
  delete set;
  return 0;
}

int poll_members(fid_poll* set, void** contexts, int count) {
  int found = 0;
  for (Waitable* member : poll_set_of(set).members) {
    if (!member->ready()) continue;
    if (found == count) break;
    contexts[found++] = member->user_context();
  }
  return found;
}

int add_member(fid_poll* set, fid* object, uint64_t flags) {
  Waitable* const member = waitable_of(object);
  if (!member || flags != 0) return -FI_EINVAL;
  return guarded([&] {
    poll_set_of(set).members.push_back(member);
    return 0;
  });
}

int remove_member(fid_poll* set, fid* object, uint64_t) {
  auto& members = poll_set_of(set).members;
  members.erase(std::remove(members.begin(), members.end(), waitable_of(object)), members.end());
  return 0;
}

fi_ops poll_fid_ops = {sizeof(fi_ops), close_poll_set, nosys, nosys, nosys, nosys, nosys};
fi_ops_poll poll_ops = {sizeof(fi_ops_poll), poll_members, add_member, remove_member};

}  // namespace

int open_poll_set(fid_domain* domain, fi_poll_attr* attr, fid_poll** set) {
  if (attr && attr->flags != 0) return -FI_EINVAL;
  return guarded([&] {
    Domain& owner = Domain::of(domain);
    auto* const made = new PollSet(owner);
    made->fid.fclass = FI_CLASS_POLL;
    made->fid.ops = &poll_fid_ops;
    made->ops = &poll_ops;
    owner.keep();
    *set = made;
    return 0;
  });
}

}  // namespace livebtl::fi
