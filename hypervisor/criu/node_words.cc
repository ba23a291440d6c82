// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_words.cc -- see node_words.h.
#include "hypervisor/criu/node_words.h"

#include <sstream>

#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kNodeSchema = "livebtl.node/1";
constexpr std::string_view kPlace = "{node}";
constexpr std::uint64_t kSecondsMax = std::uint64_t{1} << 32;
constexpr std::uint64_t kExitCodeMax = 130;

std::string one_document(const Json& document) {
  return document.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json parse_line(std::string_view line) {
  return line.size() > kNodeLineBytesMax ? Json(Json::value_t::discarded) : parse_bounded(line);
}

bool read_file(const Json& document, const std::string& node, SavedMachine& file) {
  const auto bytes = number_member(document, "bytes");
  const auto crc32c = number_member(document, "crc32c");
  if (!bytes || !crc32c || *crc32c > UINT32_MAX) return false;
  file = {node, *bytes, {}, static_cast<std::uint32_t>(*crc32c)};
  return true;
}

bool read_times(const Json& document, NodeOrder& order) {
  const auto lease = number_member(document, "lease_left_s");
  const auto timeout = number_member(document, "timeout_s");
  if (!lease || !timeout || *lease > kSecondsMax || *timeout > kSecondsMax) return false;
  order.lease_left_s = static_cast<std::int64_t>(*lease);
  order.timeout_s = static_cast<std::int64_t>(*timeout);
  return true;
}

bool read_connections(const Json& document, std::vector<TcpConnection>& connections) {
  const Json* list = member(document, "connections", Json::value_t::array);
  if (list == nullptr || list->size() > kConnectionsMax) return false;
  for (const Json& each : *list) {
    TcpConnection one{text_member(each, "local"), text_member(each, "remote"),
                      one_line(text_member(each, "owner")), 0};
    if (one.local.empty() || one.remote.empty()) return false;
    connections.push_back(std::move(one));
  }
  return true;
}

/// "", or addresses with ports, separated by commas: it becomes an argument of btlctl.
bool well_formed_relay(const std::string& relay) {
  return relay.size() <= kRelayBytesMax &&
         relay.find_first_not_of("0123456789abcdefABCDEF.:,[]") == std::string::npos;
}

Json listed(const std::vector<NewAddress>& addresses) {
  Json list = Json::array();
  for (const NewAddress& each : addresses) list.push_back(to_text(each));
  return list;
}

bool read_addresses(const Json& document, std::vector<NewAddress>& addresses) {
  const Json* list = member(document, "addresses", Json::value_t::array);
  if (list == nullptr) return true;
  for (const Json& each : *list) {
    auto address = parse_new_address(each.is_string() ? each.get<std::string>() : "");
    if (!address) return false;
    addresses.push_back(*address);
  }
  return check_new_addresses(addresses).has_value();
}

}  // namespace

std::string order_line(const NodeOrder& order) {
  return one_document({{"schema", kNodeSchema},
                       {"verb", order.dumps ? "dump" : "restore"},
                       {"goes_on", order.goes_on},
                       {"directory", order.directory},
                       {"node", order.node},
                       {"job", order.job},
                       {"hold", order.hold},
                       {"lease_left_s", order.lease_left_s},
                       {"timeout_s", order.timeout_s},
                       {"members", order.members},
                       {"bytes", order.file.bytes},
                       {"crc32c", order.file.crc32c},
                       {"addresses", listed(order.addresses)}});
}

Result<NodeOrder> read_node_order(std::string_view line) {
  const auto no = [](const char* what) {
    return fail(Errc::kCorrupt,
                std::string("what is to be done was not understood: ") + what +
                    "; this command is given by btlctl checkpoint run and restore, whose version "
                    "has to be this one");
  };
  const Json document = parse_line(line);
  if (text_member(document, "schema") != kNodeSchema) return no("its schema");
  NodeOrder order;
  const std::string verb = text_member(document, "verb");
  order.dumps = verb == "dump";
  if (!order.dumps && verb != "restore") return no("'verb'");
  order.goes_on = is_true(document, "goes_on");
  order.directory = text_member(document, "directory");
  order.node = text_member(document, "node");
  order.job = text_member(document, "job");
  order.hold = text_member(document, "hold");
  if (!order.directory.starts_with('/')) return no("'directory'");
  if (!well_formed_machine(order.node)) return no("'node'");
  if (!well_formed_hold(order.hold)) return no("'hold'");
  if (!read_times(document, order)) return no("its times");
  order.members = number_member(document, "members").value_or(0);
  if (!read_file(document, order.node, order.file)) return no("its file");
  if (!read_addresses(document, order.addresses)) return no("'addresses'");
  return order;
}

std::string answer_line(const NodeAnswer& answer) {
  Json connections = Json::array();
  for (const TcpConnection& each : answer.connections)
    connections.push_back({{"local", each.local}, {"remote", each.remote}, {"owner", each.owner}});
  Json document = {{"schema", kNodeSchema},
                   {"exit_code", answer.code},
                   {"text", answer.text},
                   {"members", answer.members},
                   {"bytes", answer.file.bytes},
                   {"crc32c", answer.file.crc32c},
                   {"connections", std::move(connections)},
                   {"job", answer.job},
                   {"relay", answer.relay}};
  if (answer.owner) document["owner"] = *answer.owner;
  return one_document(document);
}

Result<NodeAnswer> read_node_answer(std::string_view line) {
  const auto no = [line] {
    return fail(Errc::kCorrupt, "its answer is not that of a btlctl of this version: " +
                                    one_line(line.substr(0, kNodeLineBytesMax)));
  };
  const Json document = parse_line(line);
  const auto code = number_member(document, "exit_code");
  if (text_member(document, "schema") != kNodeSchema || !code || *code > kExitCodeMax) return no();
  NodeAnswer answer{.code = static_cast<int>(*code),
                    .text = one_line(text_member(document, "text"))};
  answer.members = number_member(document, "members").value_or(0);
  if (!read_file(document, "", answer.file)) return no();
  if (!read_connections(document, answer.connections)) return no();
  answer.job = one_line(text_member(document, "job"));
  answer.relay = text_member(document, "relay");
  if (!well_formed_relay(answer.relay)) return no();
  const auto owner = number_member(document, "owner");
  if (owner && *owner >= UINT32_MAX) return no();
  if (owner) answer.owner = static_cast<uid_t>(*owner);
  return answer;
}

std::vector<std::string> words_for_node(const std::string& command, const std::string& node) {
  std::vector<std::string> words;
  std::istringstream parts(command);
  for (std::string word; parts >> word;) {
    for (auto at = word.find(kPlace); at != std::string::npos; at = word.find(kPlace, at)) {
      word.replace(at, kPlace.size(), node);
      at += node.size();
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace livebtl::hypervisor
