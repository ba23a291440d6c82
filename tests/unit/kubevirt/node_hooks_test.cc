// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/kubevirt/node_hooks_test.cc -- the server, called as virt-handler does, by a client
// made from the interface definition; btlctl and the guest's agent are played.
#include <doctest/doctest.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

#include "kubevirt/node_hook_service.h"
#include "tests/unit/hypervisor/fake_machine.h"

using namespace livebtl;
using namespace livebtl::kubevirt;

namespace {

/// Records its words; `answer.prepare` and `answer.return` say how long it takes, its code, and
/// more of its document. With `gone`, nobody answers at the relay: each call takes all of its time.
constexpr const char* kPlayedBtlctl = R"SH(#!/bin/sh
cd "$(dirname "$0")" || exit 9
timeout=$(echo "$*" | sed -n 's/.*--timeout \([0-9.]*\) .*/\1/p')
[ ! -e gone ] || sleep "${timeout:-5}"
case "$*" in
*jobs) exit "$(cat jobs)" ;;
*prepare*) verb=prepare ;;
*) verb=return ;;
esac
echo "begin $*" >>calls
read -r seconds code rest <answer.$verb
sleep "$seconds"
echo "end $*" >>calls
echo "{\"exit_code\": $code, \"text\": \"played\" $rest}"
exit "$code"
)SH";

struct Node {
  std::string folder;
  std::unique_ptr<NodeHookService> service;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<interface::NodeHookService::Stub> stub;

  Node() {
    folder = std::filesystem::temp_directory_path() / "livebtl-hooks-XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    write("btlctl", kPlayedBtlctl);
    REQUIRE(::chmod((folder + "/btlctl").c_str(), 0755) == 0);
    std::filesystem::create_directory(folder + "/guests");
    write("guests/hpc_vm1", "10.0.0.1:4\n/secret\n");
    write("jobs", "0");
    answers("prepare", R"(0 0 , "released": true)");
    answers("return", "0 0");
    service = std::make_unique<NodeHookService>(
        OrderSettings{folder + "/guests", folder + "/btlctl", "btlctl"});
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder + "/socket", grpc::InsecureServerCredentials());
    builder.RegisterService(service.get());
    server = builder.BuildAndStart();
    REQUIRE(server != nullptr);
    stub = interface::NodeHookService::NewStub(
        grpc::CreateChannel("unix:" + folder + "/socket", grpc::InsecureChannelCredentials()));
  }
  ~Node() {
    server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(60));
    std::filesystem::remove_all(folder);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
  }
  void answers(const std::string& verb, const std::string& text) const {
    write("answer." + verb, text + "\n");
  }
  std::string calls() const {
    std::ifstream in(folder + "/calls");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t count(const std::string& text) const {
    const std::string all = calls();
    std::size_t found = 0;
    for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++found;
    return found;
  }
  grpc::Status call(const std::string& point, const std::string& name = "vm1",
                    int seconds = 30) const {
    return call_with(point, R"({"metadata":{"namespace":"hpc","name":")" + name + R"("}})",
                     seconds);
  }
  grpc::Status call_with(const std::string& point, const std::string& vmi, int seconds = 30) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(seconds));
    interface::ExecuteNodeHookRequest request;
    request.set_hookpoint(point);
    request.set_vmi(vmi);
    request.mutable_node_context()->set_node_name("node-1");
    interface::ExecuteNodeHookResponse response;
    return stub->ExecuteNodeHook(&context, request, &response);
  }
};

const std::string kBefore = "PreMigrationSource", kAfter = "PostMigrationTarget";

}  // namespace

TEST_CASE(
    "before a migration the guest's job lets go, after it it returns; repeated, nothing fails") {
  const Node node;
  for (int i = 0; i < 2; ++i) CHECK(node.call(kBefore).ok());
  for (int i = 0; i < 2; ++i) CHECK(node.call(kAfter).ok());
  CHECK(node.count("end --connect 10.0.0.1:4 --secret-file /secret --json --timeout") == 4);
  CHECK(node.count("checkpoint prepare --scope node:vm1\n") == 4);  // begun and ended, twice
  CHECK(node.count("checkpoint return --scope node:vm1\n") == 4);
}

TEST_CASE(
    "a job that does not let go is an error with its reason, and what it set aside is used again") {
  const Node node;
  node.answers("prepare", R"(0 7 , "other_holders": ["process 77"])");
  const auto status = node.call(kBefore);
  CHECK(status.error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK(status.error_message().find("code 7: played; held by process 77") != std::string::npos);
  CHECK(node.count("end --connect") == 2);
  CHECK(node.count("checkpoint return") == 2);
  CHECK(node.call(kAfter)
            .ok());  // with failureStrategy Ignore the migration goes on, and ends with this call
}

TEST_CASE("a job that was not changed is not told to return") {
  const Node node;
  node.answers("prepare", "0 5");
  CHECK(node.call(kBefore).error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK(node.count("return") == 0);
}

TEST_CASE("a busy job is asked again for as long as the hook has") {
  const Node node;
  node.answers("prepare", "0 4");
  const auto status = node.call(kBefore, "vm1", 4);
  CHECK(!status.ok());
  CHECK(node.count("begin") > 1);
}

TEST_CASE(
    "an answer that takes longer than the hook has is not waited for, and what may be done is "
    "taken back") {
  const Node node;
  node.answers("prepare", R"(60 0 , "released": true)");
  CHECK(!node.call(kBefore, "vm1", 2).ok());
  const TimeNs until = monotonic_now() + 50 * kSecond;
  while (node.count("checkpoint return") < 2 && monotonic_now() < until) ::usleep(50'000);
  CHECK(node.count("checkpoint return") == 2);  // begun and ended
  CHECK(node.count("end --connect") == 1);      // return; prepare was told to end
}

TEST_CASE("a guest without a job, and one whose job has ended, migrate") {
  const Node node;
  CHECK(node.call(kBefore, "other").ok());
  CHECK(node.calls().empty());
  node.answers("prepare", R"(0 2 , "members": 0)");
  CHECK(node.call(kBefore).ok());
  node.answers("prepare", R"(0 2 , "members": 3)");
  CHECK(!node.call(kBefore).ok());  // the job is there, but knows no such node
  node.write("jobs", "2");
  CHECK(node.call(kBefore).ok());  // nobody answers at the relay any more
}

TEST_CASE("a relay that is gone without a word is known to be so within the hook's time") {
  const Node node;
  node.write("gone", "");
  node.write("jobs", "2");
  node.answers("prepare", "0 2");
  const auto status = node.call(kBefore, "vm1", 8);
  CHECK_MESSAGE(status.ok(), status.error_message());
}

TEST_CASE("what is not understood is refused, and points that are not ours do nothing") {
  const Node node;
  for (const char* vmi : {"", "{", R"({"metadata":{"namespace":"..","name":"x"}})"})
    CHECK(node.call_with(kBefore, vmi).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(node.call("PreVMStart").ok());
  CHECK(node.call_with("", "").ok());
  CHECK(node.calls().empty());
  node.write("guests/hpc_bad", "nonsense\n");
  CHECK(node.call(kBefore, "bad").error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("calls for one guest come one after the other, those for others meanwhile") {
  const Node node;
  node.write("guests/hpc_vm2", "10.0.0.2:4\n/secret\n");
  node.answers("prepare", R"(1 0 , "released": true)");
  std::vector<std::future<grpc::Status>> calls;
  for (const char* name : {"vm1", "vm1", "vm2"})
    calls.push_back(
        std::async(std::launch::async, [&node, name] { return node.call(kBefore, name, 60); }));
  for (auto& each : calls) CHECK(each.get().ok());
  std::istringstream lines(node.calls());
  int under_way = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("10.0.0.1") == std::string::npos) continue;
    under_way += line.starts_with("begin") ? 1 : -1;
    CHECK(under_way <= 1);
  }
  CHECK(node.count("begin") == 3);
}

TEST_CASE("a guest is reached by its agent, too; one that is gone is an error") {
  const Node node;
  hypervisor::FakeMachine machine(node.folder, "guest");
  node.write("guests/hpc_vm3", "agent:" + machine.agent() + "\n");
  CHECK(node.call(kBefore, "vm3").ok());
  CHECK(node.call(kAfter, "vm3").ok());
  const auto log = machine.with([](auto& state) { return state.log; });
  CHECK(log == std::vector<std::string>{"prepare", "return"});
  node.write("guests/hpc_vm3", "agent:" + node.folder + "/nobody\n");
  CHECK(!node.call(kBefore, "vm3", 3).ok());
}
