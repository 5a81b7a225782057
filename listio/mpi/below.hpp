#pragma once
#include <mpi.h>

namespace strider::listio::mpi {

/// Of a variable or function of the MPI below.
void* address_below(const char* name);

#ifdef OPEN_MPI
// Open MPI's handles of predefined objects are addresses of its variables, which a library that is not linked with it
// has to look up.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                   \
  ([] {                                                                        \
    static void* const found = ::strider::listio::mpi::address_below(#global); \
    return static_cast<type>(found);                                           \
  }())
#define STRIDER_MPI_FUNCTION(type, name) (reinterpret_cast<type*>(::strider::listio::mpi::address_below(#name)))
#undef MPI_TYPE_NULL_COPY_FN
#define MPI_TYPE_NULL_COPY_FN STRIDER_MPI_FUNCTION(MPI_Type_copy_attr_function, OMPI_C_MPI_TYPE_NULL_COPY_FN)
#undef MPI_COMM_NULL_COPY_FN
#define MPI_COMM_NULL_COPY_FN STRIDER_MPI_FUNCTION(MPI_Comm_copy_attr_function, OMPI_C_MPI_COMM_NULL_COPY_FN)
#endif

// Tables of names.
// clang-format off
/// Functions of MPI for files, without their prefix. Every MPI since 3.1 has them.
#define STRIDER_MPI_BELOW_FILE(X)                                                                                    \
  X(File_c2f) X(File_call_errhandler) X(File_close) X(File_create_errhandler) X(File_delete) X(File_f2c)             \
  X(File_get_amode) X(File_get_atomicity) X(File_get_byte_offset) X(File_get_errhandler) X(File_get_group)           \
  X(File_get_info) X(File_get_position) X(File_get_position_shared) X(File_get_size) X(File_get_type_extent)         \
  X(File_get_view) X(File_iread) X(File_iread_all) X(File_iread_at) X(File_iread_at_all) X(File_iread_shared)        \
  X(File_iwrite) X(File_iwrite_all) X(File_iwrite_at) X(File_iwrite_at_all) X(File_iwrite_shared) X(File_open)       \
  X(File_preallocate) X(File_read) X(File_read_all) X(File_read_all_begin) X(File_read_all_end) X(File_read_at)      \
  X(File_read_at_all) X(File_read_at_all_begin) X(File_read_at_all_end) X(File_read_ordered)                         \
  X(File_read_ordered_begin) X(File_read_ordered_end) X(File_read_shared) X(File_seek) X(File_seek_shared)           \
  X(File_set_atomicity) X(File_set_errhandler) X(File_set_info) X(File_set_size) X(File_set_view) X(File_sync)       \
  X(File_write) X(File_write_all) X(File_write_all_begin) X(File_write_all_end) X(File_write_at)                     \
  X(File_write_at_all) X(File_write_at_all_begin) X(File_write_at_all_end) X(File_write_ordered)                     \
  X(File_write_ordered_begin) X(File_write_ordered_end) X(File_write_shared)

/// Other functions that the layer calls.
#define STRIDER_MPI_BELOW_OTHER(X)                                                                                   \
  X(Abort) X(Allgather) X(Allgatherv) X(Allreduce) X(Alltoall) X(Alltoallv) X(Barrier) X(Bcast)                      \
  X(Comm_call_errhandler) X(Comm_create_keyval) X(Comm_free) X(Comm_free_keyval) X(Comm_get_attr)                    \
  X(Comm_group) X(Comm_idup) X(Comm_rank) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size) X(Comm_split_type)    \
  X(Comm_test_inter) X(Errhandler_free) X(Error_class) X(Error_string) X(Exscan) X(Finalized) X(Get_count)           \
  X(Grequest_complete) X(Grequest_start) X(Iallgather) X(Iallreduce) X(Ialltoall) X(Ibcast) X(Info_create) X(Info_dup) X(Info_free)           \
  X(Info_get) X(Info_get_nkeys) X(Info_get_nthkey) X(Info_set) X(Initialized) X(Irecv) X(Isend) X(Query_thread)      \
  X(Recv) X(Request_free) X(Send) X(Status_set_cancelled) X(Status_set_elements) X(Status_set_elements_x) X(Test)    \
  X(Testall) X(Type_create_keyval) X(Type_dup) X(Type_free) X(Type_free_keyval) X(Type_get_attr)                     \
  X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) X(Type_get_extent_x) X(Type_get_true_extent_x)        \
  X(Type_set_attr) X(Type_size_x) X(Wait) X(Waitall)

/// Functions that an MPI older than the mpi.h of the build lacks: null there.
#if MPI_VERSION >= 4
#define STRIDER_MPI_BELOW_FILE_OPTIONAL(X)                                                                           \
  X(File_get_type_extent_c) X(File_iread_all_c) X(File_iread_at_all_c) X(File_iread_at_c) X(File_iread_c)            \
  X(File_iread_shared_c) X(File_iwrite_all_c) X(File_iwrite_at_all_c) X(File_iwrite_at_c) X(File_iwrite_c)           \
  X(File_iwrite_shared_c) X(File_read_all_begin_c) X(File_read_all_c) X(File_read_at_all_begin_c)                    \
  X(File_read_at_all_c) X(File_read_at_c) X(File_read_c) X(File_read_ordered_begin_c) X(File_read_ordered_c)         \
  X(File_read_shared_c) X(File_write_all_begin_c) X(File_write_all_c) X(File_write_at_all_begin_c)                   \
  X(File_write_at_all_c) X(File_write_at_c) X(File_write_c) X(File_write_ordered_begin_c) X(File_write_ordered_c)    \
  X(File_write_shared_c)
#define STRIDER_MPI_BELOW_OTHER_OPTIONAL(X) X(Type_get_contents_c) X(Type_get_envelope_c)
#else
#define STRIDER_MPI_BELOW_FILE_OPTIONAL(X)
#define STRIDER_MPI_BELOW_OTHER_OPTIONAL(X)
#endif
// clang-format on

/// The MPI of the program, by function pointers: the layer is linked with none, and may be loaded before it.
struct Below {
#define STRIDER_MPI_POINTER(name) decltype(&PMPI_##name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  STRIDER_MPI_BELOW_FILE(STRIDER_MPI_POINTER)
  STRIDER_MPI_BELOW_OTHER(STRIDER_MPI_POINTER)
  STRIDER_MPI_BELOW_FILE_OPTIONAL(STRIDER_MPI_POINTER)
  STRIDER_MPI_BELOW_OTHER_OPTIONAL(STRIDER_MPI_POINTER)
#undef STRIDER_MPI_POINTER
#ifdef MPICH_NUMVERSION
  decltype(&PMPIX_Grequest_start) Grequest_start_polled = nullptr;  ///< MPIX_Grequest_start; may be null
#endif
};

/// Resolved by the first call, which a function of MPI makes: then MPI is loaded. Functions for files are those of the
/// next tool in the chain of preloaded libraries (`MPI_File_*`), others are MPI's own (`PMPI_*`). Ends the process with
/// a message if there is no MPI, if there are two, or if it is of the family that this build is not for.
const Below& below();

}  // namespace strider::listio::mpi
