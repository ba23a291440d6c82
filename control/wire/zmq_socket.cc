// SPDX-License-Identifier: BSD-3-Clause
// control/wire/zmq_socket.cc -- see zmq_socket.h. Exceptions of cppzmq end here.
#include "control/wire/zmq_socket.h"

#include <unistd.h>

#include <array>
#include <string_view>
#include <vector>

#include "control/wire/messages.h"
#include "control/wire/route.h"

namespace livebtl::control {
namespace {

constexpr int kLingerMs = 50;
constexpr int kQueueEnvelopes = 1000;
constexpr int kHandshakeMs = 3000;
constexpr int kUnacknowledgedMs = 5000;
constexpr int kBacklog = 1024;
constexpr std::size_t kKeyTextBytes = 41;  // Z85 of 32 bytes, and a zero
constexpr std::size_t kKeyBytes = 32;
constexpr std::string_view kZapDomain = "livebtl";
constexpr std::int64_t kFrameBytesMax = kMessageBytesMax + kBackBytesMax;

Error zmq_error(const std::string& what, const zmq::error_t& error) {
  return {Errc::kSystem, what + ": " + error.what()};
}

using KeyText = std::array<char, kKeyTextBytes>;
struct KeyPair {
  KeyText own;
  KeyText shown;
};

/// Each side's long-term key is made from the job secret: a process that has it belongs to the job.
KeyPair make_keys(const Secret& secret, std::string_view purpose) {
  KeyPair keys{};
  const auto bytes = secret.derive(purpose);
  ::zmq_z85_encode(keys.own.data(), reinterpret_cast<const std::uint8_t*>(bytes.data()),
                   bytes.size());
  ::zmq_curve_public(keys.shown.data(), keys.own.data());
  return keys;
}
KeyPair relay_keys(const Secret& secret) { return make_keys(secret, "control relay"); }
KeyPair client_keys(const Secret& secret) { return make_keys(secret, "control client"); }

void set_common(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, kLingerMs);
  socket.set(zmq::sockopt::sndhwm, kQueueEnvelopes);
  socket.set(zmq::sockopt::rcvhwm, kQueueEnvelopes);
  socket.set(zmq::sockopt::maxmsgsize, kFrameBytesMax);
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket.set(zmq::sockopt::ipv6, true);
  // Between machines restored from snapshots of different moments, a connection looks alive
  // forever, but acknowledges nothing.
  socket.set(zmq::sockopt::tcp_maxrt, kUnacknowledgedMs);
}

/// On a node the directory's mode 0700 keeps others out; this check comes on top of it.
void admit_own_user_and_root(zmq::socket_t& socket) {
  for (const uid_t user : {::geteuid(), uid_t{0}}) {
    if (::zmq_setsockopt(socket.handle(), ZMQ_IPC_FILTER_UID, &user, sizeof user) != 0) {
      throw zmq::error_t();
    }
  }
}

void protect_listener(zmq::socket_t& socket, const Secret& secret) {
  if (!secret.present()) return;
  const KeyPair keys = relay_keys(secret);
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, keys.own.data());
  socket.set(zmq::sockopt::zap_domain, kZapDomain);
}

void protect_caller(zmq::socket_t& socket, const Secret& secret) {
  if (!secret.present()) return;
  const KeyPair keys = client_keys(secret);
  socket.set(zmq::sockopt::curve_secretkey, keys.own.data());
  socket.set(zmq::sockopt::curve_publickey, keys.shown.data());
  socket.set(zmq::sockopt::curve_serverkey, relay_keys(secret).shown.data());
}

/// All frames of the next message; empty: there is none. Of too many, the first frames_max + 1 are
/// returned, which no reader takes for an envelope; the rest are read and dropped.
std::vector<std::string> receive_frames(zmq::socket_t& socket, std::size_t frames_max) {
  std::vector<std::string> frames;
  for (bool more = true; more;) {
    zmq::message_t frame;
    if (!socket.recv(frame, zmq::recv_flags::dontwait)) return {};
    more = frame.more();
    if (frames.size() <= frames_max) frames.push_back(frame.to_string());
  }
  return frames;
}

bool send_frames(zmq::socket_t& socket, const std::vector<std::string_view>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool last = i + 1 == frames.size();
    const auto flags =
        zmq::send_flags::dontwait | (last ? zmq::send_flags::none : zmq::send_flags::sndmore);
    if (!socket.send(zmq::buffer(frames[i]), flags)) return false;
  }
  return true;
}

/// -1, which poll() skips, if ZeroMQ does not tell.
int descriptor_of(const zmq::socket_t& socket) try {
  return socket.get(zmq::sockopt::fd);
} catch (const zmq::error_t&) {
  return -1;
}

bool readable(const zmq::socket_t& socket) try {
  return (socket.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0;
} catch (const zmq::error_t&) {
  return false;
}

}  // namespace

Result<zmq::context_t> make_zmq_context(int sockets_max) try {
  return zmq::context_t(1, sockets_max);
} catch (const zmq::error_t& error) {
  return tl::unexpected(zmq_error("cannot start ZeroMQ", error));
}

Result<ZmqSocket> ZmqSocket::listen(zmq::context_t& context, const std::string& endpoint,
                                    const Secret& secret) try {
  zmq::socket_t socket(context, zmq::socket_type::router);
  set_common(socket);
  socket.set(zmq::sockopt::router_mandatory, true);  // so that an answer to nobody is noticed
  socket.set(zmq::sockopt::backlog, kBacklog);
  if (endpoint.starts_with("ipc:")) admit_own_user_and_root(socket);
  protect_listener(socket, secret);
  socket.bind(endpoint);
  return ZmqSocket(std::move(socket), true);
} catch (const zmq::error_t& error) {
  return tl::unexpected(zmq_error("cannot listen on " + endpoint, error));
}

Result<ZmqSocket> ZmqSocket::caller(zmq::context_t& context, const Secret& secret) try {
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  set_common(socket);
  protect_caller(socket, secret);
  socket.set(zmq::sockopt::immediate,
             true);  // nothing is queued for addresses that lead nowhere
  return ZmqSocket(std::move(socket), false);
} catch (const zmq::error_t& error) {
  return tl::unexpected(zmq_error("cannot make a socket", error));
}

Status ZmqSocket::call(const std::string& endpoint) try {
  for (const std::string& each : relay_endpoints(endpoint)) socket_.connect(each);
  return {};
} catch (const zmq::error_t& error) {
  return tl::unexpected(zmq_error("cannot connect to " + endpoint, error));
}

Result<ZmqSocket> ZmqSocket::connect(zmq::context_t& context, const std::string& endpoint,
                                     const Secret& secret) try {
  auto socket = caller(context, secret);
  if (!socket) return socket;
  if (const auto called = socket->call(endpoint); !called) return tl::unexpected(called.error());
  return socket;
} catch (const zmq::error_t& error) {
  return tl::unexpected(zmq_error("cannot connect to " + endpoint, error));
}

std::optional<Envelope> ZmqSocket::receive() try {
  const std::size_t first = listens_ ? 1 : 0;
  const std::size_t frames_wanted = first + 3;
  for (;;) {
    auto frames = receive_frames(socket_, frames_wanted);
    if (frames.empty()) return std::nullopt;
    if (frames.size() != frames_wanted || frames[first].size() > kBackBytesMax) continue;
    Envelope envelope;
    if (listens_) envelope.peer = std::move(frames[0]);
    envelope.back = std::move(frames[first]);
    envelope.to = std::move(frames[first + 1]);
    envelope.body = std::move(frames[first + 2]);
    return envelope;
  }
} catch (const zmq::error_t&) {
  return std::nullopt;
}

bool ZmqSocket::send(const Envelope& envelope) try {
  if (listens_)
    return send_frames(socket_, {envelope.peer, envelope.back, envelope.to, envelope.body});
  return send_frames(socket_, {envelope.back, envelope.to, envelope.body});
} catch (const zmq::error_t&) {
  return false;
}

int ZmqSocket::fd() const { return descriptor_of(socket_); }
bool ZmqSocket::pending() const { return readable(socket_); }

Result<ZmqGate> ZmqGate::open(zmq::context_t& context, const Secret& secret) try {
  zmq::socket_t socket(context, zmq::socket_type::rep);
  socket.set(zmq::sockopt::linger, 0);
  socket.bind("inproc://zeromq.zap.01");
  const KeyPair keys = client_keys(secret);
  std::string key(kKeyBytes, '\0');
  ::zmq_z85_decode(reinterpret_cast<std::uint8_t*>(key.data()), keys.shown.data());
  return ZmqGate(std::move(socket), std::move(key));
} catch (const zmq::error_t& error) {
  return tl::unexpected(zmq_error("cannot authenticate control connections", error));
}

/// RFC 27: version, request id, domain, address, identity, mechanism, credentials -> version,
/// request id, status code, status text, user id, metadata.
void ZmqGate::serve() try {
  constexpr std::size_t kQuestionFrames = 7;
  for (;;) {
    const auto question = receive_frames(socket_, kQuestionFrames);
    if (question.empty()) return;
    const bool well_formed = question.size() == kQuestionFrames && question[0] == "1.0";
    const bool ours = well_formed && question[2] == kZapDomain && question[5] == "CURVE" &&
                      question[6] == client_key_;
    const std::string request = question.size() > 1 ? question[1] : std::string();
    send_frames(socket_, {"1.0", request, ours ? "200" : "400", ours ? "" : "not of this job",
                          ours ? "member" : "", ""});
  }
} catch (const zmq::error_t&) {
  return;  // the question is asked again when the other side connects again
}

int ZmqGate::fd() const { return descriptor_of(socket_); }
bool ZmqGate::pending() const { return readable(socket_); }

}  // namespace livebtl::control
