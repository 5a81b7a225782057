! An array of Fortran in a file, by the three interfaces of MPI for Fortran: mpif.h, the module mpi (BY_MODULE) and the
! module mpi_f08 (BY_F08).
!
!   fortran FILE
!
! Element (i, j) of the array of ROWS * (COLUMNS * ranks) integers is 1000 * j + i. A rank has every ranks-th column.
#ifdef BY_F08
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status) :: status
#else
#define HANDLE(kind) integer
#define STATUS integer :: status(MPI_STATUS_SIZE)
#endif

module handling
  implicit none
  integer :: handled = 0
contains
  subroutine handle(file, code)
#ifdef BY_F08
    use mpi_f08, only: MPI_File
#endif
    HANDLE(MPI_File) :: file
    integer :: code
    handled = code
  end subroutine handle
end module handling

program fortran
#if defined(BY_F08)
  use mpi_f08
#elif defined(BY_MODULE)
  use mpi
#endif
  use handling
  implicit none
#if !defined(BY_F08) && !defined(BY_MODULE)
  include 'mpif.h'
#endif
  integer, parameter :: rows = 7, columns = 5, n = rows * columns
  integer :: rank, ranks, code, mine(n), found(n)
  character(len=1000) :: name
  HANDLE(MPI_File) :: file

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, name)
  call fill
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
  call require(code == MPI_SUCCESS, 'MPI_File_open')
  call show_layer
  call write_columns
  call read_columns
  call read_by_requests
  call handle_errors
  call MPI_File_close(file, code)
  call require(code == MPI_SUCCESS, 'MPI_File_close')
  call open_what_is_not_there
  call MPI_Finalize(code)

contains

  subroutine require(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    integer :: ignored
    if (condition) return
    print *, 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine require

  subroutine fill
    integer :: i, j
    do j = 1, columns
      do i = 1, rows
        mine((j - 1) * rows + i) = 1000 * ((j - 1) * ranks + rank) + i - 1
      end do
    end do
  end subroutine fill

  subroutine show_layer
    HANDLE(MPI_Info) :: info
    character(len=64) :: value
    logical :: flag
    call MPI_File_get_info(file, info, code)
    call MPI_Info_get(info, 'listio_layer', 63, value, flag, code)
    if (rank == 0) print '(a, i0)', 'layer ', merge(1, 0, flag)
    call MPI_Info_free(info, code)
  end subroutine show_layer

  subroutine write_columns
    HANDLE(MPI_Datatype) :: view
    integer(kind=MPI_OFFSET_KIND) :: displacement
    integer(kind=MPI_OFFSET_KIND) :: position
    integer :: distributions(2), arguments(2), grid(2), count
    STATUS
    distributions = [MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC]
    arguments = MPI_DISTRIBUTE_DFLT_DARG
    grid = [1, ranks]
    call MPI_Type_create_darray(ranks, rank, 2, [rows, columns * ranks], distributions, arguments, grid, &
                                MPI_ORDER_FORTRAN, MPI_INTEGER, view, code)
    call MPI_Type_commit(view, code)
    displacement = 16
    call MPI_File_set_view(file, displacement, MPI_INTEGER, view, 'native', MPI_INFO_NULL, code)
    call require(code == MPI_SUCCESS, 'MPI_File_set_view')
    call MPI_File_write_all(file, mine, n, MPI_INTEGER, status, code)
    call require(code == MPI_SUCCESS, 'MPI_File_write_all')
    call MPI_Get_count(status, MPI_INTEGER, count, code)
    call require(count == n, 'the count written')
    call MPI_File_get_position(file, position, code)
    call require(position == n, 'the position')
    call MPI_Type_free(view, code)
    call MPI_File_sync(file, code)
  end subroutine write_columns

  subroutine read_columns
    integer(kind=MPI_OFFSET_KIND) :: position
    STATUS
    position = rows
    found = -1
    call MPI_File_read_at_all(file, position, found, n - rows, MPI_INTEGER, status, code)
    call require(code == MPI_SUCCESS, 'MPI_File_read_at_all')
    call require(all(found(:n - rows) == mine(rows + 1:)), 'numbers of read_at_all')
    position = 0
    call MPI_File_seek(file, position, MPI_SEEK_SET, code)
    call MPI_File_read(file, found, n, MPI_INTEGER, status, code)
    call require(code == MPI_SUCCESS .and. all(found == mine), 'numbers of read')
  end subroutine read_columns

  subroutine read_by_requests
    HANDLE(MPI_Request) :: request
    integer(kind=MPI_OFFSET_KIND) :: position
    STATUS
    position = 0
    found = -1
    call MPI_File_iread_at(file, position, found, n, MPI_INTEGER, request, code)
    call require(code == MPI_SUCCESS, 'MPI_File_iread_at')
    call MPI_Wait(request, status, code)
    call require(code == MPI_SUCCESS .and. all(found == mine), 'numbers of iread_at')
  end subroutine read_by_requests

  ! The handler gets the code; so does the caller.
  subroutine handle_errors
    HANDLE(MPI_Errhandler) :: handler
    integer(kind=MPI_OFFSET_KIND) :: position
    integer :: error_class, ignored
    STATUS
    call MPI_File_create_errhandler(handle, handler, code)
    call MPI_File_set_errhandler(file, handler, code)
    call MPI_Errhandler_free(handler, code)
    position = -1
    call MPI_File_read_at(file, position, found, 1, MPI_INTEGER, status, code)
    call MPI_Error_class(code, error_class, ignored)
    call require(error_class == MPI_ERR_ARG .and. handled == code, 'a negative offset')
  end subroutine handle_errors

  subroutine open_what_is_not_there
    HANDLE(MPI_File) :: other
    integer :: error_class, ignored
    call MPI_File_open(MPI_COMM_WORLD, trim(name) // '-none', MPI_MODE_RDONLY, MPI_INFO_NULL, other, code)
    call MPI_Error_class(code, error_class, ignored)
    call require(error_class == MPI_ERR_NO_SUCH_FILE, 'a file that is not there')
  end subroutine open_what_is_not_there
end program fortran
