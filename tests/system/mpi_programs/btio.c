/* The I/O of the NAS benchmark BT: a cube of cells of five doubles, spread over a square number of ranks as BT does,
 * and appended to a file by each time step through one file view.
 *
 *   btio FILE EDGE STEPS collective|independent
 *
 * The double m of cell (x, y, z) of step s is s * 1e6 + ((z * EDGE + y) * EDGE + x) * 5 + m. Each rank has as many
 * blocks as there are ranks in a row, on a diagonal; its memory has two cells around each block. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLES = 5, AROUND = 2, MOST_BLOCKS = 8 };

static int rank, ranks, edge, row, blocks;
static int starts[MOST_BLOCKS][3], sizes[MOST_BLOCKS][3];

static void require(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  fprintf(stderr, "rank %d: %s failed with code %d\n", rank, what, error);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int first_of(int part) { return part * (edge / row) + (part < edge % row ? part : edge % row); }

static void place_blocks(void) {
  for (int b = 0; b < blocks; b++) {
    /* z, y, x: the diagonal of BT's multi-partition */
    int at[3] = {b, (rank / row + b) % row, (rank % row + b) % row};
    for (int d = 0; d < 3; d++) {
      starts[b][d] = first_of(at[d]);
      sizes[b][d] = first_of(at[d] + 1) - starts[b][d];
    }
  }
}

static size_t padded(int block) {
  size_t cells = 1;
  for (int d = 0; d < 3; d++) cells *= (size_t)(sizes[block][d] + 2 * AROUND);
  return cells * DOUBLES;
}

static MPI_Datatype block_type(const int* whole, const int* part, const int* start) {
  int size[4] = {whole[0], whole[1], whole[2], DOUBLES}, length[4] = {part[0], part[1], part[2], DOUBLES};
  int first[4] = {start[0], start[1], start[2], 0};
  MPI_Datatype type;
  MPI_Type_create_subarray(4, size, length, first, MPI_ORDER_C, MPI_DOUBLE, &type);
  return type;
}

static void make_types(MPI_Datatype* memory, MPI_Datatype* file) {
  MPI_Datatype inner[MOST_BLOCKS], outer[MOST_BLOCKS];
  MPI_Aint places[MOST_BLOCKS], zeros[MOST_BLOCKS] = {0}, at = 0;
  int ones[MOST_BLOCKS], cube[3] = {edge, edge, edge}, around[3] = {AROUND, AROUND, AROUND};
  for (int b = 0; b < blocks; b++) {
    int whole[3];
    for (int d = 0; d < 3; d++) whole[d] = sizes[b][d] + 2 * AROUND;
    inner[b] = block_type(whole, sizes[b], around);
    outer[b] = block_type(cube, sizes[b], starts[b]);
    places[b] = at;
    ones[b] = 1;
    at += (MPI_Aint)(padded(b) * sizeof(double));
  }
  MPI_Type_create_struct(blocks, ones, places, inner, memory);
  MPI_Type_create_struct(blocks, ones, zeros, outer, file);
  MPI_Type_commit(memory);
  MPI_Type_commit(file);
  for (int b = 0; b < blocks; b++) {
    MPI_Type_free(&inner[b]);
    MPI_Type_free(&outer[b]);
  }
}

static double value_of(int step, int z, int y, int x, int m) {
  return step * 1e6 + (((double)z * edge + y) * edge + x) * DOUBLES + m;
}

/* Sets, or compares, the cells of this rank; returns the number of wrong ones. */
static long set_or_compare(double* memory, int step, int compares) {
  long wrong = 0;
  for (int b = 0; b < blocks; memory += padded(b++))
    for (int z = 0; z < sizes[b][0]; z++)
      for (int y = 0; y < sizes[b][1]; y++)
        for (int x = 0; x < sizes[b][2]; x++)
          for (int m = 0; m < DOUBLES; m++) {
            size_t at = (((size_t)(z + AROUND) * (size_t)(sizes[b][1] + 2 * AROUND) + (size_t)(y + AROUND)) *
                             (size_t)(sizes[b][2] + 2 * AROUND) +
                         (size_t)(x + AROUND)) *
                            DOUBLES +
                        (size_t)m;
            double value = value_of(step, starts[b][0] + z, starts[b][1] + y, starts[b][2] + x, m);
            if (compares) wrong += memory[at] != value;
            else memory[at] = value;
          }
  return wrong;
}

static void show_layer(MPI_File file) {
  MPI_Info info;
  char value[64];
  int found = 0;
  MPI_File_get_info(file, &info);
  if (info != MPI_INFO_NULL) {
    MPI_Info_get(info, "listio_layer", 63, value, &found);
    MPI_Info_free(&info);
  }
  if (rank == 0) printf("layer %d\n", found);
}

int main(int count, char** words) {
  MPI_Datatype memory_type, file_type;
  MPI_File file;
  MPI_Status status;
  double* memory;
  size_t doubles = 0;
  long wrong = 0;
  int steps, together;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  edge = atoi(words[2]);
  steps = atoi(words[3]);
  together = strcmp(words[4], "collective") == 0;
  for (row = 1; row * row < ranks;) row++;
  blocks = row;
  if (row * row != ranks || blocks > MOST_BLOCKS) require(MPI_ERR_OTHER, "a square number of ranks");
  place_blocks();
  make_types(&memory_type, &file_type);
  for (int b = 0; b < blocks; b++) doubles += padded(b);
  memory = calloc(doubles, sizeof *memory);
  require(MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
          "MPI_File_open");
  show_layer(file);
  require(MPI_File_set_view(file, 0, MPI_DOUBLE, file_type, "native", MPI_INFO_NULL), "MPI_File_set_view");
  for (int step = 0; step < steps; step++) {
    set_or_compare(memory, step, 0);
    require(together ? MPI_File_write_all(file, memory, 1, memory_type, &status)
                     : MPI_File_write(file, memory, 1, memory_type, &status),
            "MPI_File_write");
  }
  require(MPI_File_seek(file, 0, MPI_SEEK_SET), "MPI_File_seek");
  for (int step = 0; step < steps; step++) {
    memset(memory, 0, doubles * sizeof *memory);
    require(together ? MPI_File_read_all(file, memory, 1, memory_type, &status)
                     : MPI_File_read(file, memory, 1, memory_type, &status),
            "MPI_File_read");
    wrong += set_or_compare(memory, step, 1);
  }
  require(MPI_File_close(&file), "MPI_File_close");
  if (wrong > 0) fprintf(stderr, "rank %d: %ld doubles are wrong\n", rank, wrong);
  free(memory);
  MPI_Type_free(&memory_type);
  MPI_Type_free(&file_type);
  MPI_Finalize();
  return wrong > 0;
}
