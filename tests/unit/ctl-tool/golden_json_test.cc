// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/golden_json_test.cc -- the document of every command, byte for byte except
// for what differs from run to run.
#include <nlohmann/json.hpp>
#include <regex>

#include "golden.h"
#include "node_of_children.h"

using namespace livebtl::test;

namespace {

/// Ids, times, this machine's name and paths are masked.
std::string masked(std::string text) {
  const std::pair<const char*, const char*> masks[] = {
      {R"(0x[0-9a-f]{2,})", "0xID"},
      {R"re("(milliseconds|pid|left_ms|incarnation|user|list_size|version|tid|ts|dur)":("[^"]*"|[0-9.e+-]+))re",
       "\"$1\":0"},
      {R"re("(host|node|directory|process)":"[^"]*")re", "\"$1\":\"\""},
      {R"re("relays":\[("[^"]*",?)*\])re", "\"relays\":[]"},
      {R"(/tmp/[A-Za-z0-9._-]*)", "/TMP"},
      {R"((rank [01] on )[^",;: ]+)", "$1HOST"},
      {R"re("(unix_ms|began_unix_ms)":[0-9]+)re", "\"$1\":0"},
      {R"re("((ordered|finished)_by":"|name":"node )[^ "]+( on [^,"]+)?)re", "\"$1WHO"},
      {R"re("slow":\[[^\]]*\])re", "\"slow\":[]"},
      {R"re("waited_for":"[^"]*")re", "\"waited_for\":\"\""},
      {R"(for [0-9]+ s more)", "for N s more"},
      {R"( incarnation [0-9]+)", " incarnation N"},
      {R"((no node 'nowhere' in this job; it has: )[^"]*)", "$1HOST"}};
  for (const auto& [pattern, with] : masks)
    text = std::regex_replace(text, std::regex(pattern), with);
  return text;
}

/// What doctor finds and its exit code depend on this machine; of the settings, the first will
/// do. Both documents are too long for std::regex, which recurses once per character.
std::string shortened(int code, const std::string& out) {
  std::string number = std::to_string(code);
  nlohmann::json document = nlohmann::json::parse(out, nullptr, false);
  if (!document.is_object()) return number + " " + out;
  const std::string schema = document.value("schema", "");
  if (schema == "livebtl.doctor/1") {
    document["facts"] = document["findings"] = nlohmann::json::array();
    document["exit_code"] = document["reason"] = number = "MASKED";
  }
  if (schema == "livebtl.settings/1")
    document["settings"] = nlohmann::json::array({document["settings"][0]});
  return number + " " + document.dump() + "\n";
}

}  // namespace

TEST_CASE("each command answers with the document that golden/documents.txt has") {
  Node node;
  Scratch files;
  const auto one = node.member(0, "job", 1);
  const auto answer = [&](std::vector<std::string> words) {
    for (std::string& word : words) {
      if (const auto at = word.find('@'); at != std::string::npos) word.replace(at, 1, files / "");
    }
    words.insert(words.begin(), "--json");
    const Answer said = node.btlctl(words);
    return masked(shortened(said.code, said.out.empty() ? "\n" : said.out));
  };
  check_golden(LIVEBTL_SOURCE_DIR "/tests/unit/ctl-tool/golden/documents.txt", answer);
}
