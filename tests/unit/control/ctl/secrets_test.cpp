#include "switch/control/ctl/secrets.h"

#include <gtest/gtest.h>

namespace eddy::control {
namespace {

TEST(Secrets, ValuesAfterTheirWordsAreHidden) {
  EXPECT_EQ(without_secrets("net_x0,iface=h1,token=abc123,queues=2"),
            "net_x0,iface=h1,token=***,queues=2");
  EXPECT_EQ(without_secrets("password: hunter2 # a comment"), "password: *** # a comment");
  EXPECT_EQ(without_secrets(R"({"api_key": "abc", "port": "h1"})"),
            R"({"api_key": "***", "port": "h1"})");
  EXPECT_EQ(without_secrets("my_SECRET=x"), "my_SECRET=***");
  EXPECT_EQ(without_secrets("net_x0,key=00ff;next"), "net_x0,key=***;next");
  EXPECT_EQ(without_secrets("passwd="), "passwd=");
}

TEST(Secrets, InTextsWithinJsonToo) {
  EXPECT_EQ(without_secrets(R"({"device": "net_x0,password=\"a b\",mac=1"})"),
            R"({"device": "net_x0,password=\"*** b\",mac=1"})");
}

TEST(Secrets, LoginsOfUrlsAreHidden) {
  EXPECT_EQ(without_secrets("http://me:pass@host/x"), "http://***@host/x");
  EXPECT_EQ(without_secrets("http://host/x@y"), "http://host/x@y");
}

TEST(Secrets, WhatIsNoneStays) {
  for (const char* text : {"tokens 5", "monkey: 3", "hash_key: 7", "key: value", "secretary",
                           "password", "authority=1", "", "the secret is out", "pg_tokens=4"})
    EXPECT_EQ(without_secrets(text), text);
}

}  // namespace
}  // namespace eddy::control
