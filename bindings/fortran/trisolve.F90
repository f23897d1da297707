! trisolve.F90: trisolve-sparse in Fortran 2008, with arrays.
!
!    type(trs_plan_t) :: plan
!    call plan%create(trs_matrix(ptr, idx, val, TRS_LOWER))     checks the triangle
!    call plan%analyse()                                        levels, choice of a solver
!    call plan%solve(b, x)                                      L x = b, as often as wanted
!
! Each procedure calls the C function whose page of the manual says what it does (man trs_solve); here stand who frees and
! what lengths arrays have.  The module trisolve_sparse_c, which is made from the header in C, has the derived types, the
! constants and the C functions themselves, and `use trisolve` gives them too.
!
! Numbers are real or complex of the kinds c_float (real32) and c_double (real64); indices are integers of 32 or 64 bits,
! and count from 1.  Vectors are arrays of rank 1, several right-hand sides columns of one of rank 2 (or its rows, where
! exec%layout is TRS_ROW_MAJOR).
!
! Errors are told as by Fortran's own statements: stat is a trs_status and errmsg the library's sentence, which is left as
! it is when all went well.  Without stat a failure writes the sentence and stops the program.
module trisolve
   use, intrinsic :: iso_c_binding
   use, intrinsic :: iso_fortran_env, only: error_unit
   use trisolve_sparse_c
   implicit none
   public
   private :: error_unit, fail, compressed, dense_of, solve_arrays, refine_arrays, matmul_arrays, columns_of

   ! ---- what owns a handle of the C library; it cannot be copied, and frees when it goes out of scope -------------------
   type, abstract :: trs_owner_t
      type(c_ptr) :: handle = c_null_ptr ! for the functions of trisolve_sparse_c
   contains
      procedure(destroy_owner), deferred :: destroy ! free it; harmless when there is nothing
      procedure, private :: refuse_copy
      generic :: assignment(=) => refuse_copy
   end type trs_owner_t

   ! ---- what solves: a plan or factors -------------------------------------------------------------------------------
   type, abstract, extends(trs_owner_t) :: trs_solver_t
      integer(c_int64_t) :: n = 0     ! rows of the matrix
      integer(c_int) :: dtype = -1    ! of its numbers
   contains
      procedure(run_solve), deferred, private :: run_solve
      procedure(run_refine), deferred, private :: run_refine
      procedure, private :: solve_1_f64, solve_2_f64, refine_1_f64, refine_2_f64
      procedure, private :: solve_1_f32, solve_2_f32, refine_1_f32, refine_2_f32
      procedure, private :: solve_1_c64, solve_2_c64, refine_1_c64, refine_2_c64
      procedure, private :: solve_1_c32, solve_2_c32, refine_1_c32, refine_2_c32
      ! solve(b, x [, op, exec, stat, errmsg]): op(A) x = b; x is another array than b
      generic :: solve => solve_1_f64, solve_2_f64, solve_1_f32, solve_2_f32, solve_1_c64, solve_2_c64, &
         solve_1_c32, solve_2_c32
      ! refine(A, b, x [, max_steps, steps, error, op, exec, stat, errmsg]): x is improved in at most max_steps, 10;
      ! with 0 error just tells how good x is
      generic :: refine => refine_1_f64, refine_2_f64, refine_1_f32, refine_2_f32, refine_1_c64, refine_2_c64, &
         refine_1_c32, refine_2_c32
   end type trs_solver_t

   ! ---- a triangle, analysed ------------------------------------------------------------------------------------------
   type, extends(trs_solver_t) :: trs_plan_t
   contains
      procedure :: create => plan_create     ! (A [, options, solver, stat, errmsg])
      procedure :: analyse => plan_analyse   ! ([stat, errmsg])
      procedure :: update => plan_update     ! (A [, exec, stat, errmsg]): new values, same pattern
      procedure :: save => plan_save         ! (file [, stat, errmsg])
      procedure :: load => plan_load         ! (file [, stat, errmsg]): in the place of analyse
      procedure :: pivots => plan_pivots     ! (count, first [, stat, errmsg]): how many are bad, and the first row
      procedure :: condest => plan_condest   ! (A, norm, rcond [, stat, errmsg])
      procedure :: determinant => plan_determinant ! (det [, stat, errmsg])
      procedure :: info => plan_info         ! (): a trs_info; trs_text gives its strings
      procedure :: destroy => plan_destroy
      procedure, private :: run_solve => plan_run_solve
      procedure, private :: run_refine => plan_run_refine
      final :: plan_final
   end type trs_plan_t

   ! ---- factors; complete ones are made by trs_lu_factor of the module trisolve_suitesparse -----------------------------
   type, extends(trs_solver_t) :: trs_lu_t
   contains
      procedure :: ilu => lu_ilu             ! (A [, options, stat, errmsg]): incomplete factors
      procedure :: update => lu_update       ! (A [, exec, stat, errmsg]): factors of new values
      procedure :: status => lu_status       ! ([bad, first, growth, stat, errmsg]): of the last update
      procedure :: condest => lu_condest     ! (A, norm, rcond [, stat, errmsg])
      procedure :: determinant => lu_determinant ! (det [, stat, errmsg])
      procedure :: info => lu_info           ! (): a trs_lu_info
      procedure :: destroy => lu_destroy
      procedure, private :: run_solve => lu_run_solve
      procedure, private :: run_refine => lu_run_refine
      final :: lu_final
   end type trs_lu_t

   ! ---- what changes in a solve: threads that share a plan or factors bring one each -----------------------------------
   type, extends(trs_owner_t) :: trs_work_t ! its handle is exec%work
   contains
      procedure :: create => work_create     ! (plan, max_nrhs [, stat, errmsg])
      procedure :: fit => work_fit           ! (plan, max_nrhs [, stat, errmsg])
      procedure :: destroy => work_destroy
      final :: work_final
   end type trs_work_t
   type, extends(trs_owner_t) :: trs_lu_work_t ! its handle is exec%lu_work
   contains
      procedure :: create => lu_work_create  ! (lu, max_nrhs [, stat, errmsg])
      procedure :: destroy => lu_work_destroy
      final :: lu_work_final
   end type trs_lu_work_t

   abstract interface
      subroutine destroy_owner(this)
         import
         class(trs_owner_t), intent(inout) :: this
      end subroutine destroy_owner
      function run_solve(this, op, nrhs, b, ldb, x, ldx, exec) result(rc)
         import
         class(trs_solver_t), intent(in) :: this
         integer(c_int), intent(in) :: op, nrhs
         type(c_ptr), intent(in) :: b, x, exec
         integer(c_int64_t), intent(in) :: ldb, ldx
         integer(c_int) :: rc
      end function run_solve
      function run_refine(this, A, op, nrhs, b, ldb, x, ldx, exec, max_steps, steps, error) result(rc)
         import
         class(trs_solver_t), intent(in) :: this
         integer(c_int), intent(in) :: op, nrhs, max_steps
         type(c_ptr), intent(in) :: A, b, x, exec, steps, error
         integer(c_int64_t), intent(in) :: ldb, ldx
         integer(c_int) :: rc
      end function run_refine
   end interface
   private :: destroy_owner, run_solve, run_refine

   ! ---- matrices --------------------------------------------------------------------------------------------------------
   ! trs_matrix(ptr, idx, val [, kind, format]): by rows, or by columns where format is TRS_CSC
   !    ptr(n+1), idx(nnz), val(nnz): with the attribute target; they must live as long as the result is used
   !    kind: TRS_LOWER, TRS_UPPER, with TRS_UNIT and TRS_STRICT; not given: a general matrix
   ! trs_matrix(val [, kind]): a full matrix val(n, n)
   ! The result is a trs_mat, whose members can be changed; where lengths do not match, n is -1, and it is refused.
   interface trs_matrix
      module procedure matrix_44_f64, matrix_84_f64, matrix_88_f64, dense_f64
      module procedure matrix_44_f32, matrix_84_f32, matrix_88_f32, dense_f32
      module procedure matrix_44_c64, matrix_84_c64, matrix_88_c64, dense_c64
      module procedure matrix_44_c32, matrix_84_c32, matrix_88_c32, dense_c32
   end interface trs_matrix

   ! trs_matmul(A, x, y [, op, exec, stat, errmsg]): y = op(A) x
   interface trs_matmul
      module procedure matmul_1_f64, matmul_2_f64, matmul_1_f32, matmul_2_f32
      module procedure matmul_1_c64, matmul_2_c64, matmul_1_c32, matmul_2_c32
   end interface trs_matmul

contains

   ! ---- errors and strings ----------------------------------------------------------------------------------------------

   ! The text of a string in C, of any length; '' for none.
   function trs_text(text) result(s)
      type(c_ptr), intent(in) :: text
      character(:), allocatable :: s
      character(kind=c_char), pointer :: letters(:)
      integer :: i
      interface
         function strlen(text) bind(c) result(length)
            import
            type(c_ptr), value :: text
            integer(c_size_t) :: length
         end function strlen
      end interface
      s = ''
      if (.not. c_associated(text)) return
      call c_f_pointer(text, letters, [strlen(text)])
      s = repeat(' ', size(letters))
      do i = 1, size(letters)
         s(i:i) = letters(i)
      end do
   end function trs_text

   ! Tell a status, as the head of this file says.
   subroutine trs_check(rc, stat, errmsg)
      integer(c_int), intent(in) :: rc
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      if (rc /= TRS_OK) then
         call fail(rc, trs_text(trs_message()), stat, errmsg)
      else if (present(stat)) then
         stat = TRS_OK
      end if
   end subroutine trs_check

   subroutine fail(rc, why, stat, errmsg)
      integer(c_int), intent(in) :: rc
      character(*), intent(in) :: why
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      if (present(errmsg)) errmsg = why
      if (present(stat)) then
         stat = rc
      else
         write (error_unit, '(2a)') 'trisolve: ', why
         error stop 1
      end if
   end subroutine fail

   subroutine refuse_copy(to, from)
      class(trs_owner_t), intent(inout) :: to
      class(trs_owner_t), intent(in) :: from
      if (c_associated(to%handle) .or. c_associated(from%handle)) then
         call fail(TRS_EARG, 'plans, factors and work spaces cannot be copied')
      end if
   end subroutine refuse_copy

   ! TRS_CUDA(k) of the header in C
   pure function trs_cuda(k) result(device)
      integer, intent(in) :: k
      integer(c_int) :: device
      device = k + 1
   end function trs_cuda

   ! ---- matrices --------------------------------------------------------------------------------------------------------

   function compressed(pointers, indices, values, bits, dtype, kind, format) result(A)
      integer, intent(in) :: pointers, indices, values, bits(2)
      integer(c_int), intent(in) :: dtype
      integer(c_int), intent(in), optional :: kind, format
      type(trs_mat) :: A
      A%n = pointers - 1
      if (indices /= values) A%n = -1
      A%nnz = indices
      A%ptr_bits = bits(1)
      A%idx_bits = bits(2)
      A%base = 1
      A%dtype = dtype
      A%format = TRS_CSR
      if (present(format)) A%format = format
      if (present(kind)) A%kind = kind
   end function compressed

   function dense_of(extents, dtype, kind) result(A)
      integer, intent(in) :: extents(2)
      integer(c_int), intent(in) :: dtype
      integer(c_int), intent(in), optional :: kind
      type(trs_mat) :: A
      A%n = extents(1)
      if (extents(1) /= extents(2)) A%n = -1
      A%ld = extents(1)
      A%base = 1
      A%dtype = dtype
      A%format = TRS_DENSE
      if (present(kind)) A%kind = kind
   end function dense_of

   ! ---- arrays ----------------------------------------------------------------------------------------------------------

   ! The right-hand sides that two arrays of these extents hold, and the distance between them; nrhs = -1: they do not
   ! suit a matrix of n rows.
   subroutine columns_of(n, b, x, layout, nrhs, ld)
      integer(c_int64_t), intent(in) :: n
      integer, intent(in) :: b(:), x(:)
      integer(c_int), intent(in) :: layout
      integer(c_int), intent(out) :: nrhs
      integer(c_int64_t), intent(out) :: ld
      integer :: rows, columns
      rows = 1
      columns = size(b)
      if (layout == TRS_ROW_MAJOR) then
         rows = size(b)
         columns = 1
      end if
      nrhs = 1
      if (size(b) == 2) nrhs = b(columns)
      if (b(rows) /= n .or. any(b /= x)) nrhs = -1
      ld = n
      if (layout == TRS_ROW_MAJOR) ld = max(nrhs, 1)
   end subroutine columns_of

   subroutine solve_arrays(this, dtype, b, b_shape, x, x_shape, op, exec, stat, errmsg)
      class(trs_solver_t), intent(in) :: this
      integer(c_int), intent(in) :: dtype
      type(c_ptr), intent(in) :: b, x
      integer, intent(in) :: b_shape(:), x_shape(:)
      integer(c_int), intent(in), optional :: op
      type(trs_exec), intent(in), optional :: exec
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_exec), target :: e
      integer(c_int) :: o, nrhs
      integer(c_int64_t) :: ld
      o = TRS_N
      if (present(op)) o = op
      if (present(exec)) e = exec
      call columns_of(this%n, b_shape, x_shape, e%layout, nrhs, ld)
      if (c_associated(this%handle) .and. (nrhs < 0 .or. dtype /= this%dtype)) then
         call fail(TRS_EARG, 'b and x have not the shape or the type that the matrix asks for', stat, errmsg)
      else
         call trs_check(this%run_solve(o, nrhs, b, ld, x, ld, c_loc(e)), stat, errmsg)
      end if
   end subroutine solve_arrays

   subroutine refine_arrays(this, A, dtype, b, b_shape, x, x_shape, max_steps, steps, error, op, exec, stat, errmsg)
      class(trs_solver_t), intent(in) :: this
      type(trs_mat), intent(in), target :: A
      integer(c_int), intent(in) :: dtype
      type(c_ptr), intent(in) :: b, x
      integer, intent(in) :: b_shape(:), x_shape(:)
      integer, intent(in), optional :: max_steps
      integer, intent(out), optional :: steps
      type(trs_error), intent(out), optional :: error
      integer(c_int), intent(in), optional :: op
      type(trs_exec), intent(in), optional :: exec
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_exec), target :: e
      type(trs_error), target :: found
      integer(c_int) :: o, nrhs, most
      integer(c_int), target :: done
      integer(c_int64_t) :: ld
      o = TRS_N
      if (present(op)) o = op
      if (present(exec)) e = exec
      most = 10
      if (present(max_steps)) most = int(max_steps, c_int)
      done = 0
      call columns_of(A%n, b_shape, x_shape, e%layout, nrhs, ld)
      if (nrhs < 0 .or. dtype /= A%dtype) then
         call fail(TRS_EARG, 'b and x have not the shape or the type that the matrix asks for', stat, errmsg)
      else
         call trs_check(this%run_refine(c_loc(A), o, nrhs, b, ld, x, ld, c_loc(e), most, c_loc(done), c_loc(found)), &
            stat, errmsg)
      end if
      if (present(steps)) steps = done
      if (present(error)) error = found
   end subroutine refine_arrays

   subroutine matmul_arrays(A, dtype, x, x_shape, y, y_shape, op, exec, stat, errmsg)
      type(trs_mat), intent(in), target :: A
      integer(c_int), intent(in) :: dtype
      type(c_ptr), intent(in) :: x, y
      integer, intent(in) :: x_shape(:), y_shape(:)
      integer(c_int), intent(in), optional :: op
      type(trs_exec), intent(in), optional :: exec
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_exec), target :: e
      integer(c_int) :: o, nrhs
      integer(c_int64_t) :: ld
      o = TRS_N
      if (present(op)) o = op
      if (present(exec)) e = exec
      call columns_of(A%n, x_shape, y_shape, e%layout, nrhs, ld)
      if (nrhs < 0 .or. dtype /= A%dtype) then
         call fail(TRS_EARG, 'x and y have not the shape or the type that the matrix asks for', stat, errmsg)
      else
         call trs_check(trs_multiply_on(c_loc(A), o, nrhs, x, ld, y, ld, c_loc(e)), stat, errmsg)
      end if
   end subroutine matmul_arrays

   ! ---- the same for each type of numbers -------------------------------------------------------------------------------
#define PASTE(a) a
#define NAME(a) PASTE(a)_f64
#define NUMBER real(c_double)
#define DTYPE TRS_F64
#include "numbers.inc"
#undef NAME
#undef NUMBER
#undef DTYPE
#define NAME(a) PASTE(a)_f32
#define NUMBER real(c_float)
#define DTYPE TRS_F32
#include "numbers.inc"
#undef NAME
#undef NUMBER
#undef DTYPE
#define NAME(a) PASTE(a)_c64
#define NUMBER complex(c_double)
#define DTYPE TRS_C64
#include "numbers.inc"
#undef NAME
#undef NUMBER
#undef DTYPE
#define NAME(a) PASTE(a)_c32
#define NUMBER complex(c_float)
#define DTYPE TRS_C32
#include "numbers.inc"

   ! ---- plans -----------------------------------------------------------------------------------------------------------

   subroutine plan_create(this, A, options, solver, stat, errmsg)
      class(trs_plan_t), intent(inout), target :: this
      type(trs_mat), intent(in), target :: A
      type(trs_options), intent(in), optional :: options
      character(*), intent(in), optional :: solver
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_options), target :: o
      character(:, c_char), allocatable, target :: name
      if (present(options)) o = options
      if (present(solver)) then
         name = trim(solver)//c_null_char
         o%solver = c_loc(name)
      end if
      call this%destroy()
      this%n = A%n
      this%dtype = A%dtype
      call trs_check(trs_plan_create(c_loc(this%handle), c_loc(A), c_loc(o)), stat, errmsg)
   end subroutine plan_create

   subroutine plan_analyse(this, stat, errmsg)
      class(trs_plan_t), intent(inout) :: this
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      call trs_check(trs_plan_analyse(this%handle), stat, errmsg)
   end subroutine plan_analyse

   subroutine plan_update(this, A, exec, stat, errmsg)
      class(trs_plan_t), intent(inout) :: this
      type(trs_mat), intent(in), target :: A
      type(trs_exec), intent(in), optional :: exec
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_exec), target :: e
      if (present(exec)) e = exec
      call trs_check(trs_plan_update(this%handle, c_loc(A), c_loc(e)), stat, errmsg)
   end subroutine plan_update

   subroutine plan_save(this, file, stat, errmsg)
      class(trs_plan_t), intent(in) :: this
      character(*), intent(in) :: file
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      character(:, c_char), allocatable, target :: name
      name = trim(file)//c_null_char
      call trs_check(trs_plan_save(this%handle, c_loc(name)), stat, errmsg)
   end subroutine plan_save

   subroutine plan_load(this, file, stat, errmsg)
      class(trs_plan_t), intent(inout) :: this
      character(*), intent(in) :: file
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      character(:, c_char), allocatable, target :: name
      name = trim(file)//c_null_char
      call trs_check(trs_plan_load(this%handle, c_loc(name)), stat, errmsg)
   end subroutine plan_load

   subroutine plan_pivots(this, count, first, stat, errmsg)
      class(trs_plan_t), intent(in) :: this
      integer(c_int64_t), intent(out), target :: count, first
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      count = 0
      first = -1
      call trs_check(trs_plan_pivots(this%handle, c_loc(count), c_loc(first)), stat, errmsg)
   end subroutine plan_pivots

   subroutine plan_condest(this, A, norm, rcond, stat, errmsg)
      class(trs_plan_t), intent(inout) :: this
      type(trs_mat), intent(in), target :: A
      integer(c_int), intent(in) :: norm
      real(c_double), intent(out), target :: rcond
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      rcond = 0
      call trs_check(trs_condest(this%handle, c_loc(A), norm, c_loc(rcond)), stat, errmsg)
   end subroutine plan_condest

   subroutine plan_determinant(this, det, stat, errmsg)
      class(trs_plan_t), intent(in) :: this
      type(trs_det), intent(out), target :: det
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      call trs_check(trs_plan_determinant(this%handle, c_loc(det)), stat, errmsg)
   end subroutine plan_determinant

   function plan_info(this) result(info)
      class(trs_plan_t), intent(in) :: this
      type(trs_info), target :: info
      integer :: ignored
      call trs_check(trs_plan_info(this%handle, c_loc(info)), ignored)
   end function plan_info

   function plan_run_solve(this, op, nrhs, b, ldb, x, ldx, exec) result(rc)
      class(trs_plan_t), intent(in) :: this
      integer(c_int), intent(in) :: op, nrhs
      type(c_ptr), intent(in) :: b, x, exec
      integer(c_int64_t), intent(in) :: ldb, ldx
      integer(c_int) :: rc
      rc = trs_solve(this%handle, op, nrhs, b, ldb, x, ldx, exec)
   end function plan_run_solve

   function plan_run_refine(this, A, op, nrhs, b, ldb, x, ldx, exec, max_steps, steps, error) result(rc)
      class(trs_plan_t), intent(in) :: this
      integer(c_int), intent(in) :: op, nrhs, max_steps
      type(c_ptr), intent(in) :: A, b, x, exec, steps, error
      integer(c_int64_t), intent(in) :: ldb, ldx
      integer(c_int) :: rc
      rc = trs_refine(this%handle, A, op, nrhs, b, ldb, x, ldx, exec, max_steps, steps, error)
   end function plan_run_refine

   subroutine plan_destroy(this)
      class(trs_plan_t), intent(inout) :: this
      call trs_plan_destroy(this%handle)
      this%handle = c_null_ptr
   end subroutine plan_destroy

   impure elemental subroutine plan_final(this)
      type(trs_plan_t), intent(inout) :: this
      call this%destroy()
   end subroutine plan_final

   ! ---- factors ---------------------------------------------------------------------------------------------------------

   subroutine lu_ilu(this, A, options, stat, errmsg)
      class(trs_lu_t), intent(inout), target :: this
      type(trs_mat), intent(in), target :: A
      type(trs_ilu_options), intent(in), optional :: options
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_ilu_options), target :: o
      if (present(options)) o = options
      call this%destroy()
      this%n = A%n
      this%dtype = A%dtype
      call trs_check(trs_ilu(c_loc(this%handle), c_loc(A), c_loc(o)), stat, errmsg)
   end subroutine lu_ilu

   subroutine lu_update(this, A, exec, stat, errmsg)
      class(trs_lu_t), intent(inout) :: this
      type(trs_mat), intent(in), target :: A
      type(trs_exec), intent(in), optional :: exec
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_exec), target :: e
      if (present(exec)) e = exec
      call trs_check(trs_lu_update_on(this%handle, c_loc(A), c_loc(e)), stat, errmsg)
   end subroutine lu_update

   subroutine lu_status(this, bad, first, growth, stat, errmsg)
      class(trs_lu_t), intent(inout) :: this
      integer(c_int64_t), intent(out), optional :: bad, first
      real(c_double), intent(out), optional :: growth
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      integer(c_int64_t), target :: count, row
      real(c_double), target :: grown
      count = 0
      row = -1
      grown = 0
      call trs_check(trs_lu_status(this%handle, c_loc(count), c_loc(row), c_loc(grown)), stat, errmsg)
      if (present(bad)) bad = count
      if (present(first)) first = row
      if (present(growth)) growth = grown
   end subroutine lu_status

   subroutine lu_condest(this, A, norm, rcond, stat, errmsg)
      class(trs_lu_t), intent(inout) :: this
      type(trs_mat), intent(in), target :: A
      integer(c_int), intent(in) :: norm
      real(c_double), intent(out), target :: rcond
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      rcond = 0
      call trs_check(trs_lu_condest(this%handle, c_loc(A), norm, c_loc(rcond)), stat, errmsg)
   end subroutine lu_condest

   subroutine lu_determinant(this, det, stat, errmsg)
      class(trs_lu_t), intent(in) :: this
      type(trs_det), intent(out), target :: det
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      call trs_check(trs_lu_determinant(this%handle, c_loc(det)), stat, errmsg)
   end subroutine lu_determinant

   function lu_info(this) result(info)
      class(trs_lu_t), intent(in) :: this
      type(trs_lu_info), target :: info
      integer :: ignored
      call trs_check(trs_lu_get_info(this%handle, c_loc(info)), ignored)
   end function lu_info

   function lu_run_solve(this, op, nrhs, b, ldb, x, ldx, exec) result(rc)
      class(trs_lu_t), intent(in) :: this
      integer(c_int), intent(in) :: op, nrhs
      type(c_ptr), intent(in) :: b, x, exec
      integer(c_int64_t), intent(in) :: ldb, ldx
      integer(c_int) :: rc
      rc = trs_lu_solve(this%handle, op, nrhs, b, ldb, x, ldx, exec)
   end function lu_run_solve

   function lu_run_refine(this, A, op, nrhs, b, ldb, x, ldx, exec, max_steps, steps, error) result(rc)
      class(trs_lu_t), intent(in) :: this
      integer(c_int), intent(in) :: op, nrhs, max_steps
      type(c_ptr), intent(in) :: A, b, x, exec, steps, error
      integer(c_int64_t), intent(in) :: ldb, ldx
      integer(c_int) :: rc
      rc = trs_lu_refine(this%handle, A, op, nrhs, b, ldb, x, ldx, exec, max_steps, steps, error)
   end function lu_run_refine

   subroutine lu_destroy(this)
      class(trs_lu_t), intent(inout) :: this
      call trs_lu_destroy(this%handle)
      this%handle = c_null_ptr
   end subroutine lu_destroy

   impure elemental subroutine lu_final(this)
      type(trs_lu_t), intent(inout) :: this
      call this%destroy()
   end subroutine lu_final

   ! ---- work spaces -----------------------------------------------------------------------------------------------------

   subroutine work_create(this, plan, max_nrhs, stat, errmsg)
      class(trs_work_t), intent(inout), target :: this
      type(trs_plan_t), intent(in) :: plan
      integer, intent(in) :: max_nrhs
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      call this%destroy()
      call trs_check(trs_work_create(c_loc(this%handle), plan%handle, int(max_nrhs, c_int)), stat, errmsg)
   end subroutine work_create

   subroutine work_fit(this, plan, max_nrhs, stat, errmsg)
      class(trs_work_t), intent(inout) :: this
      type(trs_plan_t), intent(in) :: plan
      integer, intent(in) :: max_nrhs
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      call trs_check(trs_work_fit(this%handle, plan%handle, int(max_nrhs, c_int)), stat, errmsg)
   end subroutine work_fit

   subroutine work_destroy(this)
      class(trs_work_t), intent(inout) :: this
      call trs_work_destroy(this%handle)
      this%handle = c_null_ptr
   end subroutine work_destroy

   impure elemental subroutine work_final(this)
      type(trs_work_t), intent(inout) :: this
      call this%destroy()
   end subroutine work_final

   subroutine lu_work_create(this, lu, max_nrhs, stat, errmsg)
      class(trs_lu_work_t), intent(inout), target :: this
      type(trs_lu_t), intent(in) :: lu
      integer, intent(in) :: max_nrhs
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      call this%destroy()
      call trs_check(trs_lu_work_create(c_loc(this%handle), lu%handle, int(max_nrhs, c_int)), stat, errmsg)
   end subroutine lu_work_create

   subroutine lu_work_destroy(this)
      class(trs_lu_work_t), intent(inout) :: this
      call trs_lu_work_destroy(this%handle)
      this%handle = c_null_ptr
   end subroutine lu_work_destroy

   impure elemental subroutine lu_work_final(this)
      type(trs_lu_work_t), intent(inout) :: this
      call this%destroy()
   end subroutine lu_work_final

end module trisolve
