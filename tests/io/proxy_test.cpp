#include "io/http/proxy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sitter {
namespace {

using Variables = std::map<std::string, std::string>;

Url https(const std::string& host, std::uint16_t port = 443) { return {true, host, port, "/mcp"}; }
Url http(const std::string& host, std::uint16_t port = 80) { return {false, host, port, "/mcp"}; }

/// The name of the proxy, "none", or what is wrong.
std::string proxy_of(const Url& url, const Variables& variables) {
  std::string error;
  const auto proxy = proxy_for(
      url,
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      error);
  if (!error.empty()) return error;
  return proxy ? proxy->name() : "none";
}

std::string authorization_of(const std::string& value) {
  std::string error;
  const auto proxy = proxy_for(
      https("example.com"), [&](const char*) { return value.c_str(); }, error);
  return proxy ? proxy->authorization : error;
}

TEST(Proxy, IsThatOfTheScheme) {
  const Variables variables{{"HTTPS_PROXY", "http://secure:1"}, {"http_proxy", "http://plain:2"}};
  EXPECT_EQ(proxy_of(https("example.com"), variables), "secure:1");
  EXPECT_EQ(proxy_of(http("example.com"), variables), "plain:2");
  EXPECT_EQ(proxy_of(https("example.com"), {}), "none");
  EXPECT_EQ(proxy_of(https("example.com"), {{"http_proxy", "http://plain:2"}}), "none");
}

TEST(Proxy, IsThatOfAllProxyOtherwise) {
  EXPECT_EQ(proxy_of(https("example.com"), {{"ALL_PROXY", "http://any:1"}}), "any:1");
  EXPECT_EQ(proxy_of(http("example.com"), {{"all_proxy", "http://any:1"}}), "any:1");
  EXPECT_EQ(proxy_of(https("example.com"),
                     {{"ALL_PROXY", "http://any:1"}, {"https_proxy", "http://secure:2"}}),
            "secure:2");
}

TEST(Proxy, LowerCaseComesFirstAndEmptyIsNotSet) {
  EXPECT_EQ(proxy_of(https("example.com"),
                     {{"HTTPS_PROXY", "http://upper:1"}, {"https_proxy", "http://lower:2"}}),
            "lower:2");
  EXPECT_EQ(
      proxy_of(https("example.com"), {{"HTTPS_PROXY", "http://upper:1"}, {"https_proxy", ""}}),
      "upper:1");
}

TEST(Proxy, IsNotTakenFromWhatAWebServerSetsToAHeader) {
  EXPECT_EQ(proxy_of(http("example.com"), {{"HTTP_PROXY", "http://plain:1"}}), "none");
}

TEST(Proxy, IsNeverAskedForTheOwnMachine) {
  const Variables variables{{"all_proxy", "http://any:1"}};
  EXPECT_EQ(proxy_of(https("localhost"), variables), "none");
  EXPECT_EQ(proxy_of(http("127.0.0.1", 3001), variables), "none");
  EXPECT_EQ(proxy_of(http("::1", 3001), variables), "none");
  EXPECT_EQ(proxy_of(http("app.localhost", 3001), variables), "none");
}

TEST(Proxy, MayBeWrittenWithoutASchemeOrAPort) {
  const auto read = [](const std::string& value) {
    return proxy_of(https("example.com"), {{"https_proxy", value}});
  };
  EXPECT_EQ(read("proxy.example:3128"), "proxy.example:3128");
  EXPECT_EQ(read("http://proxy.example"), "proxy.example:80");
  EXPECT_EQ(read("HTTP://Proxy.Example:3128/"), "proxy.example:3128");
  EXPECT_EQ(read(" http://[fd00::1]:3128 "), "[fd00::1]:3128");
}

TEST(Proxy, OfAnotherKindIsRefusedInASentence) {
  EXPECT_EQ(proxy_of(https("example.com"), {{"ALL_PROXY", "socks5://me:secret@proxy:1080"}}),
            "ALL_PROXY names a proxy with socks5://, but only http:// is supported");
  EXPECT_EQ(proxy_of(https("example.com"), {{"https_proxy", "https://proxy"}}),
            "https_proxy names a proxy with https://, but only http:// is supported");
}

TEST(Proxy, ThatCannotBeReadIsNotQuoted) {
  for (const std::string value :
       {"http://", "http://me:secret@", "http://me:secret@proxy:x", "http://me:se/cret@proxy:1",
        "http://me:secret@proxy:99999", "http://a b:1"}) {
    EXPECT_EQ(proxy_of(https("example.com"), {{"https_proxy", value}}),
              "https_proxy is not the URL of a proxy (expected http://host:port)")
        << value;
  }
}

TEST(Proxy, ThatCannotBeReadIsNoErrorForAnExemptHost) {
  EXPECT_EQ(proxy_of(https("example.com"),
                     {{"https_proxy", "socks5://proxy"}, {"no_proxy", "example.com"}}),
            "none");
}

TEST(Proxy, UserAndPasswordBecomeBasicAuthorization) {
  EXPECT_EQ(authorization_of("http://proxy:1"), "");
  EXPECT_EQ(authorization_of("http://Aladdin:open%20sesame@proxy:1"),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(authorization_of("http://me@proxy:1"), "Basic bWU6");                // me:
  EXPECT_EQ(authorization_of("me:a:b@proxy"), "Basic bWU6YTpi");                 // me:a:b
  EXPECT_EQ(authorization_of("http://me:a@b@proxy:1"), "Basic bWU6YUBi");        // me:a@b
  EXPECT_EQ(authorization_of("http://me:%zz%4@proxy:1"), "Basic bWU6JXp6JTQ=");  // me:%zz%4
  EXPECT_EQ(authorization_of("http://me:%C3%bc@proxy:1"), "Basic bWU6w7w=");     // me:ü
}

struct Exemption {
  const char* no_proxy;
  Url url;
  bool is_exempt;
};

TEST(Proxy, NoProxyNamesHosts) {
  const Exemption table[] = {
      {"", https("example.com"), false},
      {"*", https("example.com"), true},
      {"*", https("10.0.0.1"), true},
      {"other.example, *", https("example.com"), true},

      {"example.com", https("example.com"), true},
      {"Example.COM", https("example.com"), true},
      {"example.com", https("www.example.com"), true},
      {"example.com", https("notexample.com"), false},
      {"example.com", https("example.com.evil"), false},
      {"www.example.com", https("example.com"), false},
      {".example.com", https("example.com"), true},
      {".example.com", https("www.example.com"), true},
      {".example.com", https("notexample.com"), false},
      {"*.example.com", https("www.example.com"), true},
      {"*.example.com", https("notexample.com"), false},
      {"example.com.", https("example.com"), true},
      {"example.com", https("example.com."), true},
      {".", https("example.com"), false},
      {",,", https("example.com"), false},
      {"a.example,example.com", https("example.com"), true},
      {"a.example example.com", https("example.com"), true},
      {" a.example ,\texample.com ", https("example.com"), true},

      {"example.com:443", https("example.com"), true},
      {"example.com:443", https("www.example.com"), true},
      {"example.com:8443", https("example.com"), false},
      {"example.com:8443", https("example.com", 8443), true},
      {"example.com:", https("example.com"), false},
      {"example.com:x", https("example.com"), false},
      {"example.com:65536", http("example.com", 0), false},

      {"10.1.2.3", http("10.1.2.3"), true},
      {"10.1.2.3", http("110.1.2.3"), false},
      {"1.2.3", http("10.1.2.3"), false},
      {"10.1.2.3:8080", http("10.1.2.3", 8080), true},
      {"10.1.2.3:8080", http("10.1.2.3"), false},
      {"10.0.0.0/8", http("10.255.2.3"), true},
      {"10.0.0.0/8", http("11.0.0.0"), false},
      {"192.168.4.0/22", http("192.168.7.255"), true},
      {"192.168.4.0/22", http("192.168.8.0"), false},
      {"192.168.4.1/32", http("192.168.4.1"), true},
      {"192.168.4.1/32", http("192.168.4.0"), false},
      {"192.168.4.1/31", http("192.168.4.0"), true},
      {"0.0.0.0/0", http("8.8.8.8"), true},
      {"10.0.0.0/33", http("10.0.0.0"), false},
      {"10.0.0.0/", http("10.0.0.0"), false},
      {"10.0.0.0/-1", http("10.0.0.0"), false},
      {"10.0.0.0/x", http("10.0.0.0"), false},
      {"10.0.0.0/8", http("fd00::1"), false},
      {"10.0.0.0/8", https("example.com"), false},

      {"fd00::1", http("fd00::1"), true},
      {"fd00:0::0001", http("fd00::1"), true},
      {"[fd00::1]", http("fd00::1"), true},
      {"[fd00::1]:8080", http("fd00::1", 8080), true},
      {"[fd00::1]:8080", http("fd00::1"), false},
      {"fd00::1:8080", http("fd00::1", 8080), false},
      {"fd00::/8", http("fd12:3456::1"), true},
      {"fd00::/8", http("fe80::1"), false},
      {"2001:db8::/33", http("2001:db8:7fff::1"), true},
      {"2001:db8::/33", http("2001:db8:8000::1"), false},
      {"fd00::1/128", http("fd00::1"), true},
      {"fd00::1/129", http("fd00::1"), false},
      {"fd00::/8", http("10.0.0.1"), false},
  };
  for (const auto& [no_proxy, url, expected] : table) {
    EXPECT_EQ(is_exempt(url, no_proxy), expected)
        << '"' << no_proxy << "\" and " << host_and_port(url.host, url.port);
  }
}

TEST(Proxy, IsNotAskedForAnExemptHost) {
  const auto read = [](const std::string& variable) {
    return proxy_of(https("example.com"),
                    {{"https_proxy", "http://p:1"}, {variable, "example.com"}});
  };
  EXPECT_EQ(read("no_proxy"), "none");
  EXPECT_EQ(read("NO_PROXY"), "none");
  EXPECT_EQ(read("OTHER"), "p:1");
}

}  // namespace
}  // namespace sitter
