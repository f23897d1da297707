! t_fortran.F90: the module trisolve, in four types of numbers.  What is solved is compared by its residual with a full
! matrix, which is multiplied here.  It prints TAP.
program t_fortran
   use trisolve
   implicit none
   integer :: tests = 0
   integer, parameter :: n = 40, all_ops = 7 ! bits 0, 1, 2: N, T, H

   call types_f64()
   call types_f32()
   call types_c64()
   call types_c32()
   call index_kinds()
   call shapes()
   call pivots()
   call misuse()
   call owners()
   call incomplete_factors()
   call files()
   print '(a, i0)', '1..', tests

contains

   subroutine ok(right, what)
      logical, intent(in) :: right
      character(*), intent(in) :: what
      tests = tests + 1
      if (right) then
         print '(a, i0, 2a)', 'ok ', tests, ' - ', trim(what)
      else
         print '(a, i0, 2a)', 'not ok ', tests, ' - ', trim(what)
      end if
   end subroutine ok

   ! Where a random triangle has entries
   elemental logical function stored(i, j)
      integer, intent(in) :: i, j
      stored = j == i .or. (j < i .and. mod(i + 3*j, 5) == 0)
   end function stored

#define PASTE(a) a
#define NAME(a) PASTE(a)_f64
#define NUMBER real(c_double)
#define REAL_KIND c_double
#define RANDOM(a) call random_number(a)
#define CONJUGATE(a) a
#include "t_fortran.inc"
#undef NAME
#undef NUMBER
#undef REAL_KIND
#define NAME(a) PASTE(a)_f32
#define NUMBER real(c_float)
#define REAL_KIND c_float
#include "t_fortran.inc"
#undef NAME
#undef NUMBER
#undef REAL_KIND
#undef RANDOM
#undef CONJUGATE
#define NAME(a) PASTE(a)_c64
#define NUMBER complex(c_double)
#define REAL_KIND c_double
#define RANDOM(a) call random_number(a%re); call random_number(a%im)
#define CONJUGATE(a) conjg(a)
#include "t_fortran.inc"
#undef NAME
#undef NUMBER
#undef REAL_KIND
#define NAME(a) PASTE(a)_c32
#define NUMBER complex(c_float)
#define REAL_KIND c_float
#include "t_fortran.inc"

   ! [4 . .]
   ! [1 4 .]  x = b,  in which kinds of integers the indices are
   ! [. 2 4]
   subroutine index_kinds()
      integer(c_int32_t), target :: ptr(4) = [1, 2, 4, 6], idx(5) = [1, 1, 2, 2, 3]
      integer(c_int64_t), target :: ptr8(4) = [1, 2, 4, 6], idx8(5) = [1, 1, 2, 2, 3]
      real(c_double), target :: val(5) = [4, 1, 4, 2, 4]
      real(c_double) :: b(3) = [4, 9, 16], x(3)
      type(trs_mat) :: A(4)
      type(trs_options) :: options
      integer :: k
      A = [trs_matrix(ptr, idx, val, TRS_LOWER), trs_matrix(ptr8, idx, val, TRS_LOWER), &
         trs_matrix(ptr8, idx8, val, TRS_LOWER), trs_matrix(ptr, idx, val, TRS_UPPER, TRS_CSC)]
      options%ops = all_ops
      do k = 1, 4
         block
            type(trs_plan_t) :: plan
            call plan%create(A(k), options)
            call plan%analyse()
            call plan%solve(b, x, merge(TRS_N, TRS_T, k < 4))
            call ok(all(x == [1, 2, 3]), 'kinds of indices')
         end block
      end do
   end subroutine index_kinds

   ! Columns, rows, sections of arrays, empty ones
   subroutine shapes()
      real(c_double), target :: val(3, 3) = reshape([2, 2, 4, 0, 4, 4, 0, 0, 8], [3, 3])
      real(c_double) :: b(3, 4), x(3, 4), by_rows(4, 3), wide(9, 9), none(3, 0), nothing(3, 0)
      type(trs_plan_t) :: plan
      type(trs_exec) :: exec
      type(trs_mat) :: A
      A = trs_matrix(val, TRS_LOWER)
      call plan%create(A, solver='cpu-serial')
      call ok(trs_text(c_null_ptr) == '', 'no text')
      call plan%analyse()
      associate (info => plan%info())
         call ok(info%n == 3 .and. info%levels == 3 .and. trs_text(info%solver) == 'cpu-serial', 'facts')
      end associate
      call random_number(b)
      call plan%solve(b, x)
      call ok(maxval(abs(matmul(val, x) - b)) < 1e-14, 'columns')
      exec%layout = TRS_ROW_MAJOR
      call plan%solve(transpose(b), by_rows, exec=exec)
      call ok(maxval(abs(by_rows - transpose(x))) < 1e-14, 'rows')
      wide = -1
      wide(1:9:4, 2:8:2) = b
      call plan%solve(wide(1:9:4, 2:8:2), wide(2:4, 1:7:2))
      call ok(maxval(abs(wide(2:4, 1:7:2) - x)) == 0 .and. count(wide == -1) == 57, 'sections')
      wide(1, 1:3) = b(:, 1)
      call plan%solve(wide(1, 1:3), wide(1:3, 9))
      call ok(maxval(abs(wide(1:3, 9) - x(:, 1))) == 0, 'a section that is a vector')
      call plan%solve(none, nothing)
      call ok(.true., 'no right-hand side')
   end subroutine shapes

   ! Sentences and codes; rows count from 1; new values
   subroutine pivots()
      integer(c_int), target :: ptr(4) = [1, 2, 3, 4], idx(3) = [1, 2, 3]
      real(c_double), target :: val(3) = [1, 0, 2]
      real(c_double) :: x(3), b(3) = [1, 2, 3]
      type(trs_plan_t) :: plan
      type(trs_lu_t) :: lu
      type(trs_mat) :: D
      type(trs_det) :: det
      integer(c_int64_t) :: bad, first
      integer :: stat
      character(80) :: errmsg
      D = trs_matrix(ptr, idx, val, TRS_LOWER)
      call plan%create(D)
      errmsg = 'as it was'
      call plan%analyse(stat, errmsg)
      call ok(stat == TRS_EPIVOT .and. index(errmsg, 'row 2') > 0, errmsg)
      call plan%pivots(bad, first)
      call ok(bad == 1 .and. first == 2, 'where the bad pivot is')
      call plan%solve(b, x, stat=stat)
      call ok(stat == TRS_ESTATE, 'no solve without values')
      val(2) = 4
      errmsg = 'as it was'
      call plan%update(D, stat=stat, errmsg=errmsg)
      call ok(stat == TRS_OK .and. errmsg == 'as it was', 'new values')
      call plan%solve(b, x)
      call ok(all(x == [1.0_c_double, 0.5_c_double, 1.5_c_double]), 'and x by them')
      call plan%determinant(det)
      call ok(det%re*det%mantissa*2.0_c_double**det%exponent == 8, 'determinant')
      D%kind = 0
      val(3) = 0
      call lu%ilu(D, stat=stat, errmsg=errmsg)
      call ok(stat == TRS_EPIVOT .and. index(errmsg, 'row 3') > 0, errmsg)
      call lu%status(bad, first, stat=stat)
      call ok(stat /= TRS_OK, 'of factors too')
      val(3) = 1
      call lu%update(D)
      call lu%status(bad)
      call lu%solve(b, x)
      call ok(all(x == [1.0_c_double, 0.5_c_double, 3.0_c_double]) .and. bad == 0, 'and their new values')
   end subroutine pivots

   ! Arrays that do not fit, objects that are empty
   subroutine misuse()
      integer(c_int), target :: ptr(4) = [1, 2, 3, 4], idx(3) = [1, 2, 3]
      real(c_double), target :: val(3) = [1, 2, 3], full(3, 2) = 1
      real(c_double) :: x(3), b(3) = 1, short(2), columns(3, 2)
      real(c_float) :: single(3) = 1, x4(3)
      complex(c_double) :: z(3) = 1, z8(3)
      type(trs_plan_t) :: plan, empty
      type(trs_lu_t) :: no_factors
      type(trs_mat) :: D
      integer :: stat(9)
      character(200) :: errmsg
      D = trs_matrix(ptr, idx, val, TRS_LOWER)
      call plan%create(trs_matrix(ptr, idx(:2), val, TRS_LOWER), stat=stat(1))
      call plan%create(trs_matrix(ptr(1:0), idx(1:0), val(1:0), TRS_LOWER), stat=stat(2))
      call plan%create(trs_matrix(full, TRS_LOWER), stat=stat(3))
      call ok(all(stat(:3) == TRS_EARG), 'matrices whose lengths do not match')
      call plan%create(D, solver='no-such', stat=stat(1), errmsg=errmsg)
      call ok(stat(1) == TRS_ESUPPORT .and. index(errmsg, 'no-such') > 0, errmsg)
      call empty%analyse(stat(1))
      call empty%solve(b, x, stat=stat(2))
      call no_factors%solve(b, x, stat=stat(3))
      call empty%update(D, stat=stat(4))
      call no_factors%update(D, stat=stat(5))
      call ok(all(stat(:5) == TRS_EARG), 'objects that are empty')
      call plan%create(D)
      call plan%analyse()
      call plan%solve(b, short, stat=stat(1), errmsg=errmsg)
      call plan%solve(short, short, stat=stat(2))
      call plan%solve(columns, columns(:, :1), stat=stat(3))
      call plan%solve(single, x4, stat=stat(4))
      call plan%solve(z, z8, stat=stat(5))
      call plan%refine(D, single, x4, stat=stat(6))
      call trs_matmul(D, z, z8, stat=stat(7))
      call trs_matmul(D, b, short, stat=stat(8))
      call ok(all(stat(:8) == TRS_EARG), errmsg)
      call plan%solve(b, x, TRS_T, stat=stat(1))
      call ok(stat(1) /= TRS_OK, 'an op that was not announced')
   end subroutine misuse

   ! Objects that are made again, in arrays, in functions, with work spaces of their own
   subroutine owners()
      integer(c_int), target :: ptr(4) = [1, 2, 3, 4], idx(3) = [1, 2, 3]
      real(c_double), target :: val(3) = [1, 2, 4]
      real(c_double) :: x(3), b(3) = 1
      type(trs_plan_t) :: plans(3)
      type(trs_plan_t), allocatable :: one, moved
      type(trs_work_t) :: work
      type(trs_lu_t) :: lu
      type(trs_lu_work_t) :: lu_work
      type(trs_exec) :: exec
      type(trs_mat) :: D
      integer :: k, stat
      D = trs_matrix(ptr, idx, val, TRS_LOWER)
      do k = 1, 6
         call plans(mod(k, 3) + 1)%create(D)
         call plans(mod(k, 3) + 1)%analyse()
      end do
      call work%create(plans(1), 1)
      call work%fit(plans(2), 2)
      exec%work = work%handle
      call plans(2)%solve(b, x, exec=exec)
      call ok(all(x == [1.0_c_double, 0.5_c_double, 0.25_c_double]), 'a work space')
      call work%destroy()
      call work%destroy()
      call plans(3)%destroy()
      call plans(3)%solve(b, x, stat=stat)
      call ok(stat == TRS_EARG, 'destroyed twice, not used again')
      allocate (one)
      call one%create(D)
      call one%analyse()
      call move_alloc(one, moved)
      call moved%solve(b, x)
      call ok(all(x == [1.0_c_double, 0.5_c_double, 0.25_c_double]), 'moved')
      D%kind = 0
      call lu%ilu(D)
      call lu%ilu(D)
      call lu_work%create(lu, 2)
      exec%work = c_null_ptr
      exec%lu_work = lu_work%handle
      call lu%solve(b, x, exec=exec)
      call ok(all(x == [1.0_c_double, 0.5_c_double, 0.25_c_double]), 'a work space of factors')
   end subroutine owners

   ! Of a tridiagonal matrix incomplete factors are complete
   subroutine incomplete_factors()
      integer(c_int), target :: ptr(n + 1), idx(3*n - 2)
      real(c_double), target :: val(3*n - 2)
      real(c_double) :: x(n), b(n), y(n)
      type(trs_ilu_options) :: options
      type(trs_mat) :: A
      integer :: i, j, k, method
      k = 0
      do i = 1, n
         ptr(i) = k + 1
         do j = max(i - 1, 1), min(i + 1, n)
            k = k + 1
            idx(k) = j
            val(k) = merge(2 + i, -1, j == i)
         end do
      end do
      ptr(n + 1) = k + 1
      A = trs_matrix(ptr, idx, val)
      call random_number(y)
      call trs_matmul(A, y, b)
      do i = 2, n - 1
         if (abs(b(i) - ((2 + i)*y(i) - y(i - 1) - y(i + 1))) > 1e-12) exit
      end do
      call ok(i == n, 'a product')
      do method = TRS_ILU0, TRS_ICT
         block
            type(trs_lu_t) :: lu
            type(trs_error) :: error
            integer :: steps
            options%method = method
            call lu%ilu(A, options)
            associate (info => lu%info())
               call ok(info%n == n .and. index(trs_text(info%library), 'I') == 1, trs_text(info%library))
            end associate
            call lu%solve(b, x)
            call ok(maxval(abs(x - y)) < 1e-14, 'factors that are complete')
            x = 0
            call lu%refine(A, b, x, steps=steps, error=error)
            call ok(maxval(abs(x - y)) < 1e-14 .and. steps > 0 .and. error%stop == TRS_STOP_CONVERGED, 'refined from 0')
         end block
      end do
   end subroutine incomplete_factors

   ! A matrix of the tree by the C functions, a plan that is saved
   subroutine files()
      type(trs_mm), target :: mm
      type(trs_mm_options), target :: options
      type(trs_mat), target :: A
      type(trs_plan_t) :: plan, again
      real(c_double), allocatable :: x(:), b(:), y(:)
      character(:), allocatable, target :: name
      character(200) :: source
      integer :: stat
      character(200) :: errmsg
      call get_environment_variable('TRS_SRCDIR', source)
      if (source == '') source = '.'
      name = trim(source)//'/matrices/1138_bus.mtx'//c_null_char
      options%base = 1
      call trs_check(trs_mm_read(c_loc(name), c_loc(options), c_loc(mm)))
      call trs_check(trs_mm_mat(c_loc(mm), TRS_LOWER, c_loc(A)))
      allocate (x(A%n), b(A%n), y(A%n))
      call random_number(y)
      call trs_matmul(A, y, b)
      call plan%create(A)
      call plan%analyse()
      call plan%solve(b, x)
      call ok(maxval(abs(x - y)) < 1e-9, 'a triangle of a file')
      call plan%save('t_fortran.plan', stat, errmsg)
      if (stat == TRS_ESUPPORT) then
         call ok(.true., errmsg)
      else
         call again%create(A)
         call again%load('t_fortran.plan')
         open (10, file='t_fortran.plan')
         close (10, status='delete')
         y = x
         call again%solve(b, x)
         call ok(all(x == y), 'a plan that was saved')
      end if
      call again%create(A)
      call again%load('t_fortran.none', stat, errmsg)
      call ok(stat /= TRS_OK .and. len_trim(errmsg) > 0, errmsg)
      call trs_mm_free(c_loc(mm))
   end subroutine files

end program t_fortran
