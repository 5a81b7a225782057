#include <gtest/gtest.h>

#include "interfaces/folder.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/mpi_group.hpp"
#include "mpi_session.hpp"

namespace strider {
namespace {

std::unique_ptr<Interface> mpiio(const std::string& access, const TextMap& hints = {}, const std::string& prefix = "") {
  Settings settings;
  settings.set("access", access);
  settings.set("method", std::string("list"));
  settings.set("prefix", prefix);
  settings.set("hints", hints);
  return find_interface("mpiio")->make(settings);
}

TEST(MpiIo, CooperatesAsItsAccessSays) {
  EXPECT_EQ(mpiio("independent")->cooperation({}), Cooperation::collective_open);
  EXPECT_EQ(mpiio("collective")->cooperation({}), Cooperation::collective);
}

TEST(MpiIo, MovesAsMuchInOneCallAsAnIntCounts) { EXPECT_EQ(mpiio("independent")->largest_transfer(), 2147483647U); }

TEST(MpiIo, ReportsTheHintsInForce) {
  need_mpi();
  const Folder folder;
  const Group self;
  const auto interface = mpiio("collective", {{"cb_buffer_size", "1048576"}});
  const auto file = interface->open({folder.file("file"), Access::write, Creation::create, 4096, {}, &self});
  const Facts facts = file->facts();
  file->close();
  interface->remove(folder.file("file"));
  if (facts.empty()) GTEST_SKIP() << "machine: this MPI library reports no hints";
  EXPECT_EQ(facts.at("hint.cb_buffer_size"), "1048576");
}

TEST(MpiIo, PutsThePrefixBeforeTheName) {
  need_mpi();
  const Folder folder;
  const Group self;
  const auto interface = mpiio("independent", {}, "nodriver:");
  try {
    interface->open({folder.file("file"), Access::read, Creation::existing, 4096, {}, &self});
    FAIL() << "a file with an unknown driver was opened";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().call, "MPI_File_open");
    EXPECT_EQ(error.details().file, "nodriver:" + folder.file("file"));
  }
}

}  // namespace
}  // namespace strider
