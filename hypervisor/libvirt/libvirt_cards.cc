// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/libvirt_cards.cc -- the part of libvirt_vm.h on a domain's devices, by alias.
// Run by btlctl's one thread; libvirt's event loop tells when a device is gone.
#include <functional>
#include <memory>
#include <optional>

#include "hypervisor/libvirt/domain_xml.h"
#include "hypervisor/libvirt/libvirt_vm.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kCardLookEvery =
    500 * kMillisecond;  // events are missed while there is no connection
constexpr TimeNs kUntilHeard = 50 * kMillisecond;
constexpr TimeNs kSubscribingMax = 3 * kSecond;  // it is cheaper to go without events

std::string card_note(const std::string& id) { return "livebtl-" + id; }

/// What libvirt has said about one card. Shared with its event loop.
struct Removal {
  explicit Removal(std::string card) : id(std::move(card)) {}
  const std::string id;
  std::atomic<bool> removed{false}, refused{false};
};
using SharedRemoval = std::shared_ptr<Removal>;

void on_removed(virConnectPtr, virDomainPtr, const char* alias, void* removal) {
  Removal& card = **static_cast<SharedRemoval*>(removal);
  if (card.id == alias) card.removed.store(true);
}
void on_refused(virConnectPtr, virDomainPtr, const char* alias, void* removal) {
  Removal& card = **static_cast<SharedRemoval*>(removal);
  if (card.id == alias) card.refused.store(true);
}
void forget_removal(void* removal) { delete static_cast<SharedRemoval*>(removal); }

/// Subscribes to both events of a card. Made and destroyed in the thread of a PendingCall: both ask
/// libvirt's daemon, and take as long as it likes.
class Subscription {
 public:
  Subscription(std::shared_ptr<Connection> connection, const SharedRemoval& card)
      : connection_(std::move(connection)),
        removed_(subscribe(card, VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED,
                           VIR_DOMAIN_EVENT_CALLBACK(on_removed))),
        refused_(subscribe(card, VIR_DOMAIN_EVENT_ID_DEVICE_REMOVAL_FAILED,
                           VIR_DOMAIN_EVENT_CALLBACK(on_refused))) {}
  ~Subscription() {
    for (const int number : {removed_, refused_}) {
      if (number >= 0) (void)connection_->calls().event_unsubscribe(connection_->get(), number);
    }
  }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

 private:
  int subscribe(const SharedRemoval& card, int event,
                virConnectDomainEventGenericCallback callback) {
    auto* const shared = new SharedRemoval(card);  // freed by libvirt with forget_removal
    const int number = connection_->calls().event_subscribe(connection_->get(), nullptr, event,
                                                            callback, shared, forget_removal);
    if (number < 0) delete shared;
    return number;
  }

  std::shared_ptr<Connection> connection_;
  int removed_, refused_;
};

/// Hears of a card for as long as this lives, once begin() has subscribed.
class Watch {
 public:
  explicit Watch(const std::string& id)
      : card_(std::make_shared<Removal>(id)), place_(std::make_shared<Place>()) {}
  /// A subscription that comes too late ends in the thread that asked for it.
  ~Watch() {
    const PendingCall ends([place = std::move(place_)]() mutable -> Status {
      place.reset();
      return {};
    });
    (void)ends.wait({monotonic_now() + kSubscribingMax, nullptr}, "end its events");
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// For the thread of a PendingCall.
  std::function<Status(const Connection&)> begin(std::shared_ptr<Connection> connection) const {
    return [card = card_, place = place_, connection = std::move(connection)](const Connection&) {
      place->subscription.emplace(connection, card);
      return Status();
    };
  }
  bool removed() const { return card_->removed.load(); }
  bool refused() const { return card_->refused.load(); }
  /// Waits for an event, which makes a look worthwhile; without one, the caller looks now and then.
  void wait(const Deadline& deadline) const {
    while (monotonic_now() < deadline.at && !removed() && !refused()) pause(kUntilHeard, deadline);
  }

 private:
  struct Place {
    std::optional<Subscription> subscription;
  };
  SharedRemoval card_;
  std::shared_ptr<Place> place_;
};

/// QEMU, whose words libvirt passes on, refuses a second request while the first is pending.
bool says_busy(const Error& error) { return error.text.find("guest is busy") != std::string::npos; }
bool is_pending(const Error& error) {
  return says_busy(error) || error.text.find("in the process of unplug") != std::string::npos;
}

}  // namespace

/// null if nothing is noted.
Result<Json> LibvirtVm::noted_card(const std::string& id, const Deadline& deadline) {
  const auto note = read_note(card_note(id), deadline);
  if (!note) return tl::unexpected(note.error());
  auto arguments = read_card_arguments(*note);
  return arguments && text_member(*arguments, "id") == id ? std::move(*arguments) : Json();
}

/// If the domain has moved, the destination knows its cards: the notes went along with it.
Result<Card> LibvirtVm::find_card(const std::string& id, const Json& given, const char* hint,
                                  const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  const auto moved = has_moved(*seen, deadline);
  if (!moved) return tl::unexpected(moved.error());
  if (*moved && there_ != nullptr) {
    auto card = there_->find_card(id, given, hint, deadline);
    if (card) card->present = false;
    return card;
  }
  auto card = find_here(id, given, deadline);
  if (!card || !card->arguments.is_null()) return card;
  return fail(Errc::kNotFound, "the domain " + name_ + " has no device with the alias '" + id +
                                   "', nor was it detached by an earlier call; virsh dumpxml " +
                                   name_ + " shows its aliases" + hint);
}

/// The card's arguments are null if they are not known.
Result<Card> LibvirtVm::find_here(const std::string& id, const Json& given,
                                  const Deadline& deadline) {
  const auto text = xml(deadline);
  if (!text) return tl::unexpected(text.error());
  auto found = find_device(*text, id);
  if (!found) return tl::unexpected(found.error());
  Card card{id, found->has_value(), given};
  if (given.is_null() && *found) card.arguments = std::move(**found);
  if (given.is_null() && !card.present) {
    auto noted = noted_card(id, deadline);
    if (!noted) return tl::unexpected(noted.error());
    card.arguments = std::move(*noted);
  }
  if (card.present || card.arguments.is_null()) return card;
  const auto again = has_device(*text, card);  // under another alias
  if (!again) return tl::unexpected(again.error());
  card.present = *again;
  return card;
}

Result<bool> LibvirtVm::is_plugged(const Card& card, const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  if (!seen->active) return false;
  const auto text = xml(deadline);
  if (!text) return tl::unexpected(text.error());
  return has_device(*text, card);
}

Result<bool> LibvirtVm::was_pulled(const Card& card, const Deadline& deadline) {
  return noted_card(card.id, deadline).map([](const Json& note) { return !note.is_null(); });
}

Status LibvirtVm::forget_card(const Card& card, const Deadline& deadline) {
  return drop_note(card_note(card.id), deadline);
}

Status LibvirtVm::detach(const Card& card, const Deadline& deadline) {
  return on_domain(
      [alias = card.id](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        if (calls.detach(domain, alias.c_str(), VIR_DOMAIN_AFFECT_LIVE) == 0) return {};
        return tl::unexpected(libvirt_error(calls, "detach " + alias));
      },
      "detach " + card.id, deadline);
}

/// After a refusal the card stays, and needs no note.
Status LibvirtVm::stays(const Card& card, Error why, const Deadline& deadline) {
  (void)forget_card(card, deadline);
  return tl::unexpected(std::move(why));
}

Status LibvirtVm::pull_card(const Card& card, const Deadline& deadline) {
  auto opened = connection(deadline);
  if (!opened) return tl::unexpected(opened.error());
  const Watch watch(card.id);
  (void)on_connection(watch.begin(std::move(*opened)), "subscribe to events of " + card.id,
                      deadline.at_most(kSubscribingMax));
  if (auto kept = keep_note(card_note(card.id), card.arguments.dump(), deadline); !kept)
    return kept;
  Status asked = detach(card, deadline);
  if (!asked && asked.error().code == Errc::kRefused && !is_pending(asked.error()))
    return stays(card, asked.error(), deadline);
  for (;;) {
    const auto plugged = is_plugged(card, deadline);
    if (plugged && !*plugged) return {};
    if (watch.refused())
      return stays(card, {Errc::kRefused, "the guest refuses to give up " + card.id}, deadline);
    if (monotonic_now() >= deadline.at || deadline.stopped()) break;
    if (!plugged && plugged.error().code != Errc::kDown) return tl::unexpected(plugged.error());
    watch.wait(deadline.at_most(kCardLookEvery));
    if (!asked && says_busy(asked.error())) asked = detach(card, deadline);
  }
  return fail(Errc::kTimeout,
              "the guest has not given up " + card.id +
                  " in time; see in it what holds the device: btlctl status, ls -l /proc/*/fd; "
                  "libvirt's request stays open, so attach it by hand if it goes later");
}

Status LibvirtVm::plug_card(const Card& card, const Deadline& deadline) {
  const auto plugged = is_plugged(card, deadline);
  if (!plugged) return tl::unexpected(plugged.error());
  if (!*plugged) {
    const auto device = device_xml(card);
    if (!device) return tl::unexpected(device.error());
    Status attached = on_domain(
        [device = *device, id = card.id](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
          if (calls.attach(domain, device.c_str(), VIR_DOMAIN_AFFECT_LIVE) == 0) return {};
          return tl::unexpected(libvirt_error(calls, "attach " + id));
        },
        "attach " + card.id, deadline);
    if (!attached) return attached;
  }
  return forget_card(card, deadline);
}

}  // namespace livebtl::hypervisor
