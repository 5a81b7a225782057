// Rank 0 sends 4 MiB to each other rank; prints a line when all have them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { bytes = 4 << 20 };

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* const data = calloc(bytes, 1);
  for (int other = 1; rank == 0 && other < ranks; ++other) MPI_Send(data, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  if (rank > 0) MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    puts("received");
    fflush(stdout);
  }
  free(data);
  MPI_Finalize();
  return 0;
}
