// SPDX-License-Identifier: BSD-3-Clause
// Which device, port and address is used, and what is reported if none can be.
#include "tests/unit/says.h"
#include "transports/verbs/verbs_ports.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "tests/fake_verbs/fabric.h"

using namespace livebtl;
using namespace livebtl::verbs;
using fake_verbs::gid;
using livebtl::test::says;

namespace {

struct Lone {
  fake_verbs::Fabric fabric;
  fake_verbs::Machine machine{fabric};
  fake_verbs::Adapter& add(const std::string& name = "fake0") {
    return machine.add(name, {gid("::ffff:10.0.1.1")});
  }
  OpenPort opened(const Wish& wish = {}) {
    auto port = open_port(machine, wish);
    REQUIRE_MESSAGE(port.has_value(), (port ? "" : port.error().text));
    machine.close_device(port->context);
    return *port;
  }
  std::string refused(const Wish& wish = {}, Errc code = Errc::kUnreachable) {
    auto port = open_port(machine, wish);
    REQUIRE(!port.has_value());
    CHECK(port.error().code == code);
    CHECK(fabric.alive() == 0);
    return port.error().text;
  }
};

ibv_gid_entry entry(std::uint32_t index, const std::string& text, std::uint32_t type,
                    std::uint32_t network_device = 7) {
  ibv_gid_entry made{};
  const Gid bytes = gid(text);
  std::memcpy(made.gid.raw, bytes.data(), bytes.size());
  made.gid_index = index;
  made.gid_type = type;
  made.ndev_ifindex = network_device;
  return made;
}

}  // namespace

TEST_CASE("RoCEv2 goes before v1, IPv4 before global IPv6 before link-local") {
  const auto v2 = IBV_GID_TYPE_ROCE_V2, v1 = IBV_GID_TYPE_ROCE_V1;
  std::vector<ibv_gid_entry> table{
      entry(0, "fe80::1", v1),         entry(1, "fe80::1", v2),
      entry(2, "::ffff:10.0.1.1", v1), entry(3, "::ffff:172.16.0.1", v2, 9),  // of a VLAN
      entry(4, "fd00::5", v2),         entry(5, "::ffff:10.0.1.1", v2),
      entry(6, "::ffff:10.0.2.1", v2)};
  for (const std::uint32_t expected : {5u, 6u, 4u, 1u, 2u, 0u}) {
    const auto chosen = choose_gid(table);
    REQUIRE(chosen.has_value());
    CHECK(chosen->gid_index == expected);
    if (expected == 0) break;
    std::erase_if(table, [&](const auto& each) { return each.gid_index == expected; });
  }
  CHECK(!choose_gid({}).has_value());
}

TEST_CASE("the first port that can be used is taken, or the one that is named") {
  Lone lone;
  lone.add("fake0").port_state = IBV_PORT_DOWN;
  lone.add("fake1");
  lone.add("fake2");
  CHECK(lone.opened().device == "fake1");
  CHECK(lone.opened({"fake2", 1, 0}).device == "fake2");
  CHECK(says(lone.refused({"fake0"}), "is the cable in"));
  CHECK(says(lone.refused({"fake9"}, Errc::kNotFound), "fake0, fake1, fake2"));
  CHECK(says(lone.refused({"fake1", 1, 5}), "no address"));
}

TEST_CASE("without a device, the right to it, its file or an active port the reason is given") {
  Lone lone;
  CHECK(says(lone.refused(), "no RDMA device"));
  fake_verbs::Adapter& adapter = lone.add();
  adapter.open_error = EACCES;
  CHECK(says(lone.refused({}, Errc::kAuth), "/dev/infiniband/uverbs0 (on many systems"));
  adapter.open_error = ENOENT;
  CHECK(says(lone.refused({}, Errc::kSystem), "ib_uverbs"));
  adapter.open_error = 0;
  adapter.port_state = IBV_PORT_INIT;
  CHECK(says(lone.refused(), "subnet manager"));
  adapter.port_state = IBV_PORT_ACTIVE;
  adapter.gids.clear();
  CHECK(says(lone.refused(), "no address"));
  adapter.device.transport_type = IBV_TRANSPORT_IWARP;
  CHECK(says(lone.refused({}, Errc::kUnsupported), "iWARP"));
}

TEST_CASE("an InfiniBand port's address has its LID; a RoCE port's has none") {
  Lone lone;
  fake_verbs::Adapter& adapter = lone.add();
  adapter.lid = 12;
  CHECK(lone.opened().state.address == PortAddress{Fabric::kRoceV2, 0, gid("::ffff:10.0.1.1")});
  adapter.gids[0].type = IBV_GID_TYPE_ROCE_V1;
  CHECK(lone.opened().state.address.fabric == Fabric::kRoceV1);
  adapter.link_layer = IBV_LINK_LAYER_INFINIBAND;
  adapter.gids[0] = {gid("fe80::2:1"), IBV_GID_TYPE_IB, 0};
  CHECK(lone.opened().state.address == PortAddress{Fabric::kInfiniBand, 12, gid("fe80::2:1")});
  CHECK(!lone.opened().state.global_route);
  adapter.grh_required = true;
  CHECK(lone.opened().state.global_route);
  adapter.lid = 0;  // active, but no subnet manager has seen it
  CHECK(says(lone.refused(), "no LID yet"));
}
