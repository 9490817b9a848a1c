// The live page's server, as clients meet it that are friendly, slow, many or hostile.
#include "switch/control/web/web_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <latch>
#include <string_view>

#include "tests/unit/control/serve/loopback_client.h"

namespace eddy::control {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kPatienceMs = 10'000;

Picture picture(uint64_t shape, const std::string& values) {
  return {.shape = shape,
          .shape_event = "event: shape\ndata: " + std::to_string(shape) + "\n\n",
          .values_event = "event: values\ndata: " + values + "\n\n"};
}

class Served : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = WebServer::open(
        "127.0.0.1:0", [this](const auto& name, const auto& port) { return tables(name, port); });
    ASSERT_TRUE(opened.ok()) << opened.problems().front();
    server = std::move(*opened);
    at = static_cast<uint16_t>(
        std::stoi(server->address().substr(server->address().rfind(':') + 1)));
  }

  std::string ask(const std::string& path, const std::string& headers = "Host: localhost\r\n",
                  const std::string& method = "GET") const {
    return said_to(at,
                   method + " " + path + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
  }

  std::function<WebServer::Answer(const std::string&, const std::string&)> tables =
      [](const std::string& name, const std::string& port) -> WebServer::Answer {
    return {200, name + "|" + port};
  };
  std::unique_ptr<WebServer> server;
  uint16_t at = 0;
};

// One that watches; what it has been sent so far.
class Watcher {
 public:
  explicit Watcher(uint16_t port) : fd_(loopback_socket(port, connect)) {
    const std::string_view request = "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(send(fd_, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }
  ~Watcher() { close(fd_); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Reads until `text` has come; false: it does not.
  bool sees(const std::string& text) {
    while (said_.find(text) == std::string::npos)
      if (!read_some()) return false;
    return true;
  }
  // Reads until nothing comes any more.
  bool ends() {
    while (read_some()) continue;
    return ended_;
  }
  const std::string& said() const { return said_; }

 private:
  bool read_some() {
    pollfd wait{fd_, POLLIN, 0};
    if (poll(&wait, 1, kPatienceMs) <= 0) return false;
    std::array<char, 1 << 16> buffer;
    const ssize_t got = read(fd_, buffer.data(), buffer.size());
    ended_ = got <= 0;
    if (got > 0) said_.append(buffer.data(), static_cast<size_t>(got));
    return got > 0;
  }

  int fd_;
  std::string said_;
  bool ended_ = false;
};

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_F(Served, ThePageAndWhatItNeeds) {
  EXPECT_THAT(ask("/"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/html"),
                              HasSubstr("<script src=\"/page.js\"")));
  EXPECT_THAT(ask("/page.css"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/css"),
                                      HasSubstr("--ground"), HasSubstr(".picture")));
  EXPECT_THAT(ask("/page.js"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/javascript"),
                                     HasSubstr("EventSource")));
}

TEST_F(Served, EveryAnswerForbidsWhatIsNotServedHere) {
  for (const char* path : {"/", "/page.js", "/live.x", "/port?switch=a&port=b"}) {
    const std::string answer = ask(path);
    EXPECT_THAT(answer,
                HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"));
    EXPECT_THAT(answer, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(answer, HasSubstr("require-trusted-types-for 'script'"));
    EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff"));
    EXPECT_THAT(answer, HasSubstr("Cross-Origin-Resource-Policy: same-origin"));
    EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store"));
    EXPECT_THAT(answer, Not(HasSubstr("unsafe")));
    EXPECT_THAT(answer, Not(HasSubstr("Access-Control-Allow")));
  }
  EXPECT_THAT(ask("/"), Not(HasSubstr("<script>")));
}

TEST_F(Served, NothingIsWritten) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"})
    EXPECT_THAT(ask("/port?switch=a&port=b", "Host: localhost\r\nContent-Length: 2\r\n", method),
                AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: GET, HEAD")))
        << method;
}

TEST_F(Served, NoOtherPathLeadsAnywhere) {
  for (const char* path : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                           "/page.js/..", "/index.html", "/.", "/live/x", "/PORT"})
    EXPECT_THAT(ask(path), StartsWith("HTTP/1.1 404")) << path;
}

TEST_F(Served, WhoAsksByAnotherNameIsRefused) {
  for (const char* headers : {"Host: evil.example\r\n", "Host: evil.example:80\r\n", "Host: \r\n"})
    for (const char* path : {"/", "/page.js", "/live", "/port?switch=a&port=b"})
      EXPECT_THAT(ask(path, headers), StartsWith("HTTP/1.1 421")) << path << headers;
  EXPECT_THAT(said_to(at, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 421"));
  EXPECT_EQ(server->watchers(), 0u);
}

TEST_F(Served, AnotherPageMayNotAsk) {
  for (const char* site : {"cross-site", "same-site"}) {
    const std::string headers = "Host: localhost\r\nSec-Fetch-Site: " + std::string(site) + "\r\n";
    EXPECT_THAT(ask("/live", headers), StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(ask("/port?switch=a&port=b", headers), StartsWith("HTTP/1.1 403"));
    EXPECT_THAT(ask("/", headers), StartsWith("HTTP/1.1 200")) << "a link may lead here";
  }
}

TEST_F(Served, WhatIsNoRequestIsRefused) {
  const std::string huge(WebServer::kRequestBytes * 4, 'x');
  EXPECT_THAT(ask("/", "Host: localhost\r\nX-Long: " + huge + "\r\n"), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(ask("/" + huge), Not(HasSubstr(" 200 ")));
  std::string many = "Host: localhost\r\n";
  for (int i = 0; i < 4'000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_THAT(ask("/", many), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(said_to(at, "\x16\x03\x01\x02\x00\x01\r\n\r\n"), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(ask("/"), StartsWith("HTTP/1.1 200"));
}

// Each has said nothing or half of a request.
TEST_F(Served, TwoHundredHalfOpenClientsKeepNobodyWaiting) {
  server->publish(picture(1, "first"));
  constexpr std::array<std::string_view, 4> kSaid = {"", "GET", "GET /live HTTP/1.1\r\nHost: x",
                                                     "POST / HTTP/1.1\r\nHost: localhost\r\n"
                                                     "Content-Length: 100000\r\n"};
  std::vector<int> half_open;
  for (size_t i = 0; i < 200; ++i) {
    half_open.push_back(loopback_socket(at, connect));
    ASSERT_GE(half_open.back(), 0);
    const std::string_view said = kSaid[i % kSaid.size()];
    ASSERT_EQ(send(half_open.back(), said.data(), said.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(said.size()));
  }
  for (int i = 0; i < 3; ++i) EXPECT_THAT(ask("/"), StartsWith("HTTP/1.1 200"));
  Watcher watcher(at);
  EXPECT_TRUE(watcher.sees("data: first"));
  server->publish(picture(1, "second"));
  EXPECT_TRUE(watcher.sees("data: second"));
  for (const int each : half_open) close(each);
}

TEST_F(Served, AStreamHasTheShapeOnceAndThenItsValues) {
  Watcher watcher(at);
  pollfd wake{server->wake_fd(), POLLIN, 0};
  ASSERT_EQ(poll(&wake, 1, kPatienceMs), 1) << "who draws is told that somebody watches";
  EXPECT_EQ(server->watchers(), 1u);
  server->publish(picture(1, "one"));
  ASSERT_TRUE(watcher.sees("data: one"));
  server->publish(picture(1, "two"));
  ASSERT_TRUE(watcher.sees("data: two"));
  EXPECT_THAT(watcher.said(), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/event-stream")));
  EXPECT_EQ(count(watcher.said(), "event: shape"), 1u);
  server->publish(picture(2, "three"));
  ASSERT_TRUE(watcher.sees("data: three"));
  EXPECT_EQ(count(watcher.said(), "event: shape"), 2u);
  Watcher late(at);
  EXPECT_TRUE(late.sees("data: three")) << "whoever comes is shown what there is";
  EXPECT_EQ(count(late.said(), "event: shape"), 1u);
}

TEST_F(Served, WhoReadsNothingIsShownTheNewestNext) {
  Watcher watcher(at);
  const std::string much(4 << 20, 'x');  // more than sockets hold
  server->publish(picture(1, much + "first"));
  ASSERT_TRUE(watcher.sees("event: values"));
  for (int i = 0; i < 50; ++i) server->publish(picture(1, "between"));
  server->publish(picture(1, "newest"));
  EXPECT_TRUE(watcher.sees("data: newest"));
  EXPECT_THAT(watcher.said(), AllOf(HasSubstr("first"), Not(HasSubstr("between"))));
}

TEST_F(Served, WatchersAreCountedAndAreNotTooMany) {
  server->publish(picture(1, "first"));
  {
    std::vector<std::unique_ptr<Watcher>> watchers;
    for (size_t i = 0; i < WebServer::kMostWatchers; ++i) {
      watchers.push_back(std::make_unique<Watcher>(at));
      ASSERT_TRUE(watchers.back()->sees("data: first"));
    }
    EXPECT_EQ(server->watchers(), WebServer::kMostWatchers);
    EXPECT_THAT(ask("/live"), StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(ask("/"), StartsWith("HTTP/1.1 200"));
  }
  // Who has gone is known by the next pictures.
  for (int i = 0; i < kPatienceMs && server->watchers() > 0; ++i) {
    server->publish(picture(1, std::to_string(i)));
    poll(nullptr, 0, 1);
  }
  EXPECT_EQ(server->watchers(), 0u);
  Watcher again(at);
  EXPECT_TRUE(again.sees("event: values"));
}

TEST_F(Served, TablesAreAskedWithWhatTheClientSaid) {
  EXPECT_THAT(
      ask("/port?switch=leaf1&port=h1"),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("application/json"), HasSubstr("leaf1|h1")));
  EXPECT_THAT(ask("/port?switch=..%2F..%2Fx&port=%3Cb%3E"), HasSubstr("../../x|<b>"))
      << "it is data for who answers, who knows the names";
  EXPECT_THAT(ask("/port"), HasSubstr("\r\n\r\n|"));
  tables = [](const auto&, const auto&) -> WebServer::Answer { return {404, "none"}; };
  EXPECT_THAT(ask("/port?switch=x&port=y"), StartsWith("HTTP/1.1 404"));
}

// Whoever answers hangs; the page and its pictures go on, and so does the end.
TEST_F(Served, AQuestionThatHangsKeepsNobodyWaiting) {
  std::latch asked(1);
  std::latch answer(1);
  std::atomic<int> questions = 0;
  tables = [&](const auto&, const auto&) -> WebServer::Answer {
    if (questions++ == 0) {
      asked.count_down();
      answer.wait();
    }
    return {200, "late"};
  };
  std::thread client([this] { EXPECT_THAT(ask("/port?switch=a&port=b"), HasSubstr("late")); });
  asked.wait();
  std::vector<int> more;
  for (size_t i = 0; i < WebServer::kMostQuestions; ++i) {
    more.push_back(loopback_socket(at, connect));
    const std::string_view request =
        "GET /port?switch=a&port=b HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ASSERT_EQ(send(more.back(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }
  server->publish(picture(1, "first"));
  Watcher watcher(at);
  EXPECT_TRUE(watcher.sees("data: first"));
  EXPECT_THAT(ask("/port?switch=a&port=b"), StartsWith("HTTP/1.1 503"));
  answer.count_down();
  client.join();
  server.reset();
  EXPECT_TRUE(watcher.ends());
  EXPECT_THAT(ask("/"), IsEmpty());
  for (const int each : more) close(each);
}

TEST_F(Served, APortThatIsTakenIsAProblem) {
  const auto second = WebServer::open(server->address(), tables);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.problems(),
              testing::ElementsAre("--listen: cannot listen on " + server->address() +
                                   ": Address already in use"));
}

}  // namespace
}  // namespace eddy::control
