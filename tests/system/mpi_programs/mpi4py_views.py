"""Views of mpi4py on files: subarray, darray, hindexed and nested struct types.

Usage: mpi4py_views.py PREFIX. A file NAME is PREFIXNAME. Rank r writes bytes of the value r + 1: a file then
shows the type of each rank.
"""

import sys

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()


def subarray() -> MPI.Datatype:
    """Rows of 4 of a matrix of 4 RANKS x 6, columns 1 to 4 of them."""
    return MPI.INT32_T.Create_subarray([4 * RANKS, 6], [4, 4], [4 * RANK, 1], order=MPI.ORDER_C)


def darray() -> MPI.Datatype:
    """A matrix of 7 x 5 in Fortran's order: rows in blocks of 2 by turns, all columns."""
    return MPI.INT32_T.Create_darray(
        RANKS,
        RANK,
        [7, 5],
        [MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_NONE],
        [2, MPI.DISTRIBUTE_DFLT_DARG],
        [RANKS, 1],
        order=MPI.ORDER_F,
    )


def hindexed() -> MPI.Datatype:
    """Blocks of 3, 1 and 2 integers, 40 bytes apart; ranks in turn."""
    places = [(3 * block + 0) * 40 * RANKS + 40 * RANK for block in range(3)]
    made = MPI.INT32_T.Create_hindexed([3, 1, 2], places)
    return made.Create_resized(0, 9 * 40 * RANKS)


def nested() -> MPI.Datatype:
    """A struct of a vector, of a struct with a hole, and of a double."""
    vector = MPI.INT16_T.Create_vector(3, 1, 2)
    inner = MPI.Datatype.Create_struct([1, 2], [0, 4], [MPI.BYTE, MPI.INT16_T])
    outer = MPI.Datatype.Create_struct(
        [1, 2, 1], [0, 12, 32], [vector, inner.Create_resized(0, 8), MPI.DOUBLE]
    )
    made = MPI.Datatype.Create_struct([1], [48 * RANK], [outer])
    return made.Create_resized(0, 48 * RANKS)


def write_and_read(name: str, filetype: MPI.Datatype) -> None:
    filetype.Commit()
    size = 3 * filetype.Get_size()
    own = bytes([RANK + 1]) * size
    file = MPI.File.Open(COMM, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
    info = file.Get_info()
    print("layer", int(info.Get("listio_layer") is not None), flush=True)
    info.Free()
    file.Set_view(10, MPI.BYTE, filetype)
    file.Write_all([own, MPI.BYTE])
    file.Sync()
    COMM.Barrier()
    file.Sync()
    found = bytearray(size)
    status = MPI.Status()
    file.Read_at_all(0, [found, MPI.BYTE], status)
    assert (bytes(found), status.Get_count(MPI.BYTE)) == (own, size), name
    file.Close()


for make in (subarray, darray, hindexed, nested):
    write_and_read(sys.argv[1] + make.__name__, make())
