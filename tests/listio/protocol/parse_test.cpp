#include "listio/protocol/parse.hpp"

#include <gtest/gtest.h>

#include "listio/protocol/secret.hpp"

namespace strider::listio {
namespace {

constexpr ProtocolLimits limits{4, 1000, 2};

std::string refusal(const Request& request) {
  const auto parsed = parse_client_message(write_message(NumberedRequest{1, request}), limits);
  const auto* const malformed = std::get_if<Malformed>(&parsed);
  return malformed == nullptr ? "" : malformed->reason;
}

std::vector<Request> all_requests() {
  return {ReadRequest{5, 1, {{0, 10}, {most_file_bytes - 90, 90}}},
          WriteRequest{{5, 0, {{7, 1000}}}},
          SyncRequest{5},
          DataStatRequest{5},
          TruncateRequest{5, most_file_bytes},
          RemoveDataRequest{~FileId{0}},
          OpenRequest{"a/b", Creation::exclusive, 0640, {4, 3, 65536}},
          StatRequest{""},
          UnlinkRequest{"a"},
          RenameRequest{"a", "b/c"},
          MakeDirectoryRequest{"a", 0700},
          RemoveDirectoryRequest{"a"},
          ListRequest{"", 17},
          ListDataRequest{18},
          StatusRequest{},
          SyncNamesRequest{},
          SyncNamesRequest{SyncNamesRequest::Part::directories},
          SetEntryRequest{"a", 0640, -5, 6},
          SetDataTimeRequest{5, 17},
          MakeLinkRequest{"a/b", "../c"},
          ReadLinkRequest{"a"},
          MakeCellRequest{},
          AddToCellRequest{~CellId{0}, -3},
          SetCellRequest{5, INT64_MIN},
          FreeCellRequest{5},
          LockRequest{5, 6, LockKind::exclusive, 30000, {{0, 10}, {10, most_file_bytes - 10}}},
          FindLockRequest{5, 6, LockKind::shared, {0, most_file_bytes}},
          CancelLockRequest{5, 6},
          CheckEntryRequest{"a/b"},
          ListCopiesRequest{19},
          CheckCopyRequest{5},
          NamesStateRequest{},
          RepairNameRequest{NameRepair::restore, 7, 5, "a"},
          VerifyRequest{5, 7, VerifyRequest::most_blocks},
          LeaseRequest{3, 9},
          StartFillRequest{17, 3, 9},
          ListMissedRequest{19, true},
          TakeMissedRequest{5},
          ForgetMissedRequest{},
          PauseRequest{17, 3},
          AdmitRequest{17, 3},
          MarkMissedRequest{5},
          LocateRequest{5, EntryKind::directory}};
}

TEST(ParseTest, ReadsWhatWasWrittenAndNothingShorterOrLonger) {
  for (const Request& request : all_requests()) {
    std::vector<std::byte> bytes = write_message(NumberedRequest{77, request});
    const auto parsed = parse_client_message(bytes, limits);
    const auto* const message = std::get_if<ClientMessage>(&parsed);
    ASSERT_NE(message, nullptr) << request.index();
    EXPECT_EQ(std::get<NumberedRequest>(*message).number, 77);
    EXPECT_EQ(std::get<NumberedRequest>(*message).request.index(), request.index());
    EXPECT_EQ(write_message(*message), bytes);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_TRUE(std::holds_alternative<Malformed>(parse_client_message(std::span(bytes).first(length), limits)))
          << request.index() << " cut to " << length;
    bytes.push_back(std::byte{0});
    EXPECT_TRUE(std::holds_alternative<Malformed>(parse_client_message(bytes, limits))) << request.index();
  }
}

TEST(ParseTest, ReadsMessagesAboutBuffers) {
  const auto expect_exact = [](const auto& message, const auto& parse) {
    std::vector<std::byte> bytes = write_message(message);
    EXPECT_EQ(parse(bytes), bytes);
    bytes.push_back(std::byte{0});
    EXPECT_EQ(parse(bytes), std::vector<std::byte>{});
    EXPECT_EQ(parse(std::span(bytes).first(bytes.size() - 2)), std::vector<std::byte>{});
  };
  const auto by_server = [](std::span<const std::byte> bytes) {
    const auto parsed = parse_client_message(bytes, limits);
    const auto* const said = std::get_if<ClientMessage>(&parsed);
    return said == nullptr ? std::vector<std::byte>{} : write_message(*said);
  };
  const auto by_client = [](std::span<const std::byte> bytes) {
    const auto parsed = parse_server_message(bytes);
    const auto* const said = std::get_if<ServerMessage>(&parsed);
    return said == nullptr ? std::vector<std::byte>{} : write_message(*said);
  };
  expect_exact(ClientMessage(BufferRequest{2}), by_server);
  expect_exact(ClientMessage(Release{1}), by_server);
  expect_exact(ServerMessage(Grant{1, 1, Term::request}), by_client);
  EXPECT_TRUE(by_client(write_message(ServerMessage(Grant{0, 0, Term::connection}))).empty());
  EXPECT_TRUE(by_client(write_message(ServerMessage(Grant{0, 1, Term{3}}))).empty());
}

TEST(ParseTest, RefusesListsBeyondTheLimits) {
  EXPECT_EQ(refusal(WriteRequest{{5, 0, {{0, 400}, {0, 600}}}}), "");
  EXPECT_EQ(refusal(WriteRequest{{5, 0, {{0, 400}, {0, 601}}}}), "the runs have more bytes than the 1000 of a buffer");
  EXPECT_EQ(refusal(ReadRequest{5, 0, std::vector<ByteRun>(5, {0, 1})}), "5 runs in a request; at most 4 are allowed");
  EXPECT_EQ(refusal(ReadRequest{5, 0, {}}), "0 runs in a request; at most 4 are allowed");
  EXPECT_EQ(refusal(ReadRequest{5, 2, {{0, 1}}}), "buffer 2 does not belong to the client");
  EXPECT_EQ(refusal(ReadRequest{5, 0, {{0, 0}}}), "a run is empty or ends beyond the largest file size");
  EXPECT_EQ(refusal(ReadRequest{5, 0, {{most_file_bytes, 1}}}), "a run is empty or ends beyond the largest file size");
  EXPECT_EQ(refusal(ReadRequest{5, 0, {{~std::uint64_t{0}, 2}}}),
            "a run is empty or ends beyond the largest file size");
  EXPECT_EQ(refusal(ReadRequest{0, 0, {{0, 1}}}), "file number 0 is not valid");
  EXPECT_EQ(refusal(TruncateRequest{5, most_file_bytes + 1}), "a size beyond the largest file size");
}

TEST(ParseTest, RangesOfLocksAreInOrderAndBounded) {
  const auto lock = [](std::vector<ByteRun> ranges) {
    return refusal(LockRequest{5, 1, LockKind::shared, 0, std::move(ranges)});
  };
  std::vector<ByteRun> many;
  for (std::uint64_t i = 0; i < most_lock_ranges; ++i) many.push_back({2 * i, 1});
  EXPECT_EQ(lock(many), "");
  many.push_back({2 * most_lock_ranges, 1});
  EXPECT_EQ(lock(many), "1025 ranges in a lock; at most 1024 are allowed");
  EXPECT_EQ(lock({}), "0 ranges in a lock; at most 1024 are allowed");
  EXPECT_EQ(lock({{5, 0}}), "a range is empty or ends beyond the largest file size");
  EXPECT_EQ(lock({{most_file_bytes, 1}}), "a range is empty or ends beyond the largest file size");
  EXPECT_EQ(lock({{~std::uint64_t{0}, 2}}), "a range is empty or ends beyond the largest file size");
  EXPECT_EQ(lock({{5, 2}, {6, 1}}), "the ranges of a lock overlap, or are not in order");
  EXPECT_EQ(lock({{5, 2}, {0, 1}}), "the ranges of a lock overlap, or are not in order");
  EXPECT_EQ(refusal(LockRequest{5, 1, static_cast<LockKind>(3), 0, {{0, 1}}}), "unknown kind of lock");
  EXPECT_EQ(refusal(LockRequest{0, 1, LockKind::shared, 0, {{0, 1}}}), "file number 0 is not valid");
  EXPECT_EQ(refusal(FreeCellRequest{0}), "cell number 0 is not valid");
}

TEST(ParseTest, NamesOfClientsCanBePrinted) {
  for (const std::string& good : {std::string(), std::string("process 5 on host"), std::string(255, '~')})
    EXPECT_TRUE(is_client_name(good)) << good;
  for (const std::string& bad : {std::string(256, 'x'), std::string("a\nb"), std::string("\x1b[2J"), std::string("é")})
    EXPECT_FALSE(is_client_name(bad)) << bad;
  const auto parsed = parse_client_message(write_message(Hello{protocol_version, 0, {}, 0, 0, "a\nb"}), limits);
  EXPECT_TRUE(std::holds_alternative<Malformed>(parsed));
}

TEST(ParseTest, PathsNameSomethingBeneathTheRoot) {
  for (const std::string& good : {std::string(), std::string("a"), std::string("a/b.c/..d"), std::string(255, 'x')})
    EXPECT_TRUE(is_path(good)) << good;
  for (const std::string& bad : {std::string("/"), std::string("/a"), std::string("a/"), std::string("a//b"),
                                 std::string("."), std::string(".."), std::string("a/../b"), std::string(256, 'x'),
                                 std::string("a\0b", 3), std::string(5000, '/')})
    EXPECT_FALSE(is_path(bad)) << bad;
  EXPECT_EQ(refusal(UnlinkRequest{"../a"}), "not a path within the volume");
  EXPECT_EQ(refusal(RenameRequest{"a", "/etc"}), "not a path within the volume");
  EXPECT_EQ(refusal(CheckEntryRequest{"../a"}), "not a path within the volume");
  EXPECT_EQ(refusal(RepairNameRequest{NameRepair::restore, 7, 5, "/a"}), "not a path within the volume");
  EXPECT_EQ(refusal(RepairNameRequest{static_cast<NameRepair>(0), 7, 5, "a"}), "unknown kind of repair");
  EXPECT_EQ(refusal(RepairNameRequest{static_cast<NameRepair>(6), 7, 5, "a"}), "unknown kind of repair");
}

TEST(ParseTest, AnotherVersionIsUnderstoodAsFarAsItsNumber) {
  std::vector<std::byte> bytes = write_message(Hello{protocol_version + 1, 0, {}, 0, 0, ""});
  bytes.resize(bytes.size() + 100);
  const auto parsed = parse_client_message(bytes, limits);
  ASSERT_TRUE(std::holds_alternative<ClientMessage>(parsed));
  EXPECT_EQ(std::get<Hello>(std::get<ClientMessage>(parsed)).version, protocol_version + 1);
}

TEST(ParseTest, BodiesComeBackAsTheyWere) {
  Entry entry{EntryKind::directory, 0751, 9, -5, {4, 3, 65536}}, same_entry;
  ASSERT_TRUE(parse_body(write_body(entry), same_entry));
  EXPECT_EQ(write_body(same_entry), write_body(entry));
  const DirectoryPage names{5, {{"one", EntryKind::file}, {"two", EntryKind::directory}}};
  DirectoryPage same_names;
  ASSERT_TRUE(parse_body(write_body(names), same_names));
  EXPECT_EQ(write_body(same_names), write_body(names));
  const EntryCheck entry_check{EntryState::damaged, CopyState::other, entry, std::string("a\0b", 3), "why"};
  EntryCheck same_entry_check;
  ASSERT_TRUE(parse_body(write_body(entry_check), same_entry_check));
  EXPECT_EQ(write_body(same_entry_check), write_body(entry_check));
  EXPECT_FALSE(
      parse_body(write_body(EntryCheck{static_cast<EntryState>(3), CopyState::whole, {}, "", ""}), same_entry_check));
  const CopyCheck copy_check{CopyState::damaged, true, {4, 3, 65536}, "a/b"};
  CopyCheck same_copy_check;
  ASSERT_TRUE(parse_body(write_body(copy_check), same_copy_check));
  EXPECT_EQ(write_body(same_copy_check), write_body(copy_check));
  EXPECT_FALSE(parse_body(write_body(CopyCheck{CopyState::whole, true, {}, "../a"}), same_copy_check));
  const NamesState state{7, 8};
  NamesState same_state;
  ASSERT_TRUE(parse_body(write_body(state), same_state));
  EXPECT_EQ(write_body(same_state), write_body(state));
  CellState cell{5, -7}, same_cell;
  ASSERT_TRUE(parse_body(write_body(cell), same_cell));
  EXPECT_EQ(same_cell.value, -7);
  EXPECT_FALSE(parse_body(write_body(CellState{}), same_cell)) << "no cell has the number 0";
  LockHolder holder{LockKind::shared, 7, {3, 4}, "process 5"}, same_holder;
  ASSERT_TRUE(parse_body(write_body(holder), same_holder));
  EXPECT_EQ(write_body(same_holder), write_body(holder));
  holder.name = "\x1b[2J";
  EXPECT_FALSE(parse_body(write_body(holder), same_holder));
  Reason reason;
  ASSERT_TRUE(parse_body(write_body(Reason{"no"}), reason));
  EXPECT_EQ(reason.text, "no");
  std::vector<std::byte> lying = write_body(DataPage{5, {{1, 2}, {3, 4, Health::too_short, 6}}});
  DataPage files;
  ASSERT_TRUE(parse_body(lying, files));
  EXPECT_EQ(files.files[1].health, Health::too_short);
  EXPECT_EQ(files.files[1].recorded_bytes, 6U);
  lying[8] = std::byte{0xff};  // 255 files, it says
  Verified verified;
  ASSERT_TRUE(parse_body(write_body(Verified{9, 8, {{4096, 4096}}}), verified));
  EXPECT_EQ(verified.end_block, 9U);
  EXPECT_EQ(verified.bytes, 8U);
  EXPECT_EQ(verified.damaged, (std::vector<ByteRun>{{4096, 4096}}));
  EXPECT_FALSE(parse_body(write_body(Verified{9, 8, {{4096, 0}}}), verified));
  DataPage too_many;
  EXPECT_FALSE(parse_body(lying, too_many));
}

TEST(SecretTest, CodesDependOnEverything) {
  const Secret secret = make_secret();
  const Nonce one = make_nonce(), two = make_nonce();
  const Code code = prove(secret, Role::client, 1, one, two);
  EXPECT_TRUE(are_equal(code, prove(secret, Role::client, 1, one, two)));
  EXPECT_FALSE(are_equal(code, prove(secret, Role::server, 1, one, two)));
  EXPECT_FALSE(are_equal(code, prove(secret, Role::client, 2, one, two)));
  EXPECT_FALSE(are_equal(code, prove(secret, Role::client, 1, two, one)));
  EXPECT_FALSE(are_equal(code, prove(make_secret(), Role::client, 1, one, two)));
  EXPECT_EQ(secret_of(to_hex(secret)), secret);
  EXPECT_ANY_THROW(secret_of(to_hex(secret).substr(1)));
  EXPECT_ANY_THROW(secret_of(std::string(64, 'g')));
}

}  // namespace
}  // namespace strider::listio
