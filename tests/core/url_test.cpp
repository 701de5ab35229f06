#include "core/http/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Url url(std::string_view text) {
  std::string error;
  const auto url = parse_url(text, error);
  EXPECT_TRUE(url) << text << ": " << error;
  EXPECT_EQ(error, "") << text;
  return url.value_or(Url{});
}

/// What is wrong with a text that is no URL.
std::string error_of(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse_url(text, error)) << text;
  EXPECT_NE(error, "") << text;
  EXPECT_FALSE(error.ends_with('.')) << error;
  return error;
}

/// Where a redirect leads, as text.
std::string location(std::string_view base, std::string_view location) {
  const auto there = resolve_location(url(base), location);
  return there ? there->text() : "nowhere";
}

TEST(UrlTest, APlainUrlHasAllParts) {
  EXPECT_EQ(url("http://127.0.0.1:3001/mcp?key=1"), (Url{false, "127.0.0.1", 3001, "/mcp?key=1"}));
  EXPECT_EQ(url("https://example.com/a/b"), (Url{true, "example.com", 443, "/a/b"}));
}

TEST(UrlTest, ThePortOfTheSchemeIsTheDefault) {
  EXPECT_EQ(url("http://example.com/").port, 80);
  EXPECT_EQ(url("https://example.com/").port, 443);
  EXPECT_EQ(url("http://example.com:/").port, 80);
  EXPECT_EQ(url("https://example.com:80/").port, 80);
}

TEST(UrlTest, APortIsANumberFrom1To65535) {
  EXPECT_EQ(url("http://h:1/").port, 1);
  EXPECT_EQ(url("http://h:65535/").port, 65535);
  EXPECT_EQ(url("http://h:00080/").port, 80);
  for (const char* text : {"http://h:0/", "http://h:65536/", "http://h:99999999999999999999/",
                           "http://h:8a/", "http://h:-1/", "http://h:+1/", "http://h:1:2/"}) {
    EXPECT_THAT(error_of(text), HasSubstr("port")) << text;
  }
}

TEST(UrlTest, TheTargetBeginsWithASlash) {
  EXPECT_EQ(url("http://h").target, "/");
  EXPECT_EQ(url("http://h:8080").target, "/");
  EXPECT_EQ(url("http://h?a=b").target, "/?a=b");
}

TEST(UrlTest, AFragmentIsDropped) {
  EXPECT_EQ(url("http://h/mcp#there").target, "/mcp");
  EXPECT_EQ(url("http://h#there").target, "/");
  EXPECT_EQ(url("http://h/mcp?q=1#a?b/../c").target, "/mcp?q=1");
}

TEST(UrlTest, TheCaseOfSchemeAndHostDoesNotCount) {
  EXPECT_EQ(url("HTTP://LocalHost:3000/MCP?Q"), (Url{false, "localhost", 3000, "/MCP?Q"}));
  EXPECT_EQ(url("HttpS://[FE80::A]/").host, "fe80::a");
}

TEST(UrlTest, AnIpv6AddressStandsInBrackets) {
  EXPECT_EQ(url("http://[::1]:3000/mcp"), (Url{false, "::1", 3000, "/mcp"}));
  EXPECT_EQ(url("https://[2001:db8::7]").authority(), "[2001:db8::7]");
  EXPECT_EQ(url("http://[::]").host, "::");
  EXPECT_EQ(url("http://[1:2:3:4:5:6:7:8]").host, "1:2:3:4:5:6:7:8");
  EXPECT_EQ(url("http://[1:2:3:4:5:6:7::]").host, "1:2:3:4:5:6:7::");
  EXPECT_EQ(url("http://[::ffff:192.0.2.1]").host, "::ffff:192.0.2.1");
  EXPECT_EQ(url("http://[1:2:3:4:5:6:192.0.2.1]").host, "1:2:3:4:5:6:192.0.2.1");
}

TEST(UrlTest, WhatIsNoIpv6AddressIsRefused) {
  for (const char* host : {"[]",
                           "[:]",
                           "[:::]",
                           "[1]",
                           "[1:2:3:4:5:6:7]",
                           "[1:2:3:4:5:6:7:8:9]",
                           "[1:2:3:4:5:6:7:8::]",
                           "[1::2::3]",
                           "[12345::]",
                           "[00001::]",
                           "[g::]",
                           "[:1::]",
                           "[1::2:]",
                           "[::1",
                           "[::1.2.3]",
                           "[::1.2.3.256]",
                           "[1.2.3.4::]",
                           "[::1.2.3.4:5]",
                           "[1:2:3:4:5:6:7:1.2.3.4]",
                           "[127.0.0.1]",
                           "[v1.a]"}) {
    EXPECT_THAT(error_of("http://" + std::string(host) + "/"), HasSubstr("IPv6")) << host;
  }
  EXPECT_THAT(error_of("http://[fe80::1%25eth0]/"), HasSubstr("zone"));
  EXPECT_THAT(error_of("http://[::1]3000/"), HasSubstr("port"));
}

TEST(UrlTest, AnIpv6AddressWithoutBracketsIsExplained) {
  EXPECT_THAT(error_of("http://::1/"), HasSubstr("[::1]"));
  EXPECT_THAT(error_of("http://::1:3000/"), HasSubstr("[::1]"));
}

TEST(UrlTest, AUserNameOrAPasswordIsRefusedAndNotRepeated) {
  for (const char* text : {"http://ann:hunter2@h/", "http://hunter2@h/", "http://:hunter2@h/",
                           "http://a@hunter2@h/", "http://hunter2@[::1]:1/", "http://@h/"}) {
    EXPECT_THAT(error_of(text), AllOf(HasSubstr("password"), Not(HasSubstr("hunter2")))) << text;
  }
  EXPECT_EQ(url("http://h/a@b").target, "/a@b");
  EXPECT_EQ(url("http://h?a@b").target, "/?a@b");
}

TEST(UrlTest, OtherSchemesAreRefusedWithWhatIsExpected) {
  for (const auto& [text, scheme] :
       std::vector<std::pair<std::string, std::string>>{{"unix:/run/mcp.sock", "unix:"},
                                                        {"ftp://example.com/", "ftp:"},
                                                        {"ws://example.com/", "ws:"},
                                                        {"httpx://example.com/", "httpx:"},
                                                        {"file:///tmp", "file:"}}) {
    EXPECT_THAT(error_of(text),
                AllOf(HasSubstr("http://"), HasSubstr("https://"), HasSubstr("\"" + scheme + "\"")))
        << text;
  }
  for (const char* text :
       {"", "localhost:3000/mcp", "127.0.0.1:3000", "/mcp", "http:/h", "http:h", "://h", "mcp"}) {
    EXPECT_THAT(error_of(text), HasSubstr("http://")) << text;
  }
}

TEST(UrlTest, AHostIsNeeded) {
  for (const char* text : {"http://", "http:///mcp", "http://:80/", "https://?q", "http://#f"}) {
    EXPECT_THAT(error_of(text), HasSubstr("host")) << text;
  }
}

TEST(UrlTest, AHostHasOnlyCharactersOfHostNames) {
  EXPECT_EQ(url("http://my_server-1.example.com./").host, "my_server-1.example.com.");
  for (const char* text : {"http://a%41/", "http://a\\b/", "http://a,b/", "http://a*b/",
                           "http://b\xC3\xBC.example/"}) {
    EXPECT_THAT(error_of(text), HasSubstr("host")) << text;
  }
}

TEST(UrlTest, SpacesAndControlCharactersAreRefused) {
  for (const char* text :
       {" http://h/", "http://h/ ", "http://h/a b", "http://a b/", "http://h/\t",
        "http://h/\r\nX-Header: 1", "http://h/?\x7F", "http:// h/", "http://h/#a b"}) {
    EXPECT_THAT(error_of(text), HasSubstr("space")) << text;
  }
  EXPECT_THAT(error_of(std::string_view("http://h/\0", 10)), HasSubstr("space"));
}

TEST(UrlTest, PercentSignsPassAsTheyAre) {
  EXPECT_EQ(url("http://h/a%20b%2Fc%2e%2E?d=%41").target, "/a%20b%2Fc%2e%2E?d=%41");
  for (const char* text : {"http://h/%", "http://h/%4", "http://h/%4g", "http://h/?q=%zz"}) {
    EXPECT_THAT(error_of(text), HasSubstr("%")) << text;
  }
}

TEST(UrlTest, OtherCharactersOfATargetAreEncoded) {
  EXPECT_EQ(url("http://h/b\xC3\xBC?\xE2\x82\xAC").target, "/b%C3%BC?%E2%82%AC");
}

TEST(UrlTest, DotSegmentsAreRemovedFromThePath) {
  EXPECT_EQ(url("http://h/a/./b/../c").target, "/a/c");
  EXPECT_EQ(url("http://h/../../a").target, "/a");
  EXPECT_EQ(url("http://h/a/..").target, "/");
  EXPECT_EQ(url("http://h/a/b/.").target, "/a/b/");
  EXPECT_EQ(url("http://h/a//../b").target, "/a/b");
  EXPECT_EQ(url("http://h/...?x=/../y").target, "/...?x=/../y");
}

TEST(UrlTest, TheAuthorityNamesThePortUnlessItIsTheOneOfTheScheme) {
  EXPECT_EQ(url("http://h:80/x").authority(), "h");
  EXPECT_EQ(url("http://h:443/x").authority(), "h:443");
  EXPECT_EQ(url("https://h:443/x").authority(), "h");
  EXPECT_EQ(url("https://[::1]:8443/x").authority(), "[::1]:8443");
}

TEST(UrlTest, TheOriginIsSharedByTheUrlsOfOneServer) {
  EXPECT_EQ(url("http://H:80/x?y").origin(), url("http://h").origin());
  EXPECT_NE(url("http://h").origin(), url("https://h").origin());
  EXPECT_NE(url("http://h").origin(), url("http://h:81").origin());
  EXPECT_EQ(url("http://h:3000/x#y").text(), "http://h:3000/x");
  EXPECT_EQ(url("https://[::1]/x").text(), "https://[::1]/x");
}

TEST(UrlTest, TheTextOfAUrlReadsAsTheSameUrl) {
  for (const char* text :
       {"http://h", "https://h:8443/a?b", "http://[::1]:1/%20", "http://h:443/"}) {
    EXPECT_EQ(url(url(text).text()), url(text)) << text;
  }
}

TEST(UrlTest, LoopbackAddressesAndNames) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.0", "127.255.255.255", "127.1.2.3", "[::1]", "[0:0:0:0:0:0:0:1]",
        "[0::0001]", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]", "[::ffff:127.9.9.9]", "localhost",
        "LOCALHOST", "localhost.", "foo.localhost", "a.b.localhost", "foo.localhost."}) {
    EXPECT_TRUE(url("http://" + std::string(host) + ":1/").is_loopback()) << host;
  }
  for (const char* host : {"126.0.0.1",
                           "128.0.0.1",
                           "10.0.0.1",
                           "0.0.0.0",
                           "127.1",
                           "127.0.0.256",
                           "127.0.0.1.2",
                           "127.0.0.1.example.com",
                           "[::]",
                           "[::2]",
                           "[1::1]",
                           "[::127.0.0.1]",
                           "[::ffff:128.0.0.1]",
                           "[::fffe:127.0.0.1]",
                           "localhost.example.com",
                           "notlocalhost",
                           "localhost.localdomain",
                           "localhost..",
                           "127.0.0.01",
                           "127.0.0"}) {
    EXPECT_FALSE(url("http://" + std::string(host) + ":1/").is_loopback()) << host;
  }
}

constexpr char kBase[] = "http://h:3000/a/b?q=1";

TEST(ResolveLocationTest, AnAbsoluteUrlLeadsAnywhere) {
  EXPECT_EQ(location(kBase, "https://other.example/x/../y?z#f"), "https://other.example/y?z");
  EXPECT_EQ(location(kBase, "HTTP://h:3000"), "http://h:3000/");
}

TEST(ResolveLocationTest, WithoutASchemeTheSchemeOfTheBaseStays) {
  EXPECT_EQ(location(kBase, "//other/x"), "http://other/x");
  EXPECT_EQ(location("https://h/", "//other:8443"), "https://other:8443/");
  EXPECT_EQ(location("https://h:1/", "//other"), "https://other/");
}

TEST(ResolveLocationTest, APathStaysOnTheServer) {
  EXPECT_EQ(location(kBase, "/x"), "http://h:3000/x");
  EXPECT_EQ(location(kBase, "/x?y=2"), "http://h:3000/x?y=2");
  EXPECT_EQ(location("http://[::1]:1/a", "/x"), "http://[::1]:1/x");
}

TEST(ResolveLocationTest, ARelativePathReplacesTheLastSegment) {
  EXPECT_EQ(location(kBase, "x"), "http://h:3000/a/x");
  EXPECT_EQ(location(kBase, "x/y/"), "http://h:3000/a/x/y/");
  EXPECT_EQ(location("http://h", "x"), "http://h/x");
  EXPECT_EQ(location("http://h/a?q=/x/y", "z"), "http://h/z");
}

TEST(ResolveLocationTest, ThePathOrTheQueryOfTheBaseStays) {
  EXPECT_EQ(location(kBase, ""), "http://h:3000/a/b?q=1");
  EXPECT_EQ(location(kBase, "#there"), "http://h:3000/a/b?q=1");
  EXPECT_EQ(location(kBase, "?r=2"), "http://h:3000/a/b?r=2");
  EXPECT_EQ(location(kBase, "?"), "http://h:3000/a/b?");
}

// The examples of RFC 3986, 5.4. The base has no parameters here, since they are nothing special.
TEST(ResolveLocationTest, DotSegmentsLeadUpwards) {
  const std::string base = "http://a/b/c/d?q";
  for (const auto& [relative, path] : std::vector<std::pair<std::string, std::string>>{
           {".", "/b/c/"},         {"./", "/b/c/"},
           {"./g", "/b/c/g"},      {"..", "/b/"},
           {"../", "/b/"},         {"../g", "/b/g"},
           {"../..", "/"},         {"../../g", "/g"},
           {"../../../g", "/g"},   {"/./g", "/g"},
           {"/../g", "/g"},        {"g.", "/b/c/g."},
           {".g", "/b/c/.g"},      {"g..", "/b/c/g.."},
           {"..g", "/b/c/..g"},    {"./../g", "/b/g"},
           {"./g/.", "/b/c/g/"},   {"g/./h", "/b/c/g/h"},
           {"g/../h", "/b/c/h"},   {"g?y/../x", "/b/c/g?y/../x"},
           {"g#s/../x", "/b/c/g"}, {"g;x=1/../y", "/b/c/y"}}) {
    EXPECT_EQ(location(base, relative), "http://a" + path) << relative;
  }
}

TEST(ResolveLocationTest, AColonInALaterSegmentIsNoScheme) {
  EXPECT_EQ(location(kBase, "./x:y"), "http://h:3000/a/x:y");
  EXPECT_EQ(location(kBase, "x/y:z"), "http://h:3000/a/x/y:z");
  EXPECT_EQ(location(kBase, "?x:y"), "http://h:3000/a/b?x:y");
  EXPECT_EQ(location(kBase, "1:2"), "http://h:3000/a/1:2");
}

TEST(ResolveLocationTest, ALocationThatIsNoHttpUrlLeadsNowhere) {
  for (const char* there :
       {"ftp://h/", "unix:/run/x", "javascript:alert(1)", "mailto:a@b", "http:x", "http:/x",
        "http://", "//", "///x", "//u:p@h/", "http://h:0/", "/a b", "/%zz", "x\r\ny", "//h:x/"}) {
    EXPECT_EQ(location(kBase, there), "nowhere") << there;
  }
}

}  // namespace
}  // namespace sitter
