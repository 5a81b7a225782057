/* Two data sets of HDF5, contiguous and chunked, written and read by all ranks, collectively and independently.
 *
 *   hdf5_sets FILE
 *
 * Element (i, j) of `contiguous` is i * 1000 + j, of `chunked` its negative. Rank r has the rows r, r + ranks, …, and
 * of them every column by two selections: the even columns by independent access, the odd ones collectively. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 12, COLUMNS = 64 };

static int rank, ranks;

static void require(long long done, const char* what) {
  if (done >= 0) return;
  fprintf(stderr, "rank %d: %s failed\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The elements of this rank in columns odd, odd + 2, …: rows rank, rank + ranks, … */
static hid_t selection(int odd) {
  hsize_t size[2] = {ROWS, COLUMNS}, start[2] = {(hsize_t)rank, (hsize_t)odd}, stride[2] = {(hsize_t)ranks, 2};
  hsize_t count[2] = {(hsize_t)(ROWS - rank + ranks - 1) / (hsize_t)ranks, COLUMNS / 2};
  hid_t space = H5Screate_simple(2, size, NULL);
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL), "H5Sselect_hyperslab");
  return space;
}

static void move(hid_t set, int odd, int* values, int writes) {
  hid_t space = selection(odd), list = H5Pcreate(H5P_DATASET_XFER);
  require(H5Pset_dxpl_mpio(list, odd ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT), "H5Pset_dxpl_mpio");
  if (writes) require(H5Dwrite(set, H5T_NATIVE_INT, space, space, list, values), "H5Dwrite");
  else require(H5Dread(set, H5T_NATIVE_INT, space, space, list, values), "H5Dread");
  H5Pclose(list);
  H5Sclose(space);
}

static void set_of(hid_t file, const char* name, int is_chunked, int sign) {
  int *values = calloc(ROWS * COLUMNS, sizeof *values), *found = calloc(ROWS * COLUMNS, sizeof *found);
  hsize_t size[2] = {ROWS, COLUMNS}, chunk[2] = {5, 16};
  hid_t space = H5Screate_simple(2, size, NULL), list = H5Pcreate(H5P_DATASET_CREATE), set;
  if (is_chunked) require(H5Pset_chunk(list, 2, chunk), "H5Pset_chunk");
  set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
  require(set, "H5Dcreate2");
  for (int i = rank; i < ROWS; i += ranks)
    for (int j = 0; j < COLUMNS; j++) values[i * COLUMNS + j] = sign * (i * 1000 + j);
  for (int odd = 0; odd < 2; odd++) move(set, odd, values, 1);
  for (int odd = 0; odd < 2; odd++) move(set, odd, found, 0);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    if (found[i] != values[i]) {
      fprintf(stderr, "rank %d: %s[%d] is %d, not %d\n", rank, name, i, found[i], values[i]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  H5Dclose(set);
  H5Pclose(list);
  H5Sclose(space);
  free(values);
  free(found);
}

static void show_layer(hid_t file) {
  MPI_File* handle;
  MPI_Info info;
  char value[64];
  int found = 0;
  require(H5Fget_vfd_handle(file, H5P_DEFAULT, (void**)&handle), "H5Fget_vfd_handle");
  MPI_File_get_info(*handle, &info);
  if (info != MPI_INFO_NULL) {
    MPI_Info_get(info, "listio_layer", 63, value, &found);
    MPI_Info_free(&info);
  }
  if (rank == 0) printf("layer %d\n", found);
}

int main(int count, char** words) {
  hid_t access, file;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  access = H5Pcreate(H5P_FILE_ACCESS);
  require(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
  file = H5Fcreate(words[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  require(file, "H5Fcreate");
  show_layer(file);
  set_of(file, "contiguous", 0, 1);
  set_of(file, "chunked", 1, -1);
  require(H5Fclose(file), "H5Fclose");
  H5Pclose(access);
  MPI_Finalize();
  return 0;
}
