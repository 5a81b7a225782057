/* Enough of a second MPI library, to be loaded beside a program's own. */
int PMPI_Init(int *count, char ***words) { return count != 0 && words != 0; }
