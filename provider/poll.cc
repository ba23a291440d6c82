// SPDX-License-Identifier: BSD-3-Clause
// provider/poll.cc -- poll sets: which of these queues and counters have something to read?
#include <vector>

#include "provider/domain.h"
#include "provider/provider.h"
#include "provider/wait.h"

namespace livebtl::fi {
namespace {

class PollSet final : public Object<PollSet, fid_poll> {
 public:
  explicit PollSet(Domain& owner) noexcept;
  ~PollSet() { domain.drop(); }

  Domain& domain;
  std::vector<fid_t> members;
};

int poll_members(fid_poll* set, void** contexts, int count) {
  int found = 0;
  for (const fid_t member : PollSet::of(set).members) {
    if (!waitable_of(member)->ready()) continue;
    if (found == count) break;
    contexts[found++] = member->context;
  }
  return found;
}

int add_member(fid_poll* set, fid* object, uint64_t flags) {
  if (!waitable_of(object) || flags != 0) return -FI_EINVAL;
  return guarded([&] {
    PollSet::of(set).members.push_back(object);
    return 0;
  });
}

int remove_member(fid_poll* set, fid* object, uint64_t) {
  std::erase(PollSet::of(set).members, object);
  return 0;
}

fi_ops poll_fid_ops = {sizeof(fi_ops), close_object<PollSet>, nosys, nosys, nosys, nosys, nosys};
fi_ops_poll poll_ops = {sizeof(fi_ops_poll), poll_members, add_member, remove_member};

PollSet::PollSet(Domain& owner) noexcept
    : Object(FI_CLASS_POLL, poll_fid_ops, nullptr), domain(owner) {
  ops = &poll_ops;
  domain.keep();
}

}  // namespace

int open_poll_set(fid_domain* domain, fi_poll_attr* attr, fid_poll** set) {
  if (attr && attr->flags != 0) return -FI_EINVAL;
  return guarded([&] {
    *set = new PollSet(Domain::of(domain));
    return 0;
  });
}

}  // namespace livebtl::fi
