#include "foundation/named_place.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "foundation/error.hpp"

namespace strider {
namespace {

constexpr Parameter parameter(Kind kind, std::string_view choices = {}) {
  return {"it", kind, "\"\"", "", no_limit, no_limit, choices};
}

/// The error of a value; empty if it is good.
std::string refusal(const Parameter& described, const std::string& value) {
  try {
    check_place(described, value);
    return "";
  } catch (const InputError& error) {
    EXPECT_EQ(error.key(), "it");
    EXPECT_NE(error.remedy(), "") << error.what();
    return error.what();
  }
}

void expect_good(const Parameter& described, const std::vector<std::string>& values) {
  for (const std::string& value : values) EXPECT_EQ(refusal(described, value), "") << value;
}

void expect_bad(const Parameter& described, const std::vector<std::string>& values) {
  for (const std::string& value : values) EXPECT_NE(refusal(described, value), "") << value;
}

TEST(Place, OfHostsIsANameOrAnAddress) {
  expect_good(parameter(Kind::host),
              {"localhost", "io1.example.org", "io-1", "node_3", "10.0.0.1", "::1", "fe80::1%eth0"});
  expect_bad(parameter(Kind::host), {"", "-x", "a b", "a/b", "a..b", ".a", "a,b", "a:1", "user@a", "a?b", "größe",
                                     std::string(64, 'a'), std::string(300, 'a')});
}

TEST(Place, OfUrlsIsASchemeAndAServer) {
  const Parameter nfs = parameter(Kind::url, "nfs"), root = parameter(Kind::url, "root|roots");
  expect_good(nfs,
              {"nfs://server/export?version=3", "nfs://10.0.0.1:2049/a b", "nfs://[::1]:2049/export", "nfs://server"});
  expect_good(root, {"root://host:1094", "roots://user@host"});
  expect_bad(nfs, {"", "server:/export", "http://server/", "nfs:/server", "nfs://", "nfs:///export", "nfs://a b/",
                   "nfs://a:0/", "nfs://a:65536/", "nfs://a:x/", "nfs://@a/", "nfs://a@b@c/", "nfs://[::1/",
                   "nfs://-a/", "NFS://server/", "nfs://a/" + std::string(5000, 'x')});
  expect_bad(root, {"file:///etc/passwd", "xroot://host"});
}

TEST(Place, OfVolumesAndPoolsAndUsersIsAName) {
  for (const Kind kind : {Kind::volume, Kind::pool, Kind::user}) {
    expect_good(parameter(kind), {"vol0", "cephfs.data-ssd", ".rgw_root", "a@b"});
    expect_bad(parameter(kind), {"", ".", "..", "a/b", "../x", "-o", "a b", "größe", std::string(256, 'a')});
  }
}

TEST(Place, OfPathsIsOneThatCanBe) {
  for (const Kind kind : {Kind::file, Kind::config, Kind::directory, Kind::path}) {
    expect_good(parameter(kind), {"/absent/file", "relative", "../above", "/a//b/", "/größe"});
    expect_bad(parameter(kind), {"", "~/x", "~user/x", std::string(256, 'a'), "/a/" + std::string(256, 'b'), [] {
                                   std::string path;
                                   for (int i = 0; i < 30'000; ++i) path += "a/";
                                   return path;
                                 }()});
  }
}

TEST(Place, OfFilesIsNoDeviceAndNoDirectory) {
  for (const Kind kind : {Kind::file, Kind::config}) {
    EXPECT_EQ(refusal(parameter(kind), "/dev/zero"), "it: \"/dev/zero\" is a device");
    EXPECT_EQ(refusal(parameter(kind), "/"), "it: \"/\" is a directory");
  }
  expect_good(parameter(Kind::directory), {"/"});
}

TEST(Place, OfHintsHasNamesThatMpiTakes) {
  const Parameter hints = parameter(Kind::map);
  EXPECT_NO_THROW(check_hint(hints, "romio_cb_write", "enable"));
  EXPECT_NO_THROW(check_hint(hints, "a", ""));
  EXPECT_THROW(check_hint(hints, "", "x"), InputError);
  EXPECT_THROW(check_hint(hints, "a b", "x"), InputError);
  EXPECT_THROW(check_hint(hints, std::string(256, 'a'), "x"), InputError);
  EXPECT_THROW(check_hint(hints, "a", std::string(1024, 'x')), InputError);
}

}  // namespace
}  // namespace strider
