#include "switch/control/serve/socket_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace eddy::control {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class Peer {
 public:
  explicit Peer(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    connected_ =
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  bool connected() const { return connected_; }
  // Octets the socket took.
  size_t send(std::string_view text) {
    const ssize_t done = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    return done < 0 ? 0 : static_cast<size_t>(done);
  }
  // What is there now.
  std::string receive() {
    char buffer[256 * 1024];
    const ssize_t got = ::recv(fd_.get(), buffer, sizeof(buffer), 0);
    closed_ = got == 0 || (got < 0 && errno == ECONNRESET);  // reset: our last words were unread
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  }
  bool closed() {
    receive();
    return closed_;
  }
  void no_more() { ::shutdown(fd_.get(), SHUT_WR); }
  void leave() { fd_.reset(); }

 private:
  Fd fd_;
  bool connected_ = false;
  bool closed_ = false;
};

class SocketServerTest : public ::testing::Test {
 protected:
  void open(SocketServer::Limits limits = {}) {
    auto server = SocketServer::open(
        path_,
        [this](std::string_view line) {
          ++handled_;
          return answer_.empty() ? "<" + std::string(line) + ">" : answer_;
        },
        [](std::string_view why) { return "refused: " + std::string(why); }, limits);
    ASSERT_TRUE(server.ok()) << server.problems().front();
    server_ = std::move(*server);
  }
  // Rounds until nothing is left to do; none of them waits.
  void settle(int64_t now_ns = 0) {
    for (int i = 0; i < 8; ++i) server_->serve(0, now_ns);
  }
  std::string ask(Peer& peer, const std::string& text) {
    peer.send(text);
    settle();
    return peer.receive();
  }

  test::TempDirectory directory_;
  std::string path_ = directory_.file("s.sock");
  std::string answer_;
  int handled_ = 0;
  std::unique_ptr<SocketServer> server_;
};

TEST_F(SocketServerTest, AnswersLinesInOrder) {
  open();
  Peer peer(path_);
  EXPECT_EQ(ask(peer, "a\n"), "<a>\n");
  EXPECT_EQ(ask(peer, "b\nc\n\n"), "<b>\n<c>\n<>\n");
}

TEST_F(SocketServerTest, HalfALineWaitsForTheRest) {
  open();
  Peer peer(path_);
  EXPECT_EQ(ask(peer, "hel"), "");
  Peer other(path_);
  EXPECT_EQ(ask(other, "x\n"), "<x>\n") << "others are served meanwhile";
  EXPECT_EQ(ask(peer, "lo\n"), "<hello>\n");
}

TEST_F(SocketServerTest, ARequestBeforeTheEndOfInputIsAnswered) {
  open();
  Peer peer(path_);
  peer.send("a\nb\n");
  peer.no_more();
  settle();
  EXPECT_EQ(peer.receive(), "<a>\n<b>\n");
  EXPECT_TRUE(peer.closed());
  EXPECT_EQ(server_->client_count(), 0u);
}

TEST_F(SocketServerTest, AMebibyteWithoutNewlineIsRefused) {
  open();
  Peer peer(path_);
  const std::string piece(64 * 1024, 'x');
  size_t sent = 0;
  for (int i = 0; i < 16; ++i) {
    sent += peer.send(piece);
    settle();
  }
  EXPECT_GT(sent, 64u * 1024);
  EXPECT_EQ(peer.receive(), "refused: a request is longer than 65536 octets\n");
  EXPECT_TRUE(peer.closed());
  EXPECT_EQ(handled_, 0);
  EXPECT_EQ(server_->client_count(), 0u);
}

TEST_F(SocketServerTest, ALineOfExactlyTheLimitIsServed) {
  open({.line_bytes = 10});
  Peer peer(path_);
  EXPECT_EQ(ask(peer, "0123456789\n"), "<0123456789>\n");
  EXPECT_EQ(ask(peer, "0123456789a\n"), "refused: a request is longer than 10 octets\n");
}

TEST_F(SocketServerTest, WhoDoesNotReadIsNotReadEither) {
  open();
  answer_.assign(1 << 20, 'y');
  Peer slow(path_);
  slow.send("a\nb\n");
  settle();
  EXPECT_EQ(handled_, 1) << "one answer at most is held";
  answer_ = "quick";
  Peer other(path_);
  EXPECT_EQ(ask(other, "x\n"), "quick\n");
  size_t got = 0;
  for (int i = 0; i < 100 && handled_ < 3; ++i) {
    got += slow.receive().size();
    settle();
  }
  while (const size_t more = slow.receive().size()) got += more;
  EXPECT_EQ(got, (1u << 20) + 1 + 6);
}

TEST_F(SocketServerTest, LeavingInTheMiddleOfAnAnswerHarmsNobody) {
  open();
  answer_.assign(4 << 20, 'y');
  Peer leaver(path_);
  leaver.send("a\n");
  settle();
  leaver.leave();
  settle();
  EXPECT_EQ(server_->client_count(), 0u);
  answer_ = "fine";
  Peer other(path_);
  EXPECT_EQ(ask(other, "x\n"), "fine\n");
}

TEST_F(SocketServerTest, AHundredClientsAreServedOrToldThatItIsFull) {
  open();
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 100; ++i) {
    peers.push_back(std::make_unique<Peer>(path_));
    ASSERT_TRUE(peers.back()->connected());
    settle();
  }
  for (const auto& peer : peers) peer->send("q\n");
  settle();
  int served = 0, told = 0;
  for (const auto& peer : peers) {
    const std::string text = peer->receive();
    served += text == "<q>\n";
    told += text == "refused: all 64 client places are taken\n";
  }
  EXPECT_EQ(served, 64);
  EXPECT_EQ(told, 36);
  peers.clear();
  settle();
  EXPECT_EQ(server_->client_count(), 0u);
}

TEST_F(SocketServerTest, IdleClientsMakeRoomOnlyWhenAllPlacesAreTaken) {
  open({.clients = 2});
  Peer idle(path_), active(path_);
  settle(0);
  active.send("x\n");
  settle(11 * kSecond);
  EXPECT_EQ(server_->client_count(), 2u) << "idle is fine while there is room";
  Peer third(path_);
  third.send("y\n");
  settle(11 * kSecond);
  EXPECT_EQ(third.receive(), "<y>\n");
  EXPECT_TRUE(idle.closed());
  EXPECT_EQ(active.receive(), "<x>\n");
}

TEST_F(SocketServerTest, ModeIsReadWriteForOwnerAndGroup) {
  const mode_t before = ::umask(0);
  open();
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0660u);
}

TEST_F(SocketServerTest, TheSocketOfADeadProcessIsReplaced) {
  {
    const Fd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path_));
  open();
  Peer peer(path_);
  EXPECT_EQ(ask(peer, "a\n"), "<a>\n");
}

std::string problem_of(const std::string& path) {
  auto server = SocketServer::open(
      path, [](std::string_view) { return std::string(); }, [](std::string_view) { return ""; },
      {});
  return server.ok() ? "" : server.problems().front();
}

TEST_F(SocketServerTest, ALiveSocketIsAClearErrorAndStays) {
  open();
  EXPECT_NE(problem_of(path_).find("is served by another process"), std::string::npos);
  Peer peer(path_);
  EXPECT_EQ(ask(peer, "a\n"), "<a>\n");
}

TEST_F(SocketServerTest, OtherFilesAreNotRemoved) {
  std::ofstream(path_) << "precious";
  EXPECT_NE(problem_of(path_).find("not a socket"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
  EXPECT_NE(problem_of("/" + std::string(200, 'x')).find("longer than 107"), std::string::npos);
}

TEST_F(SocketServerTest, TheDirectoryIsMadeAndTheSocketRemovedAtTheEnd) {
  path_ = directory_.file("new/s.sock");
  open();
  EXPECT_TRUE(std::filesystem::exists(path_));
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SocketServerTest, WhatHasTakenItsPlaceStays) {
  open();
  std::filesystem::remove(path_);
  std::ofstream(path_) << "precious";
  server_.reset();
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
  std::filesystem::remove(path_);
  open();
  std::unique_ptr<SocketServer> first = std::move(server_);
  std::filesystem::remove(path_);
  open();
  first.reset();
  Peer peer(path_);
  EXPECT_EQ(ask(peer, "a\n"), "<a>\n");
}

TEST_F(SocketServerTest, WakeEndsTheWait) {
  open();
  EXPECT_FALSE(server_->serve(0, 0));
  server_->wake();
  EXPECT_TRUE(server_->serve(-1, 0)) << "returns although nothing else happens";
  EXPECT_FALSE(server_->serve(0, 0));
}

TEST_F(SocketServerTest, ALeaseEndsWithItsClientAndIsNotEvicted) {
  auto lease = std::make_shared<int>(0);
  const std::weak_ptr<int> held = lease;
  auto server = SocketServer::open(
      path_,
      [&lease](std::string_view) {
        SocketServer::Answer answer("leased");
        answer.lease = std::exchange(lease, nullptr);
        return answer;
      },
      [](std::string_view why) { return std::string(why); }, {.clients = 1});
  ASSERT_TRUE(server.ok());
  server_ = std::move(*server);
  Peer peer(path_);
  EXPECT_EQ(ask(peer, "x\n"), "leased\n");
  EXPECT_EQ(ask(peer, "y\n"), "leased\n");  // another answer does not take it back
  Peer other(path_);
  settle(3'600 * kSecond);
  EXPECT_EQ(other.receive(), "all 1 client places are taken\n");
  EXPECT_FALSE(held.expired());
  peer.leave();
  settle();
  EXPECT_TRUE(held.expired());
}

}  // namespace
}  // namespace eddy::control
